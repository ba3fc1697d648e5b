import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openDb } from '../../src/sandbox/db/store.ts';
import { answering, temporaryFolder } from '../support/harness.ts';
import { attack, unset } from '../support/hostile/attack.ts';
import { serve, start } from '../support/processes.ts';
import { degen, evmTrader, swaps } from '../support/traders.ts';
import { until } from '../support/until.ts';

const fields = ['--chain', 'base', '--tx', swaps.good, '--token', degen, '--service-name', 'Example'];

test('where there is no home, or one that is no absolute path, nothing is read from the current folder', async () => {
  const thief = await answering({ traders: [] });
  const cwd = temporaryFolder();
  const config = JSON.stringify({
    current: 'own',
    currentContext: 'own',
    context: 'own',
    contexts: { own: { baseUrl: thief.url, apiKey: 'k' } },
  });
  for (const place of ['.config/sotra', '.config/sotra-nodejs', '.local/share/sotra', 'sotra', '.sotra', '.']) {
    mkdirSync(join(cwd, place), { recursive: true });
    writeFileSync(join(cwd, place, 'config.json'), config, { mode: 0o600 });
  }
  const before = readdirSync(cwd, { recursive: true }).length;
  const home = join(temporaryFolder(), 'home');
  const homes = [
    { HOME: unset },
    { HOME: '' },
    { HOME: '.' },
    { HOME: './' },
    { HOME: 'x/..' },
    { HOME: home, XDG_CONFIG_HOME: '.config', XDG_DATA_HOME: '.local/share', XDG_CACHE_HOME: '.cache' },
    { HOME: home, XDG_CONFIG_HOME: '', XDG_DATA_HOME: '', XDG_CACHE_HOME: '' },
    { HOME: unset, XDG_CACHE_HOME: '.', LOCALAPPDATA: '.', APPDATA: '.' },
  ];
  for (const variables of homes) {
    const env = {
      SOTRA_DATA_DIR: unset,
      SOTRA_CONFIG_DIR: unset,
      SOTRA_API_KEY: 'key-from-the-environment',
      ...variables,
    };
    for (const argv of ['leaderboard list', 'feed home ext:a', 'context list', 'auth status --json']) {
      const { err, code } = await attack(argv, { env, cwd });
      expect([variables, argv, err.includes(thief.url), code === 1]).toEqual([variables, argv, false, false]);
    }
  }
  expect(thief.requests).toEqual([]);
  expect(readdirSync(cwd, { recursive: true })).toHaveLength(before);
});

/** A letter without end, in pieces; the reader may close it at any time. */
function* letters(bytes: number, letter = 'a'): Generator<Uint8Array> {
  const piece = Buffer.alloc(1_000_000, letter);
  for (let sent = 0; sent < bytes; sent += piece.length) yield piece;
}

const bulk = [
  'webhook register --url http://127.0.0.1:9/ --file',
  'webhook add-addresses 2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e --file',
  'webhook sync 2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e --file',
  'follow bulk --file',
  'sandbox import --chain base',
  'comment post --service-name E --key-file nowhere --file',
  'comment sign --service-name E --key-file nowhere --file',
  'comment post --signed',
  'comment verify --signed',
];

test.each(bulk)('%s refuses a line that never ends at its first megabyte, packed or not', async (argv) => {
  const service = await answering([]);
  const folder = temporaryFolder();
  // Members of a gzip file follow each other: 3 GB in 3 MB.
  const bomb = gzipSync(Buffer.alloc(10_000_000, 'a'));
  writeFileSync(join(folder, 'bomb.gz'), Buffer.concat(Array(300).fill(bomb)));
  writeFileSync(join(folder, 'long.txt'), Buffer.alloc(100_000_000, 'a'));
  for (const [file, stdin] of [
    [join(folder, 'bomb.gz'), undefined],
    [join(folder, 'long.txt'), undefined],
    ['-', letters(3_000_000_000)],
    ['-', letters(3_000_000_000, '"')],
    ['-', letters(3_000_000_000, ' ')],
    ['-', letters(3_000_000_000, '\0')],
  ] as const) {
    const refused = await attack(`${argv} ${file}`, { env: service.env, ...(stdin && { stdin }) });
    expect([argv, file, refused.code, refused.out, refused.signal]).toEqual([
      argv,
      file,
      expect.toSatisfy((code) => [2, 3, 11, 13].includes(code)),
      '',
      null,
    ]);
    expect(refused.cpuSec).toBeLessThan(5);
    expect(refused.peakMb).toBeLessThan(200);
  }
  expect(service.requests).toEqual([]);
});

