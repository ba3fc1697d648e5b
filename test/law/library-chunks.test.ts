import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const folder = 'dist/library';
const text = (name: string) => readFileSync(`${folder}/${name}`, 'utf8');
const importsOf = (name: string) =>
  [...text(name).matchAll(/(?:from|import)\s*\(?\s*[`'"]([^`'"]+)[`'"]/g)].map((match) => match[1] ?? '');

/** A file and what it imports, itself included. */
function whole(name: string): string[] {
  return [name, ...importsOf(name).flatMap((path) => whole(path.replace('./', '')))];
}

test('client, webhook and signing import nothing but their own files, and use nothing of Node', () => {
  const files = [...new Set(['index.js', 'webhook.js', 'signing.js'].flatMap(whole))];
  expect(files.sort()).toEqual(
    readdirSync(folder)
      .filter((name) => name !== 'sandbox.js')
      .sort(),
  );
  for (const name of files) {
    expect(importsOf(name).filter((path) => !path.startsWith('./'))).toEqual([]);
    expect([
      name,
      /(?<![.\w`])(?:(?:Buffer|process)\.|(?:require|setImmediate)\(|__dirname)/.exec(text(name))?.[0],
    ]).toEqual([name, undefined]);
  }
});

test('the client is 35 kB at most, the webhook 2 kB', () => {
  const size = (name: string) => whole(name).reduce((sum, file) => sum + gzipSync(text(file)).length, 0);
  expect(size('index.js')).toBeLessThanOrEqual(35_000);
  expect(size('webhook.js')).toBeLessThanOrEqual(2048);
});
