import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, run, serve, temporaryFolder } from '../../support/harness.ts';

const trader = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const trade = `sandbox trade --chain base --trader ${trader} --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --side buy --amount 5 --usd 10`;

async function serveSandbox(env: Record<string, string>, db: string): Promise<string> {
  const { ready } = await serve(`sandbox start --empty --port 0 --db ${db}`, { env });
  return ready.url;
}

const tradesOf = async (argv: string, env: Record<string, string>) =>
  JSON.parse((await run(`sandbox status ${argv} --json`, { env })).out).trades;

test('with the base URL of a served sandbox a trade happens there, by flag, variable and context', async () => {
  const env = { SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder() };
  const db = join(temporaryFolder(), 'served.db');
  const url = await serveSandbox(env, db);
  expect((await run(`${trade} --base-url ${url}`, { env })).code).toBe(0);
  expect((await run(trade, { env: { ...env, SOTRA_BASE_URL: url } })).code).toBe(0);
  await run(`context set local --base-url ${url}`, { env });
  expect((await run(`${trade} --context local`, { env })).code).toBe(0);
  expect(await tradesOf(`--db ${db}`, env)).toBe(3);
  expect(await tradesOf(`--base-url ${url}`, env)).toBe(3);
  expect(existsSync(join(env.SOTRA_DATA_DIR, 'sandbox.db'))).toBe(false);
  const moved = await run(`sandbox advance 1d --base-url ${url} --dry-run --json`, { env });
  expect(JSON.parse(moved.out)).toMatchObject({ db, trades: 3 });
});

test('without a base URL on the line the built-in sandbox is meant, whatever context is set', async () => {
  const env = { SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder() };
  await run('context set staging --base-url https://staging.example.com', { env });
  await run('context use staging', { env });
  expect((await run('sandbox reset --empty --yes', { env })).code).toBe(0);
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
  expect([typed.code, typed.err]).toEqual([2, expect.stringContaining('https://staging.example.com is not a sandbox')]);
});

test('a base URL of anything else is refused with the way out, and nothing happens anywhere', async () => {
  const env = { SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder() };
  const other = await answering({});
  const hint = 'hint: Name its database with --db, or use --sandbox for the built-in one.\n';
  for (const line of [
    trade,
    'sandbox status',
    'sandbox simulate --for 1s',
    'sandbox advance 1d',
    'sandbox reset --yes',
    'sandbox import -',
  ]) {
    const { code, out, err } = await run(`${line} --base-url ${other.url}`, { env });
    expect([line, code, out, err]).toEqual([
      line,
      2,
      '',
      `error: ${other.url} is not a sandbox that is served from this data folder\n${hint}`,
    ]);
  }
  const inMemory = await serveSandbox(env, ':memory:');
  expect((await run(`${trade} --base-url ${inMemory}`, { env })).err).toContain('keeps its world in memory');
  expect(existsSync(join(env.SOTRA_DATA_DIR, 'sandbox.db'))).toBe(false);
  expect(other.requests).toEqual([]);
});

test('a base URL of the environment that is no served sandbox leaves the built-in one, and a note says so', async () => {
  const other = await answering({});
  const env = { SOTRA_CONFIG_DIR: temporaryFolder(), SOTRA_DATA_DIR: temporaryFolder(), ...other.env };
  expect((await run('sandbox reset --empty --yes', { env })).code).toBe(0);
  expect(await run(trade, { env })).toMatchObject({
    code: 0,
    err: `No sandbox is served at SOTRA_BASE_URL (${other.url}): using the built-in one.\n`,
  });
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
  const both = await run(`sandbox status --db ${db} --sandbox`, { env });
  expect([both.code, both.err]).toEqual([2, 'error: --db and --sandbox exclude each other\nhint: Omit one of them.\n']);
});
