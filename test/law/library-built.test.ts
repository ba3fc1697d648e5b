import { gzipSync } from 'node:zlib';
import { type OutputChunk, rolldown } from 'rolldown';
import { expect, test } from 'vitest';

/** The files of an entry of the built library, minified: what it always loads, and what it loads only when it is needed. */
async function bundle(name: string): Promise<{ always: OutputChunk[]; later: OutputChunk[] }> {
  const built = await rolldown({ input: `dist/library/${name}`, platform: 'browser' });
  const { output } = await built.generate({ format: 'esm', minify: true });
  const chunks = output.filter((file) => file.type === 'chunk');
  const always = new Set(chunks.filter(({ isEntry }) => isEntry));
  for (const { imports } of always) for (const chunk of chunks) if (imports.includes(chunk.fileName)) always.add(chunk);
  return { always: [...always], later: chunks.filter((chunk) => !always.has(chunk)) };
}

function size(chunks: readonly OutputChunk[]): number {
  return chunks.reduce((sum, { code }) => sum + gzipSync(code).length, 0);
}

test('minified by whoever bundles it the client is 23 kB at most, the webhook 2.25 kB', async () => {
  expect(size((await bundle('index.js')).always)).toBeLessThanOrEqual(23_000);
  expect(size((await bundle('webhook.js')).always)).toBeLessThanOrEqual(2304);
});

test('the client loads schemas only to check answers, 29 kB at most', async () => {
  const { always, later } = await bundle('index.js');
  expect(always.filter(({ code }) => code.includes('invalid_type'))).toEqual([]);
  expect(later.filter(({ code }) => code.includes('invalid_type'))).not.toEqual([]);
  expect(size(later)).toBeLessThanOrEqual(29_000);
});
