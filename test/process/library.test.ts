import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/harness.ts';
import { runClientExample, runWebhookExample } from '../support/library-examples.ts';
import { some } from '../support/size.ts';

/** A folder in which `sotra` can be imported. */
function makeProject(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(process.cwd(), join(folder, 'node_modules', 'sotra'));
  return folder;
}

test('the examples of docs/library.md run', async () => {
  const place = { node: process.execPath, folder: makeProject() };
  const { code, output } = await runClientExample(place);
  expect([code, output.split('\n').length > 3]).toEqual([0, true]);
  expect(await runWebhookExample(place)).toEqual({ output: 'copyswap\n', statuses: [200, 401] });
});

const program = `
import { type Client, createClient, SotraError } from 'sotra';
import { startSandbox } from 'sotra/sandbox';
import { signComment, verifyComment } from 'sotra/signing';
import { verifyWebhook, webhookHandler } from 'sotra/webhook';
const client: Client = createClient({ baseUrl: 'https://api.example.com' });
export async function pnl(): Promise<number | null | undefined> {
  const { traders } = await client.leaderboard.list({ chains: ['base'] });
  for await (const { itemId } of client.feed.actor.all({ identifier: 'ext:1' })) itemId.toUpperCase();
  // @ts-expect-error: no such order
  await client.profile.positions({ identifier: 'ext:1', status: 'open', sort: 'name' });
  return traders[0]?.profile.metadata.pnl30d;
}
export { SotraError, signComment, startSandbox, verifyComment, verifyWebhook, webhookHandler };
`;

const settings = ['bundler', 'nodenext'].flatMap((moduleResolution) =>
  [false, true].flatMap((skipLibCheck) =>
    [
      { lib: ['es2023', 'dom'], types: [] },
      { lib: ['es2023'], types: ['node'] },
    ].map((world) => ({ moduleResolution, skipLibCheck, ...world })),
  ),
);

test.each(some(settings, 1))('a strict project compiles with %o', async (given) => {
  const folder = makeProject();
  for (const name of ['@types', 'undici-types'])
    symlinkSync(join(process.cwd(), 'node_modules', name), join(folder, 'node_modules', name));
  const module = given.moduleResolution === 'bundler' ? 'esnext' : 'nodenext';
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true };
  const compilerOptions = { ...strict, target: 'es2022', module, ...given };
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'use.ts'), program);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
  const told = await promisify(execFile)(process.execPath, ['node_modules/typescript/lib/tsc.js', '-p', folder]).catch(
    ({ stdout }: { stdout: string }) => ({ stdout }),
  );
  expect(told.stdout).toBe('');
});
