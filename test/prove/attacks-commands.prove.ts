import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openDb } from '../../src/sandbox/db/store.ts';
import { answering, run, temporaryFolder } from '../support/harness.ts';
import { attack, unset } from '../support/hostile/attack.ts';
import { serve } from '../support/processes.ts';
import { degen, evmTrader, swaps } from '../support/traders.ts';

const key = 'sk_live_Ab3Zq7Lm9';
const megabyte = 1_000_000;
const fillings: readonly [what: string, text: string][] = [
  ['backslashes', '\\'],
  ['backslashes behind a letter of the key', 's\\'],
  ['starts of the key', key.slice(0, -1)],
  ['starts of the key with unseen characters', [...key.slice(0, -1)].join('\u200b')],
  ['percent signs of percent signs', '%25'],
  ['ampersands of ampersands', '&amp;'],
  ['entities', '&#115;'],
  ['escapes of a terminal', '\u001b]'],
  ['escaped escapes', '\\u001b['],
  ['names of secrets', '"secret":"'],
  ['names of secrets in JSON of JSON', '\\"secret\\":\\"'],
  ['quotes behind backslashes', '\\\\\\"'],
  ['webhook secrets', 'whsec_'],
  ['nulls', '\0'],
  ['line ends', '\n'],
  ['marks that join', '\u0301'],
];

test.each(fillings)('an error with 4 MB of %s is reported within seconds', async (_, text) => {
  const times = (megabytes: number) => text.repeat((megabytes * megabyte) / Buffer.byteLength(text));
  for (const [status, code, body] of [
    [400, 6, times(4)],
    [500, 8, JSON.stringify({ error: times(2), [text.repeat(50_000)]: 1 })],
  ] as const) {
    const service = await answering(body, status);
    for (const argv of ['leaderboard list', 'request GET /v1/x --json', 'leaderboard list --verbose']) {
      const told = await attack(`${argv} --retries 0`, { env: { SOTRA_BASE_URL: service.url, SOTRA_API_KEY: key } });
      expect([argv, told.code]).toEqual([argv, code]);
      expect(told.cpuSec).toBeLessThan(8);
      expect(told.err.replaceAll(/[^\x20-\x7e]/g, '').includes(key)).toBe(false);
    }
  }
});

test('an answer of 60 MB of backslashes stays within its limits of time and memory', async () => {
  for (const status of [200, 400]) {
    const { env } = await answering('\\'.repeat(60 * megabyte), status);
    const told = await attack('leaderboard list --retries 0 --timeout 20s', { env });
    expect([status, told.code]).toEqual([status, expect.toSatisfy((code) => [6, 9, 13].includes(code))]);
    expect(told.peakMb).toBeLessThan(900);
  }
});

const readers = [
  'leaderboard list',
  'leaderboard list --json',
  'leaderboard list --jq .',
  `feed actor ${evmTrader.address} --all --format ndjson`,
  'request GET /v1/x --paginate',
  'webhook list',
  `comment list 0x${'1'.repeat(64)} --chain base`,
];

test.each([
  ['arrays', '[', ']'],
  ['objects', '{"a":', '}'],
  ['lists of objects', '[{"a":', '}]'],
])('20 MB of nested %s are exit 13 at once, closed or not', async (_, open, close) => {
  const half = Math.floor((10 * megabyte) / open.length);
  for (const [text, commands] of [
    [open.repeat(2 * half), readers],
    [`${open.repeat(half)}1${close.repeat(half)}`, readers.slice(0, 3)],
  ] as const) {
    const { env } = await answering(text);
    for (const argv of commands) {
      const refused = await attack(argv, { env });
      expect([argv, refused.code, refused.out]).toEqual([argv, 13, '']);
      expect(refused.cpuSec).toBeLessThan(5);
      expect(refused.peakMb).toBeLessThan(400);
    }
  }
});

