import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../support/harness.ts';
import { some } from '../support/size.ts';

/** A folder in which `sotra` can be imported. */
function makeProject(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(process.cwd(), join(folder, 'node_modules', 'sotra'));
  return folder;
}

const program = `
import { type Answer, type Client, createClient, type Input, SotraError } from 'sotra';
import { startSandbox } from 'sotra/sandbox';
import { signComment, verifyComment } from 'sotra/signing';
import { verifyWebhook, webhookHandler } from 'sotra/webhook';
const client: Client = createClient({ baseUrl: 'https://api.example.com' });
export async function pnl(): Promise<number | null | undefined> {
  const { traders } = await client.leaderboard.list({ chains: ['base'] });
  for await (const { itemId } of client.feed.actor.all({ identifier: 'ext:1' })) itemId.toUpperCase();
  const board: Answer<'leaderboard.list'> = await client.leaderboard.list();
  const input: Input<'feed.actor'> = { identifier: board.traders[0]?.profile.id ?? '', minTradeUsd: 500 };
  const cost: number | undefined = (await client.feed.actor(input)).items[0]?.metadata.positionStats.boughtUSD;
  // A chain that the document does not name may be one of a deployment.
  await client.leaderboard.list({ chains: ['bsc'], limit: cost ?? 1 });
  // @ts-expect-error: a chain is a name
  await client.leaderboard.list({ chains: [56] });
  // @ts-expect-error: one position has no pages
  client.position.get.all;
  const verified = await verifyWebhook({ header: '', body: '', secrets: 's' });
  if (!verified.valid) verified.reason.toUpperCase();
  // @ts-expect-error: no such order
  await client.profile.positions({ identifier: 'ext:1', status: 'open', sort: 'name' });
  return traders[0]?.profile.metadata.pnl30d;
}
export { SotraError, signComment, startSandbox, verifyComment, verifyWebhook, webhookHandler };
`;

const settings = [
  { moduleResolution: 'bundler', lib: ['es2023', 'dom'], types: [] },
  { moduleResolution: 'nodenext', lib: ['es2023'], types: ['node'] },
];

test.each(some(settings, 1))('a strict project compiles with %o', async (given) => {
  const folder = makeProject();
  for (const name of ['@types', 'undici-types'])
    symlinkSync(join(process.cwd(), 'node_modules', name), join(folder, 'node_modules', name));
  const module = given.moduleResolution === 'bundler' ? 'esnext' : 'nodenext';
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true };
  const compilerOptions = { ...strict, target: 'es2022', module, skipLibCheck: false, ...given };
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'use.ts'), program);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
  const told = await promisify(execFile)(process.execPath, ['node_modules/typescript/lib/tsc.js', '-p', folder]).catch(
    ({ stdout }: { stdout: string }) => ({ stdout }),
  );
  expect(told.stdout).toBe('');
});

const execute = promisify(execFile);
const chunks: Record<string, string[]> = JSON.parse(readFileSync('node_modules/.cache/chunks.json', 'utf8'));

/** The packages and the folders of ours that one command line loads, sorted. */
async function loadedBy(argv: string, env: Record<string, string> = {}) {
  const folder = temporaryFolder();
  const [hook, list] = [join(folder, 'hook.cjs'), join(folder, 'loaded.json')];
  writeFileSync(
    hook,
    `process.on('exit', () => require('fs').writeFileSync(${JSON.stringify(list)}, JSON.stringify(Object.keys(require.cache))));`,
  );
  const all = { PATH: process.env['PATH'] ?? '', SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder, ...env };
  await execute(process.execPath, ['--require', hook, 'bin/sotra.js', ...argv.split(' ')], { env: all });
  const files: string[] = JSON.parse(readFileSync(list, 'utf8'));
  const modules = files.flatMap((file) => chunks[basename(file)] ?? [file]);
  const packages = modules.flatMap((id) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? []);
  const own = modules.flatMap((id) => /^src\/(commands\/[a-z]+(?=\/)|[^/]+)/.exec(id)?.[1] ?? []);
  return { packages: [...new Set(packages)].sort(), own: [...new Set(own)].sort() };
}

const drawing = ['chalk', 'cli-table3', 'get-east-asian-width', '@colors/colors', 'ansi-regex', 'emoji-regex'];
const table = ['undici', 'zod', ...drawing, 'is-fullwidth-code-point', 'string-width', 'strip-ansi'];
const builtIn = ['libsql', '@libsql/linux-x64-gnu', '@neon-rs/load', 'detect-libc', 'zod'];

/** What a line loads beside what every line does: packages, and groups of commands. */
const loads: readonly [argv: string, packages: readonly string[], groups: readonly string[]][] = [
  ['--version', [], []],
  ['leaderboard list --help', [], ['leaderboard']],
  ['leaderboard list --json', ['undici', 'zod'], ['leaderboard']],
  ['leaderboard list --format table', table, ['leaderboard']],
  ['--sandbox leaderboard list --json', builtIn, ['leaderboard']],
  ['--help', [], []],
  ['help webhook', [], ['help', 'webhook']],
  ['webhook --help', [], ['webhook']],
];

test.runIf(process.platform === 'linux').each(some(loads, 5))(
  '%s loads only %j and the groups %j',
  async (argv, packages, groups) => {
    const { out } = await run('--sandbox leaderboard list --limit 1 --json');
    const { env } = await answering(out);
    const loaded = await loadedBy(argv, env);
    expect(loaded.packages.filter((name) => name !== '@scure/base')).toEqual(['commander', ...packages].sort());
    const own = loaded.own.flatMap((name) => /^commands\/(.*)/.exec(name)?.[1] ?? []);
    expect([own, loaded.own.includes('sandbox')]).toEqual([groups, argv.startsWith('--sandbox')]);
  },
);

test('signing loads one library that signs, and nothing that sends', async () => {
  const file = join(temporaryFolder(), 'key');
  writeFileSync(file, '07'.repeat(32), { mode: 0o600 });
  const swap = `--chain base --tx 0x${'ab'.repeat(32)} --token 0x${'cd'.repeat(20)}`;
  const line = `comment sign ${swap} --text gm --service-name Example --key-file ${file}`;
  const { packages, own } = await loadedBy(line);
  const never = ['undici', 'tweetnacl', 'hono', 'libsql', 'conf', 'ora', 'chalk', 'jq-wasm'];
  expect([packages.includes('viem'), packages.filter((name) => never.includes(name))]).toEqual([true, []]);
  expect(own).not.toContain('sandbox');
});
