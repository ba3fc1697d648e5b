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
async function loadedBy(
  argv: string,
  env: Record<string, string> = {},
): Promise<{ packages: string[]; own: string[] }> {
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

test.each(some(['--version', '--help', 'help webhook'], 1))('%s loads commander alone, and no group', async (argv) => {
  const { packages, own } = await loadedBy(argv);
  expect(packages.filter((name) => name !== '@scure/base')).toEqual(['commander']);
  expect(own.filter((name) => name.startsWith('commands/'))).toEqual(argv === 'help webhook' ? ['commands/help'] : []);
});

test.each(some(['leaderboard list --help', 'webhook --help'], 1))(
  '%s loads its own group, and nothing that checks answers, sends or opens a database',
  async (argv) => {
    const { packages, own } = await loadedBy(argv);
    expect(own.filter((name) => name.startsWith('commands/'))).toEqual([`commands/${argv.split(' ')[0]}`]);
    for (const heavy of ['zod', 'undici', 'libsql', 'viem', 'conf', 'cli-table3', 'chalk'])
      expect(packages).not.toContain(heavy);
    expect(own).not.toContain('sandbox');
  },
);

test('a read command loads its own group, and of the packages what reads words and addresses, checks shapes and sends', async () => {
  const { env } = await answering({ traders: [] });
  const { packages, own } = await loadedBy('leaderboard list --json', env);
  expect(packages).toEqual(['@scure/base', 'commander', 'undici', 'zod']);
  expect(own.filter((name) => name.startsWith('commands/'))).toEqual(['commands/leaderboard']);
  expect(own).not.toContain('sandbox');
});

test('a table adds what draws it', async () => {
  const { out } = await run('--sandbox leaderboard list --limit 1 --json');
  const { env } = await answering(out);
  const { packages } = await loadedBy('leaderboard list --format table', env);
  const drawing = ['chalk', 'cli-table3', 'get-east-asian-width'];
  const ofThose = [
    '@colors/colors',
    'ansi-regex',
    'emoji-regex',
    'is-fullwidth-code-point',
    'string-width',
    'strip-ansi',
  ];
  expect(packages).toEqual(['@scure/base', 'commander', 'undici', 'zod', ...drawing, ...ofThose].sort());
});

test('signing loads one library that signs, and nothing that sends', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'key');
  writeFileSync(file, '07'.repeat(32), { mode: 0o600 });
  const [tx, token] = [`0x${'ab'.repeat(32)}`, `0x${'cd'.repeat(20)}`];
  const { packages, own } = await loadedBy(
    `comment sign --chain base --tx ${tx} --token ${token} --text gm --service-name Example --key-file ${file}`,
  );
  expect(packages).toContain('viem');
  for (const heavy of ['undici', 'tweetnacl', 'hono', 'libsql', 'conf', 'ora', 'chalk', 'jq-wasm'])
    expect(packages).not.toContain(heavy);
  expect(own).not.toContain('sandbox');
});

test.each(some(['leaderboard list --json', 'profile get 0xA4E221aa5A7Ba51B5d5C7D5C923BFB9BCeBCb252 --json'], 1))(
  'the sandbox inside the process loads no client of the network, no server and no cryptography: %s',
  async (argv) => {
    const { packages } = await loadedBy(`--sandbox ${argv}`);
    expect(packages).toContain('libsql');
    for (const other of ['undici', 'hono', '@hono/node-server', 'conf', 'ora', 'chalk'])
      expect(packages).not.toContain(other);
    for (const cryptography of ['viem', 'tweetnacl', '@noble/curves', '@noble/hashes'])
      expect(packages).not.toContain(cryptography);
  },
);
