import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/harness.ts';
import { runClientExample, runWebhookExample } from '../../support/library-examples.ts';

function place() {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(process.cwd(), join(folder, 'node_modules', 'sotra'));
  return { node: process.execPath, folder };
}

test('the examples of docs/library.md run', async () => {
  const { code, output } = await runClientExample(place());
  expect([code, output.split('\n').length > 3]).toEqual([0, true]);
  expect(await runWebhookExample(place())).toEqual({ output: 'copyswap\n', statuses: [200, 401] });
});
