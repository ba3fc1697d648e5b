import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answering, run, stub, temporaryFolder } from '../support/harness.ts';
import { serveSandbox } from '../support/served.ts';

const key = 'partner-key-0123456789-abcd';

function folder(content?: unknown): { env: Record<string, string>; text: () => string; file: string } {
  const directory = temporaryFolder();
  const file = join(directory, 'config.json');
  if (content !== undefined) writeFileSync(file, JSON.stringify(content));
  return { env: { SOTRA_CONFIG_DIR: directory }, text: () => readFileSync(file, 'utf8'), file };
}

test('a key typed at the prompt is checked with one request, stored 0600, used, and never shown', async () => {
  const service = await answering({ traders: [] });
  const { env, file } = folder({ contexts: { own: { baseUrl: service.url } } });
  const login = await run('auth login --context own --store file', { env, answers: [key] });
  expect(login.code).toBe(0);
  expect(service.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /v2/leaderboard?limit=1']);
  expect(service.requests[0]?.headers.authorization).toBe(`Bearer ${key}`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(login.out + login.err).not.toContain(key);
  await run('leaderboard list --context own', { env });
  expect(service.requests[1]?.headers.authorization).toBe(`Bearer ${key}`);
});

test('a key from a file is read without its line end, and --base-url creates the context', async () => {
  const service = await answering({ traders: [] });
  const { env } = folder();
  const login = await run(`auth login --context own --base-url ${service.url} --with-key --store file --json`, {
    env,
    stdin: `${key}\r\n`,
  });
  expect(login.code).toBe(0);
  expect(JSON.parse(login.out)).toEqual({
    context: 'own',
    baseUrl: service.url,
    keySource: 'context',
    keySuffix: 'abcd',
    store: 'file',
    valid: true,
  });
  await run('leaderboard list', { env });
  expect(service.requests[1]?.headers.authorization).toBe(`Bearer ${key}`);
});

test('a key that the service refuses is not stored', async () => {
  const service = await answering({ error: 'unknown key' }, 401);
  const contexts = { own: { baseUrl: service.url, apiKey: 'the-old-key-1234' } };
  const { env, text } = folder({ contexts });
  const { code, err, out } = await run('auth login --context own --with-key', { env, stdin: key });
  expect({ code, out }).toEqual({ code: 4, out: '' });
  expect(err).toContain(`${service.url} rejected the key; it was not stored`);
  expect(JSON.parse(text())).toEqual({ contexts });
});

test('if the service cannot be reached the key is stored with --offline only', async () => {
  const { env } = folder({ contexts: { own: { baseUrl: 'http://127.0.0.1:1' } } });
  const online = await run('auth login --context own --with-key --store file --retries 0', { env, stdin: key });
  expect(online.code).toBe(9);
  expect(online.err).toContain('it was not stored');
  expect(online.err).toContain('--offline');
  expect((await run('auth login --context own --with-key --store file --offline', { env, stdin: key })).code).toBe(0);
  expect((await run('auth status --context own --json', { env })).out).toContain('"keySuffix": "abcd"');
});

const refused: readonly [argv: string, options: object, message: string][] = [
  ['auth login --sandbox --with-key', { stdin: key }, '--with-key: the built-in sandbox has its own keys'],
  ['auth login --context sandbox --offline', {}, '--offline: the built-in sandbox has its own keys'],
  ['auth login --context nowhere', {}, 'context nowhere does not exist'],
  ['auth login --context own', {}, 'cannot ask for the key: stdin is not a terminal'],
  ['auth login --context own --no-input', { answers: [key] }, 'cannot ask for the key: --no-input is set'],
  ['auth login --context own --with-key', { answers: [] }, '--with-key reads from stdin'],
  ['auth login --context own --with-key', { stdin: ' \n' }, 'stdin holds no key'],
  ['auth login --context own --with-key', { stdin: `${key}\nsecond` }, 'stdin holds more than a key'],
  ['auth login --context own', { answers: [''] }, 'the answer holds no key'],
  ['auth login --context own --with-key', { stdin: 'a'.repeat(70_000) }, 'stdin holds more than 64 KB'],
  [
    'auth login --context own --base-url https://other.example.com',
    {},
    'context own is for https://own.example.com, not',
  ],
  [
    'auth login --context a/b --base-url https://other.example.com',
    {},
    'context a/b: the name of a context must begin',
  ],
];

test.each(refused)('refused: %s %j', async (argv, options, message) => {
  const before = { contexts: { own: { baseUrl: 'https://own.example.com' } } };
  const { env, text } = folder(before);
  const { code, out, err } = await run(argv, { env, ...options });
  expect(err.split('\n').find((line) => line.includes('error: '))).toContain(message);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).not.toContain(key);
  expect(JSON.parse(text())).toEqual(before);
});

test('a stored key is not sent after the base URL changes to another origin, and is used again when it changes back', async () => {
  const [own, other] = [await answering({ traders: [] }), await answering({ traders: [] })];
  const { env } = folder();
  await run(`auth login --context c --base-url ${own.url} --with-key --store file`, { env, stdin: key });
  const moved = await run(`context set c --base-url ${other.url}`, { env });
  expect(moved.err).toContain(`the stored key ...abcd was saved for ${own.url} and is not sent to ${other.url}`);
  const { code, err } = await run('leaderboard list', { env });
  expect(code).toBe(4);
  expect(err).toContain(`the stored one was saved for ${own.url}`);
  expect((await run('auth status --json', { env })).code).toBe(4);
  expect(other.requests).toEqual([]);
  await run(`context set c --base-url ${own.url}/sub`, { env });
  expect((await run('leaderboard list', { env })).code).toBe(0);
});

test('a key written by hand beside a base URL is bound to it as well', async () => {
  const other = await answering({ traders: [] });
  const { env } = folder({ current: 'c', contexts: { c: { baseUrl: 'https://own.example.com', apiKey: key } } });
  await run(`context set c --base-url ${other.url}`, { env });
  expect((await run('leaderboard list', { env })).code).toBe(4);
  expect(other.requests).toEqual([]);
});

test('auth status exits with 2 without a service, and with 4 without a key', async () => {
  const none = await run('auth status --json');
  expect(none).toMatchObject({ code: 2, out: '' });
  expect(JSON.parse(none.err).error).toMatchObject({ code: 'no-service', exitCode: 2 });
  const noKey = await run('auth status --context clicker --json');
  expect(noKey).toMatchObject({ code: 4, out: '' });
  expect(JSON.parse(noKey.err).error).toMatchObject({
    code: 'key-missing',
    exitCode: 4,
    hint: 'Store one: sotra auth login --context clicker. Or set SOTRA_API_KEY.',
    details: { context: 'clicker', baseUrl: 'https://api.clicker.xyz', keySource: null, keySuffix: null, store: null },
  });
});

test('auth status --dry-run shows the request of --check, and is refused without --check', async () => {
  const checked = await run('auth status --check --dry-run --context clicker');
  expect([checked.code, checked.out]).toEqual([
    0,
    expect.stringContaining('GET https://api.clicker.xyz/v2/leaderboard?limit=1\n'),
  ]);
  const unchecked = await run('auth status --dry-run --context clicker');
  expect([unchecked.code, unchecked.out]).toEqual([2, '']);
  expect(unchecked.err).toContain('--dry-run needs --check: without it nothing is sent');
});

test('auth status says which key is used and where it comes from', async () => {
  const { env } = folder({ current: 'c', contexts: { c: { baseUrl: 'https://own.example.com', apiKey: key } } });
  const stored = await run('auth status --json', { env });
  expect(JSON.parse(stored.out)).toEqual({
    context: 'c',
    baseUrl: 'https://own.example.com',
    keySource: 'context',
    keySuffix: 'abcd',
    store: 'file',
  });
  const fromEnv = await run('auth status --json', { env: { ...env, SOTRA_API_KEY: 'another-key-wxyz' } });
  expect(JSON.parse(fromEnv.out)).toMatchObject({ keySource: 'SOTRA_API_KEY', keySuffix: 'wxyz', store: null });
  expect((await run('auth status', { env, tty: 80 })).out).toContain('...abcd');
});

test('auth status --check asks the service', async () => {
  const service = await stub((request, response) => {
    const good = request.headers.authorization === 'Bearer good-key-1234';
    response.writeHead(good ? 200 : 401).end(good ? '{"traders":[]}' : '{"error":"no"}');
  });
  const env = { SOTRA_BASE_URL: service.url };
  const good = await run('auth status --check --json', { env: { ...env, SOTRA_API_KEY: 'good-key-1234' } });
  expect(good.code).toBe(0);
  expect(JSON.parse(good.out).valid).toBe(true);
  const bad = await run('auth status --check --json', { env: { ...env, SOTRA_API_KEY: 'bad-key-12345' } });
  expect(bad.code).toBe(4);
  expect(JSON.parse(bad.out).valid).toBe(false);
});

test('auth logout forgets the key and keeps the context', async () => {
  const contexts = { c: { baseUrl: 'https://own.example.com', apiKey: key, layout: 'blank-line' } };
  const { env, text } = folder({ current: 'c', contexts });
  expect((await run('auth logout --yes', { env })).code).toBe(0);
  expect(JSON.parse(text())).toEqual({
    version: 1,
    current: 'c',
    contexts: { c: { baseUrl: 'https://own.example.com', layout: 'blank-line' } },
  });
  const again = await run('auth logout', { env });
  expect(again.code).toBe(0);
  expect(again.err).toContain('Context c has no stored key.');
});

test('if the keychain cannot be used nothing is stored elsewhere instead', async () => {
  const { env, text } = folder({ contexts: { c: { baseUrl: 'https://own.example.com' } } });
  const { code, out, err } = await run('auth login --context c --with-key --offline --store keychain', {
    env,
    stdin: key,
  });
  expect({ code, out }).toEqual({ code: 3, out: '' });
  expect(err).toMatch(/keychain/);
  expect(err).toContain('--store file');
  expect(text()).not.toContain(key);
});

test('a preview of a login that sends nothing shows where the key would be stored, and leaves the stored one as it is', async () => {
  const env = { SOTRA_CONFIG_DIR: temporaryFolder() };
  const login = 'auth login --context staging --base-url https://api.example.com --with-key --offline --store file';
  expect((await run(login, { env, stdin: 'the-key-that-stays-abcd' })).code).toBe(0);
  const curl = await run(`${login} --curl`, { env, stdin: 'another-key-wxyz' });
  expect([curl.code, curl.out]).toEqual([2, '']);
  expect(curl.err).toContain("option '--offline' cannot be used with option '--curl'");
  const dry = await run(`${login} --dry-run`, { env, stdin: 'another-key-wxyz' });
  expect([dry.code, dry.out]).toEqual([
    0,
    `store\tAPI key of context staging for https://api.example.com\t${env.SOTRA_CONFIG_DIR}/config.json\n`,
  ]);
  expect(JSON.parse((await run('context show staging --json', { env })).out)).toMatchObject({ keySuffix: 'abcd' });
});

const place = () => {
  const folder = temporaryFolder();
  const settings = () => JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  return { env: { SOTRA_CONFIG_DIR: folder, SOTRA_DATA_DIR: folder }, settings };
};

test('auth login picks the sandbox: by an empty answer, and in a script by --sandbox', async () => {
  for (const [argv, options] of [
    ['auth login', { answers: [''] }],
    ['auth login', { answers: ['1'] }],
    ['auth login --sandbox', {}],
    ['auth login --context sandbox --no-input', {}],
  ] as const) {
    const { env, settings } = place();
    const { code, err } = await run(argv, { env, ...options });
    expect([argv, code]).toEqual([argv, 0]);
    expect(err).toContain('sandbox is now the current context.\nNext: sotra leaderboard list --limit 5\n');
    expect(settings().current).toBe('sandbox');
    expect((await run('leaderboard list --limit 5', { env })).code).toBe(0);
  }
});

test('auth login --sandbox --json has the context and its key, and --dry-run changes nothing', async () => {
  const { env, settings } = place();
  const dry = await run('auth login --sandbox --dry-run --json', { env });
  expect(JSON.parse(dry.out).changes).toMatchObject([{ action: 'use', what: 'context sandbox' }]);
  expect(settings).toThrow('ENOENT');
  const { out } = await run('auth login --sandbox --json', { env });
  expect(JSON.parse(out)).toEqual({
    context: 'sandbox',
    baseUrl: 'http://sandbox.localhost',
    keySource: 'sandbox',
    keySuffix: 'ey-a',
    store: null,
  });
});

test('auth login --base-url makes a context named after the address, and makes it the current one', async () => {
  const { env, settings } = place();
  await run('auth login --sandbox', { env });
  const line = 'auth login --base-url https://api.example.com --with-key --offline --store file';
  const { code, err } = await run(line, { env, stdin: 'some-key-1234' });
  expect([code, err]).toEqual([0, expect.stringContaining('example is now the current context.')]);
  expect(settings()).toMatchObject({
    current: 'example',
    contexts: { example: { baseUrl: 'https://api.example.com', apiKey: 'some-key-1234' } },
  });
});

test('auth login of a named context leaves the current one, and the next line names it', async () => {
  const { env, settings } = place();
  await run('auth login --sandbox', { env });
  const line = 'auth login --context own --base-url https://api.example.com --with-key --offline --store file';
  const { err } = await run(line, { env, stdin: 'some-key-1234' });
  expect(err).toContain('Next: sotra leaderboard list --limit 5 --context own\n');
  expect(settings().current).toBe('sandbox');
});

test('auth login warns of SOTRA_BASE_URL, which other commands use instead of the context', async () => {
  const { env } = place();
  const { err } = await run('auth login --sandbox', { env: { ...env, SOTRA_BASE_URL: 'http://127.0.0.1:1' } });
  expect(err).toContain('warning: SOTRA_BASE_URL is set and overrides the current context\n');
  expect(err).toContain('Next: sotra leaderboard list --limit 5 --sandbox\n');
});

test('auth login asks for the service, its address and the key, and prints the next line to type', async () => {
  const { env, settings } = place();
  const service = await serveSandbox();
  const answers = ['7', '3', service.url, service.keyA];
  const { code, out, err } = await run('auth login --store file', { env, tty: 100, answers });
  expect([code, err]).toEqual([
    0,
    expect.stringContaining('Which service? Enter: the sandbox\n   1  the built-in sandbox: offline, without a key\n'),
  ]);
  expect(err).toContain('There is no number 7.\n');
  expect(err).toContain('local is now the current context.\nNext: sotra leaderboard list --limit 5\n');
  expect(out + err).not.toContain(service.keyA);
  expect(settings()).toMatchObject({
    current: 'local',
    contexts: { local: { baseUrl: service.url, apiKey: service.keyA, keyStore: 'file' } },
  });
});

test('auth login without a terminal names the missing flags', async () => {
  const { code, err } = await run('auth login', { env: place().env });
  expect([code, err]).toEqual([
    2,
    expect.stringContaining(
      'Name one: sotra auth login --sandbox, or --context clicker or --base-url https://..., with --with-key < key.txt.',
    ),
  ]);
});
