import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connect } from '../../../src/lib/files/sqlite.ts';
import { openDb } from '../../../src/sandbox/db/store.ts';
import { answering, failure, newUser, run, runJson, serve, temporaryFolder } from '../../support/harness.ts';

const trader = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const trade = `sandbox trade --chain base --trader ${trader} --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --side buy --amount 5 --usd 10`;

async function serveSandbox(env: Record<string, string>, db: string): Promise<string> {
  const { ready } = await serve(`sandbox start --empty --port 0 --db ${db}`, { env });
  return ready.url;
}

const tradesOf = async (argv: string, env: Record<string, string>) =>
  (await runJson(`sandbox status ${argv}`, { env })).trades;

test('with the base URL of a served sandbox a trade happens there, by flag, variable and context', async () => {
  const { env } = newUser();
  const db = join(temporaryFolder(), 'served.db');
  const url = await serveSandbox(env, db);
  expect((await run(`${trade} --base-url ${url}`, { env })).code).toBe(0);
  expect((await run(trade, { env: { ...env, SOTRA_BASE_URL: url } })).code).toBe(0);
  await run(`context set local --base-url ${url}`, { env });
  expect((await run(`${trade} --context local`, { env })).code).toBe(0);
  expect(await tradesOf(`--db ${db}`, env)).toBe(3);
  expect(await tradesOf(`--base-url ${url}`, env)).toBe(3);
  expect(existsSync(join(env.SOTRA_DATA_DIR, 'sandbox.db'))).toBe(false);
});

test('without a base URL on the line the built-in sandbox is meant, whatever context is set', async () => {
  const { env } = newUser();
  await run('context set staging --base-url https://staging.example.com', { env });
  await run('context use staging', { env });
  await run('sandbox reset --empty --yes', { env });
  expect(await run(trade, { env })).toMatchObject({ code: 0, err: '' });
  expect(await tradesOf('', env)).toBe(1);
  expect(await tradesOf('', { ...env, SOTRA_CONTEXT: 'staging' })).toBe(1);
  expect((await run('sandbox advance 1d', { env })).code).toBe(0);
  const trigger = await run('webhook trigger new-feed-item --to http://127.0.0.1:9/in --dry-run', { env });
  expect(trigger.err).toContain('no webhook of the sandbox sends to http://127.0.0.1:9/in');
  const csv = `time,trader,token,side,amount,usd\n2026-11-20T10:00:00Z,${trader},${trader},buy,1,1\n`;
  expect((await run('sandbox import - --chain base', { env, stdin: csv })).code).toBe(0);
  expect(await tradesOf('', env)).toBe(2);
  const typed = await run('sandbox status --context staging', { env });
  expect(typed).toEqual(failure(2, 'https://staging.example.com is not a sandbox'));
});

test('a base URL of anything else is refused with the way out, and nothing happens anywhere', async () => {
  const { env } = newUser();
  const other = await answering({});
  const hint = 'hint: Name its database with --db, or use --sandbox for the built-in one.\n';
  const message = `error: ${other.url} is not a sandbox that is served from this data folder\n${hint}`;
  for (const line of ['status', 'simulate --for 1s', 'advance 1d', 'reset --yes', 'import -', trade.slice(8)])
    expect(await run(`sandbox ${line} --base-url ${other.url}`, { env })).toEqual(failure(2, message));
  const inMemory = await serveSandbox(env, ':memory:');
  expect((await run(`${trade} --base-url ${inMemory}`, { env })).err).toContain('keeps its data in memory');
  expect(existsSync(join(env.SOTRA_DATA_DIR, 'sandbox.db'))).toBe(false);
  expect(other.requests).toEqual([]);
});

test('a base URL of the environment that is no served sandbox leaves the built-in one, and a note says so', async () => {
  const other = await answering({});
  const env = { ...newUser().env, ...other.env };
  await run('sandbox reset --empty --yes', { env });
  const { err } = await run(trade, { env });
  expect(err).toBe(`No sandbox is served at SOTRA_BASE_URL (${other.url}): using the built-in one.\n`);
  expect(await tradesOf('', env)).toBe(1);
  expect(other.requests).toEqual([]);
});

test('--sandbox and --db say which one is meant, whatever the environment names; both are too much', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder(), SOTRA_BASE_URL: 'http://127.0.0.1:9' };
  const db = join(temporaryFolder(), 'own.db');
  expect((await run(`sandbox reset --empty --db ${db}`, { env })).code).toBe(0);
  expect((await run(`${trade} --db ${db}`, { env })).code).toBe(0);
  expect(await tradesOf(`--db ${db}`, env)).toBe(1);
  expect((await run('--sandbox sandbox status', { env })).code).toBe(0);
  expect(await run(`sandbox status --db ${db} --sandbox`, { env })).toEqual(failure(2, '--db cannot be used with'));
});