test('without a home, or with one that is no absolute path, nothing is read from the current folder', async () => {
  const thief = await answering({ traders: [] });
  const cwd = temporaryFolder();
  const config = JSON.stringify({ current: 'own', contexts: { own: { baseUrl: thief.url, apiKey: 'k' } } });
  for (const place of ['.config/sotra', '.config/sotra-nodejs', '.local/share/sotra', 'sotra', '.sotra', '.']) {
    mkdirSync(join(cwd, place), { recursive: true });
    writeFileSync(join(cwd, place, 'config.json'), config, { mode: 0o600 });
  }
  const before = readdirSync(cwd, { recursive: true }).length;
  const home = join(temporaryFolder(), 'home');
  for (const variables of [
    { HOME: unset },
    { HOME: '' },
    { HOME: '.' },
    { HOME: 'x/..' },
    { HOME: home, XDG_CONFIG_HOME: '.config', XDG_DATA_HOME: '.local/share', XDG_CACHE_HOME: '.cache' },
    { HOME: home, XDG_CONFIG_HOME: '', XDG_DATA_HOME: '', XDG_CACHE_HOME: '' },
    { HOME: unset, XDG_CACHE_HOME: '.', LOCALAPPDATA: '.', APPDATA: '.' },
  ]) {
    const env = { SOTRA_DATA_DIR: unset, SOTRA_CONFIG_DIR: unset, SOTRA_API_KEY: 'own-key', ...variables };
    for (const argv of ['leaderboard list', 'context list', 'auth status --json']) {
      const { err, code } = await attack(argv, { env, cwd });
      expect([variables, argv, err.includes(thief.url), code === 1]).toEqual([variables, argv, false, false]);
    }
  }
  expect(thief.requests).toEqual([]);
  expect(readdirSync(cwd, { recursive: true })).toHaveLength(before);
});

/** A letter without end, in pieces; the reader may close it at any time. */
function* letters(bytes: number, letter: string): Generator<Uint8Array> {
  const piece = Buffer.alloc(megabyte, letter);
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece;
}

test.each([
  'webhook register --url http://127.0.0.1:9/ --file',
  'webhook sync 2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e --file',
  'follow bulk --file',
  'sandbox import --chain base',
  'comment post --service-name E --key-file nowhere --file',
  'comment verify --signed',
])('%s refuses a line that never ends at its first megabyte, in little memory, packed or not', async (argv) => {
  const service = await answering([]);
  const bomb = join(temporaryFolder(), 'bomb.gz');
  // Members of a gzip file follow each other: 3 GB in 3 MB.
  writeFileSync(bomb, Buffer.concat(Array(300).fill(gzipSync(Buffer.alloc(10 * megabyte, 'a')))));
  for (const [file, stdin] of [
    [bomb, undefined],
    ['-', letters(3000 * megabyte, 'a')],
    ['-', letters(3000 * megabyte, '"')],
    ['-', letters(3000 * megabyte, '\0')],
  ] as const) {
    const { code, signal, out, cpuSec, peakMb } = await attack(`${argv} ${file}`, {
      env: service.env,
      ...(stdin && { stdin }),
    });
    expect([code, signal, out]).toEqual([expect.toSatisfy((each) => [2, 3, 11, 13].includes(each)), null, '']);
    expect(cpuSec).toBeLessThan(5);
    expect(peakMb).toBeLessThan(200);
  }
  expect(service.requests).toEqual([]);
});

test('files of the first commands are private to the user, whatever the umask', async () => {
  for (const umask of ['000', '022']) {
    const home = temporaryFolder();
    const service = await answering({ traders: [] });
    const own = { SOTRA_DATA_DIR: join(home, 'data'), SOTRA_CONFIG_DIR: join(home, 'config'), HOME: home };
    const sotra = (argv: string) => attack(argv, { env: { ...own, ...service.env }, before: `umask ${umask}` });
    const ready = join(home, 'ready.json');
    expect((await sotra(`sandbox start --detach --port 0 --ready-file ${ready}`)).code).toBe(0);
    process.kill(JSON.parse(readFileSync(ready, 'utf8')).pid, 'SIGKILL');
    writeFileSync(join(home, 'key'), evmTrader.key, { mode: 0o600 });
    writeFileSync(join(home, 'password'), 'open sesame', { mode: 0o644 });
    for (const argv of ['leaderboard list', `context set own --base-url ${service.url}`, `alias set me ${degen}`])
      expect([argv, (await sotra(argv)).code]).toEqual([argv, 0]);
    const imported = await sotra(`key import k --key-file ${home}/key --password-file ${home}/password`);
    expect([imported.code, imported.err]).toEqual([0, expect.stringMatching(/password.*(?:read|others)/)]);
    const names = readdirSync(home, { recursive: true, encoding: 'utf8' });
    const made = names.filter((name) => /^(?:data|config)/.test(name));
    expect(made.filter((name) => (statSync(join(home, name)).mode & 0o077) !== 0)).toEqual([]);
  }
});

