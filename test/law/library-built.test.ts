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

test('minified by whoever bundles it the client is 10 kB at most, the webhook 2.25 kB', async () => {
  const client = await bundle('index.js');
  expect(size(client.always)).toBeLessThanOrEqual(10_000);
  expect(client.later).toEqual([]);
  expect(size((await bundle('webhook.js')).always)).toBeLessThanOrEqual(2304);
});
