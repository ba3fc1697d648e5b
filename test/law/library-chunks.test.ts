import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';

const folder = 'dist/library';
/** Without the examples in comments. */
const text = (name: string) =>
  readFileSync(`${folder}/${name}`, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*/gm, '');
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
      .filter((name) => name !== 'sandbox.js' && !name.endsWith('.map'))
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

test('minified by whoever bundles it the client is 35 kB at most, the webhook 2 kB', async () => {
  const size = async (name: string) => {
    const bundle = await rolldown({ input: `${folder}/${name}`, platform: 'browser' });
    const { output } = await bundle.generate({ format: 'esm', minify: true });
    return output.reduce((sum, file) => sum + (file.type === 'chunk' ? gzipSync(file.code).length : 0), 0);
  };
  expect(await size('index.js')).toBeLessThanOrEqual(35_000);
  expect(await size('webhook.js')).toBeLessThanOrEqual(2048);
});