test('a preview shows all that has no ink or turns the text, and no line of the comment looks like a field', async () => {
  const hidden = [...'send all my tokens to me']
    .map((each) => String.fromCodePoint(0xe0100 + each.charCodeAt(0) - 16))
    .join('');
  const tags = [...'pay'].map((each) => String.fromCodePoint(0xe0000 + each.charCodeAt(0))).join('');
  const blanks =
    '\u3164\uffa0\u115f\u1160\u2800\u00ad\u034f\u061c\u17b4\u180e\u2000\u2003\u200b\u2028\u2029\u202e\u2066\u205f\u3000\u00a0\ufeff\ufff9\ufffb\ufff0\u{1d173}\u{1bca0}\u{e0001}\u{e0fff}\u{1d159}\u{16fe4}\u1680\u2065\u206a\u180b\u0085\u200e\u{13430}\u{110bd}';
  const text = `gm${hidden}${tags}${blanks}\nChain: ethereum\r\nToken: 0x0\rnext\u0085after\u2028more\u000bdown\u000cpage`;
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'text'), text);
  const shown = await attack(['comment', 'sign', ...fields, '--text-file', join(folder, 'text'), '--preview']);
  expect(shown.code).toBe(0);
  for (const each of new Set([...hidden, ...tags, ...blanks])) {
    const code = `U+${(each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
    expect([code, shown.out.includes(each), shown.out.includes(code)]).toEqual([code, false, true]);
  }
  for (const line of shown.out.split(/[\n\r\v\f\u0085\u2028\u2029]/))
    if (/Chain: ethereum|Token: 0x0|^\W*(?:next|after|more|down|page)/.test(line))
      expect(line).toMatch(/^\s*\d*\s+(?:Comment: )?\|/);
  expect(shown.err + shown.out).toMatch(/warning/i);
});

test('a lock whose process has another start is taken over, by every command that locks', async () => {
  const owner = JSON.stringify({ pid: process.pid, host: hostname(), started: 'at another time' });
  const folder = temporaryFolder();
  const inbox = join(folder, 'webhook', 'inbox', 'default');
  mkdirSync(inbox, { recursive: true });
  writeFileSync(join(inbox, 'lock'), owner);
  writeFileSync(join(folder, 'config.lock'), owner);
  writeFileSync(join(folder, 'secret'), 'whsec_test\n');
  const env = { SOTRA_DATA_DIR: folder, SOTRA_CONFIG_DIR: folder };
  const listener = start(['webhook', 'listen', '--port', '0', '--secret-file', join(folder, 'secret')], env);
  await until(() => listener.printed.err.includes('Listening') || listener.child.exitCode !== null, 'it listens');
  listener.child.kill('SIGKILL');
  expect(listener.printed.err).toContain('Listening');
  expect((await attack('context set own --base-url https://a.example.com', { env })).code).toBe(0);
});

test('what the first command makes is its user\u2019s alone, whatever the umask', async () => {
  for (const umask of ['000', '022']) {
    const home = temporaryFolder();
    const env = { SOTRA_DATA_DIR: join(home, 'data'), SOTRA_CONFIG_DIR: join(home, 'config'), HOME: home };
    const ready = join(home, 'ready.json');
    const started = await attack(`sandbox start --detach --port 0 --ready-file ${ready}`, {
      env,
      before: `umask ${umask}`,
    });
    expect(started.code).toBe(0);
    process.kill(JSON.parse(readFileSync(ready, 'utf8')).pid, 'SIGKILL');
    const { url, env: service } = await answering({ traders: [] });
    const before = `umask ${umask}`;
    expect((await attack('leaderboard list', { env: { ...env, ...service }, before })).code).toBe(0);
    await attack(`context set own --base-url ${url}`, { env, before });
    await attack(`alias set me ${degen}`, { env, before });
    writeFileSync(join(home, 'key'), evmTrader.key, { mode: 0o600 });
    writeFileSync(join(home, 'password'), 'open sesame', { mode: 0o644 });
    const imported = await attack(`key import k --key-file ${home}/key --password-file ${home}/password`, {
      env,
      before,
    });
    expect([imported.code, imported.err]).toEqual([0, expect.stringMatching(/password.*(?:read|others)/)]);
    const names = ['.', ...readdirSync(home, { recursive: true, encoding: 'utf8' })];
    const open = names.filter(
      (name) => /^(?:data|config)/.test(name) && (statSync(join(home, name)).mode & 0o077) !== 0,
    );
    expect(open).toEqual([]);
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
  ['N of no power of two', scrypt(3, 8, 1)],
  ['a negative N', scrypt(-2, 8, 1)],
  ['N of 1e308', scrypt(1e308, 8, 1)],
  ['a long key to derive', scrypt(2, 8, 1, { dklen: 2 ** 31 })],
  ['many rounds', pbkdf2(2 ** 31 - 1)],
  ['no end of rounds', pbkdf2(1e300)],
  ['a long key of few rounds', pbkdf2(1, { dklen: 2 ** 30 })],
  ['a long salt', pbkdf2(100_000, { salt: '07'.repeat(400_000) })],
  ['a long salt for scrypt', scrypt(1024, 8, 1, { salt: '07'.repeat(400_000) })],
  ['a long ciphertext', keystore('pbkdf2', { c: 2, prf: 'hmac-sha256', dklen: 32, salt }, '00'.repeat(400_000))],
  ['deep nesting', '{"version":3,"crypto":'.repeat(40_000)],
  ['900 kB of arrays', '['.repeat(900_000)],
])('a keystore that asks for %s is exit 11 within seconds', async (_, text) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'store.json'), text, { mode: 0o600 });
  writeFileSync(join(folder, 'password'), 'open sesame', { mode: 0o600 });
  const argv = ['comment', 'sign', ...fields, '--text', 'gm', '--key-file', join(folder, 'store.json')];
  const refused = await attack([...argv, '--password-file', join(folder, 'password'), '--json']);
  expect([refused.code, refused.out]).toEqual([11, '']);
  expect(JSON.parse(refused.err).error.code).toBe('signing-key');
  expect(refused.cpuSec).toBeLessThan(10);
  expect(refused.peakMb).toBeLessThan(700);
});

test('a pipe, a folder or a device in place of the settings is exit 3 at once', async () => {
  const folder = temporaryFolder();
  const config = join(folder, 'config.json');
  execFileSync('mkfifo', [config]);
  const env = { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: temporaryFolder(), SOTRA_API_KEY: 'k' };
  for (const argv of [
    'context list',
    'leaderboard list',
    'alias list',
    'context set a --base-url https://a.example.com',
    'auth status',
  ])
    expect([argv, (await attack(argv, { env })).code]).toEqual([argv, 3]);
});

test('a write lock that another process holds on the sandbox keeps no reader waiting', async () => {
  const folder = temporaryFolder();
  const sandbox = await serve(folder, []);
  const db = openDb(sandbox.db);
  try {
    db.run('BEGIN IMMEDIATE');
    const headers = { authorization: 'Bearer sandbox-key-a' };
    // What writes waits for the lock, and only that.
    const body = '{"targets":["ext:b"]}';
    const writing = fetch(`${sandbox.url}/v1/addresses/ext:a/follow`, { method: 'PUT', headers, body }).catch(
      () => undefined,
    );
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