const [salt, iv] = ['07'.repeat(32), '09'.repeat(16)];
const keystore = (kdf: string, kdfparams: object, ciphertext = '00'.repeat(32)) =>
  JSON.stringify({
    version: 3,
    crypto: { cipher: 'aes-128-ctr', ciphertext, cipherparams: { iv }, kdf, kdfparams, mac: '0'.repeat(64) },
  });
const scrypt = (n: number, r: number, p: number, more = {}) =>
  keystore('scrypt', { n, r, p, dklen: 32, salt, ...more });
const pbkdf2 = (c: number, more = {}) => keystore('pbkdf2', { c, prf: 'hmac-sha256', dklen: 32, salt, ...more });

test.each([
  ['much memory for N', scrypt(2 ** 24, 8, 1)],
  ['much memory for p', scrypt(2, 8, 2 ** 26)],
  ['much memory for r', scrypt(2, 2 ** 27, 1)],
  ['much memory for r and p', scrypt(4, 2 ** 15, 2 ** 14)],
  ['N of 1e308', scrypt(1e308, 8, 1)],
  ['a long key to derive', scrypt(2, 8, 1, { dklen: 2 ** 31 })],
  ['many rounds', pbkdf2(2 ** 31 - 1)],
  ['no end of rounds', pbkdf2(1e300)],
  ['a long key of few rounds', pbkdf2(1, { dklen: 2 ** 30 })],
  ['a long salt', pbkdf2(100_000, { salt: '07'.repeat(400_000) })],
  ['a long salt for scrypt', scrypt(1024, 8, 1, { salt: '07'.repeat(400_000) })],
  ['a long ciphertext', keystore('pbkdf2', { c: 2, prf: 'hmac-sha256', dklen: 32, salt }, '00'.repeat(400_000))],
  ['deep nesting', '{"version":3,"crypto":'.repeat(40_000)],
])('a keystore that asks for %s is exit 11 within seconds', async (_, text) => {
  const folder = temporaryFolder();
  const [store, password] = [join(folder, 'store.json'), join(folder, 'password')];
  writeFileSync(store, text, { mode: 0o600 });
  writeFileSync(password, 'open sesame', { mode: 0o600 });
  const swap = `--chain base --tx ${swaps.good} --token ${degen} --service-name Example --text gm`;
  const refused = await attack(`comment sign ${swap} --key-file ${store} --password-file ${password} --json`);
  expect([refused.code, refused.out]).toEqual([11, '']);
  expect(JSON.parse(refused.err).error.code).toBe('signing-key');
  expect(refused.cpuSec).toBeLessThan(10);
  expect(refused.peakMb).toBeLessThan(700);
});

test('a lock whose process has another start is taken over', async () => {
  const folder = temporaryFolder();
  const owner = { pid: process.pid, host: hostname(), started: 'at another time' };
  writeFileSync(join(folder, 'config.lock'), JSON.stringify(owner));
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  expect((await run('context set own --base-url https://a.example.com', { env })).code).toBe(0);
});

test('a write lock that another process holds on the sandbox keeps no reader waiting', async () => {
  const sandbox = await serve(temporaryFolder(), []);
  const db = openDb(sandbox.db);
  try {
    db.run('BEGIN IMMEDIATE');
    const headers = { authorization: 'Bearer sandbox-key-a' };
    // Only writers wait for the lock.
    const follow = { method: 'PUT', headers, body: '{"targets":["ext:b"]}' };
    const writing = fetch(`${sandbox.url}/v1/addresses/ext:a/follow`, follow).catch(() => undefined);
    await Promise.race([writing, delay(200)]);
    for (let time = 0; time < 5; time += 1) {
      const startedMs = performance.now();
      expect((await fetch(`${sandbox.url}/v2/leaderboard?limit=1`, { headers })).status).toBe(200);
      // One that waits for the lock takes twenty seconds.
      expect(performance.now() - startedMs).toBeLessThan(10_000);
    }
  } finally {
    db.run('ROLLBACK');
    db.close();
    sandbox.child.kill('SIGKILL');
  }
});