function place() {
  const folder = temporaryFolder();
  return { folder, env: { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder } };
}

/** A database that a program left, closed and whole. */
function databaseOf(file: string, sql: string): Buffer {
  const db = connect(file);
  db.exec(sql);
  db.close();
  return readFileSync(file);
}

test.each([
  ['of another program', 'CREATE TABLE notes (text); INSERT INTO notes VALUES (1)', 'belongs to another program'],
  ['of another program with a version', 'PRAGMA user_version = 1; CREATE TABLE a (b)', 'belongs to another program'],
  ['of another version', 'PRAGMA user_version = 9999; CREATE TABLE partner (b)', 'by another version of sotra (9999,'],
])('a database %s is exit 3 and is not changed', async (_, sql, message) => {
  const { folder, env } = place();
  const file = join(folder, 'sandbox.db');
  const before = databaseOf(file, sql);
  for (const argv of ['sandbox status', 'sandbox reset', '--sandbox leaderboard list', 'sandbox start --port 0']) {
    const refused = await run(argv, { env });
    expect(refused).toEqual(failure(3, message));
    expect(refused.err).toContain(file);
  }
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(readdirSync(folder)).toEqual(['sandbox.db']);
});

test.each([1, 512])('a file of %i bytes that is no database is exit 3 and is not changed', async (bytes) => {
  const { folder, env } = place();
  const file = join(folder, 'notes.txt');
  writeFileSync(file, 'x'.repeat(bytes));
  for (const argv of [`sandbox status --db ${file}`, `sandbox reset --yes --db ${file}`]) {
    const message = `cannot use the sandbox database ${file}: file is not a database`;
    expect(await run(argv, { env })).toEqual(failure(3, message));
  }
  expect(readFileSync(file, 'utf8')).toBe('x'.repeat(bytes));
  expect(readdirSync(folder)).toEqual(['notes.txt']);
});

test('a damaged database is exit 3 and is not changed', async () => {
  const { folder, env } = place();
  await run('--sandbox leaderboard list', { env });
  const file = join(folder, 'sandbox.db');
  const bytes = readFileSync(file);
  bytes.fill(0xab, 20 * 4096, 400 * 4096);
  writeFileSync(file, bytes);
  for (const argv of ['--sandbox leaderboard list', 'sandbox status', 'sandbox reset --yes'])
    expect(await run(argv, { env })).toEqual(
      failure(3, `cannot use the sandbox database ${file}: database disk image`),
    );
  expect(readFileSync(file).equals(bytes)).toBe(true);
});

test('an empty file becomes a sandbox', async () => {
  const { folder, env } = place();
  const file = join(folder, 'new.db');
  writeFileSync(file, '');
  expect(await run(`sandbox status --db ${file}`, { env })).toMatchObject({ code: 0 });
});

test.each([
  'sandbox start --port 0 --empty --ready-file FOLDER/none/ready',
  'webhook listen --port 0 --secret-file FOLDER/secret --ready-file FOLDER/folder',
])('%s is exit 3, not a server that nobody can find', async (argv) => {
  const { folder, env } = place();
  mkdirSync(join(folder, 'folder'));
  writeFileSync(join(folder, 'folder', 'mine'), '');
  writeFileSync(join(folder, 'secret'), 'whsec_test\n');
  expect(await run(argv.replaceAll('FOLDER', folder), { env })).toEqual(failure(3, 'error: '));
  expect(existsSync(join(folder, 'folder', 'mine'))).toBe(true);
});

test('--ready-file does not replace a file of something else', async () => {
  const { folder, env } = place();
  const file = join(folder, 'secret');
  writeFileSync(file, 'whsec_test\n');
  const refused = await run(`webhook listen --port 0 --secret-file ${file} --ready-file ${file}`, { env });
  expect(refused).toEqual(failure(2, `error: --ready-file ${file}: holds something else\n`));
  expect(readFileSync(file, 'utf8')).toBe('whsec_test\n');
});

test('sandbox reset --yes replaces a database of another version by a new world', async () => {
  const { folder, env } = place();
  const file = join(folder, 'sandbox.db');
  databaseOf(file, 'PRAGMA user_version = 2; CREATE TABLE partner (b); CREATE TABLE gone (id TEXT)');
  expect((await run('sandbox reset', { env })).err).toContain('Replace it with sotra sandbox reset --yes');
  expect(await runJson('sandbox reset --yes', { env })).toMatchObject({ db: file, world: 'demo', trades: 2508 });
  const db = openDb(file);
  expect(db.all("SELECT name FROM sqlite_master WHERE name = 'gone'")).toEqual([]);
  db.close();
});
