import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { answering, failure, newUser, run, runJson, stub } from '../support/harness.ts';
import { serveSandbox } from '../support/served.ts';

const key = 'partner-key-0123456789-abcd';
const own = 'https://own.example.com';

test('a key typed at the prompt is checked with one request, stored 0600, used, and never shown', async () => {
  const service = await answering({ traders: [] });
  const { env, file } = newUser({ contexts: { own: { baseUrl: service.url } } });
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
  const { env } = newUser();
  const login = `auth login --context own --base-url ${service.url} --with-key --store file`;
  expect(await runJson(login, { env, stdin: `${key}\r\n` })).toEqual({
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
  const { env, readSettings } = newUser({ contexts });
  const login = await run('auth login --context own --with-key', { env, stdin: key });
  expect(login).toEqual(failure(4, `${service.url} rejected the key; it was not stored`));
  expect(readSettings()).toEqual({ contexts });
});

test('if the service cannot be reached the key is stored with --offline only', async () => {
  const { env } = newUser({ contexts: { own: { baseUrl: 'http://127.0.0.1:1' } } });
  const online = await run('auth login --context own --with-key --store file --retries 0', { env, stdin: key });
  expect(online.code).toBe(9);
  expect(online.err).toContain('it was not stored');
  expect(online.err).toContain('--offline');
  expect((await run('auth login --context own --with-key --store file --offline', { env, stdin: key })).code).toBe(0);
  expect(await runJson('auth status --context own', { env })).toMatchObject({ keySuffix: 'abcd' });
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
  ['auth login --context own --base-url https://other.example.com', {}, `context own is for ${own}, not`],
  ['auth login --context a/b --base-url https://other.example.com', {}, 'context a/b: the name of a context must'],
];

test.each(refused)('%s with %j is refused: %s', async (argv, options, message) => {
  const before = { contexts: { own: { baseUrl: own } } };
  const { env, readSettings } = newUser(before);
  const { code, out, err } = await run(argv, { env, ...options });
  expect(err.split('\n').find((line) => line.includes('error: '))).toContain(message);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).not.toContain(key);
  expect(readSettings()).toEqual(before);
});

test('a stored key is not sent after the base URL changes to another origin, and is used again when it changes back', async () => {
  const [own, other] = [await answering({ traders: [] }), await answering({ traders: [] })];
  const { env } = newUser();
  await run(`auth login --context c --base-url ${own.url} --with-key --store file`, { env, stdin: key });
  const moved = await run(`context set c --base-url ${other.url}`, { env });
  expect(moved.err).toContain(`the stored key ...abcd was saved for ${own.url} and is not sent to ${other.url}`);
  expect(await run('leaderboard list', { env })).toEqual(failure(4, `the stored one was saved for ${own.url}`));
  expect((await run('auth status --json', { env })).code).toBe(4);
  expect(other.requests).toEqual([]);
  await run(`context set c --base-url ${own.url}/sub`, { env });
  expect((await run('leaderboard list', { env })).code).toBe(0);
});

test('a key written by hand beside a base URL is bound to it as well', async () => {
  const other = await answering({ traders: [] });
  const { env } = newUser({ current: 'c', contexts: { c: { baseUrl: own, apiKey: key } } });
  await run(`context set c --base-url ${other.url}`, { env });
  expect((await run('leaderboard list', { env })).code).toBe(4);
  expect(other.requests).toEqual([]);
});

test('auth status exits with 2 without a service, and with 4 without a key', async () => {
  expect(await run('auth status --json')).toEqual(failure(2, '"code":"no-service"'));
  const { code, err } = await run('auth status --context clicker --json');
  expect(code).toBe(4);
  expect(JSON.parse(err).error).toMatchObject({
    code: 'key-missing',
    hint: 'Set SOTRA_API_KEY, or store one with sotra auth login --context clicker.',
    details: { context: 'clicker', baseUrl: 'https://api.clicker.xyz', keySource: null, keySuffix: null, store: null },
  });
});

test('auth status --dry-run shows the request of --check, and is refused without --check', async () => {
  const { out } = await run('auth status --check --dry-run --context clicker');
  expect(out).toContain('GET https://api.clicker.xyz/v2/leaderboard?limit=1\n');
  const unchecked = await run('auth status --dry-run --context clicker');
  expect(unchecked).toEqual(failure(2, '--dry-run needs --check: without it nothing is sent'));
});

test('auth status says which key is used and where it comes from', async () => {
  const { env } = newUser({ current: 'c', contexts: { c: { baseUrl: own, apiKey: key } } });
  const stored = { context: 'c', baseUrl: own, keySource: 'context', keySuffix: 'abcd', store: 'file' };
  expect(await runJson('auth status', { env })).toEqual(stored);
  const fromEnv = await runJson('auth status', { env: { ...env, SOTRA_API_KEY: 'another-key-wxyz' } });
  expect(fromEnv).toMatchObject({ keySource: 'SOTRA_API_KEY', keySuffix: 'wxyz', store: null });
  expect((await run('auth status', { env, tty: 80 })).out).toContain('...abcd');
});

test('auth status --check asks the service', async () => {
  const service = await stub((request, response) => {
    const good = request.headers.authorization === 'Bearer good-key-1234';
    response.writeHead(good ? 200 : 401).end(good ? '{"traders":[]}' : '{"error":"no"}');
  });
  const check = async (key: string) => {
    const { code, out } = await run('auth status --check --json', { env: { ...service.env, SOTRA_API_KEY: key } });
    return [code, JSON.parse(out).valid];
  };
  expect(await check('good-key-1234')).toEqual([0, true]);
  expect(await check('bad-key-12345')).toEqual([4, false]);
});

test('auth logout forgets the key and keeps the context', async () => {
  const contexts = { c: { baseUrl: own, apiKey: key, layout: 'blank-line' } };
  const { env, readSettings } = newUser({ current: 'c', contexts });
  expect((await run('auth logout --yes', { env })).code).toBe(0);
  expect(readSettings()).toEqual({ version: 1, current: 'c', contexts: { c: { baseUrl: own, layout: 'blank-line' } } });
  expect((await run('auth logout', { env })).err).toContain('Context c has no stored key.');
});

test('if the keychain cannot be used nothing is stored elsewhere instead', async () => {
  const contexts = { c: { baseUrl: own } };
  const { env, readSettings } = newUser({ contexts });
  const login = 'auth login --context c --with-key --offline --store keychain';
  const outcome = await run(login, { env, stdin: key });
  expect(outcome).toEqual(failure(3, '--store file'));
  expect(outcome.err).toContain('keychain');
  expect(readSettings()).toEqual({ contexts });
});

test('a preview of a login shows where the key would be stored and which context would be used, and leaves the stored one as it is', async () => {
  const { env, file } = newUser();
  const login = 'auth login --context staging --base-url https://api.example.com --with-key --offline --store file';
  expect((await run(login, { env, stdin: 'the-key-that-stays-abcd' })).code).toBe(0);
  const curl = await run(`${login} --curl`, { env, stdin: 'another-key-wxyz' });
  expect(curl).toEqual(failure(2, "option '--offline' cannot be used with option '--curl'"));
  const { out } = await run(`${login} --dry-run`, { env, stdin: 'another-key-wxyz' });
  expect(out).toBe(`store\tAPI key of context staging for https://api.example.com\t${file}\n`);
  const fresh = newUser();
  const online = 'auth login --base-url https://api.other.com --with-key --store file --dry-run';
  const other = await run(online, { env: fresh.env });
  expect(other.out).toContain('GET https://api.other.com/v2/leaderboard?limit=1\n');
  const key = `Would then store the API key of context other for https://api.other.com: ${fresh.file}\n`;
  expect(other.err).toBe(`${key}Would then use the context other: ${fresh.file}\n`);
  expect(await runJson('context show staging', { env })).toMatchObject({ keySuffix: 'abcd' });
});

test('auth login picks the sandbox: by an empty answer, and in a script by --sandbox', async () => {
  for (const [argv, options] of [
    ['auth login', { answers: [''] }],
    ['auth login', { answers: ['1'] }],
    ['auth login --sandbox', {}],
    ['auth login --context sandbox --no-input', {}],
  ] as const) {
    const { env, readSettings } = newUser();
    const { code, err } = await run(argv, { env, ...options });
    expect([argv, code]).toEqual([argv, 0]);
    expect(err).toContain('sandbox is now the current context.\nNext: sotra leaderboard list --limit 5\n');
    expect(readSettings().current).toBe('sandbox');
    expect((await run('leaderboard list --limit 5', { env })).code).toBe(0);
  }
});

test('auth login --sandbox --json has the context and its key, and --dry-run shows what it would change', async () => {
  const { env } = newUser();
  const { changes } = await runJson('auth login --sandbox --dry-run', { env });
  expect(changes).toMatchObject([{ action: 'use', what: 'context sandbox' }]);
  expect(await runJson('auth login --sandbox', { env })).toEqual({
    context: 'sandbox',
    baseUrl: 'http://sandbox.localhost',
    keySource: 'sandbox',
    keySuffix: 'ey-a',
    store: null,
  });
});

test('auth login of a named context leaves the current one, and the next line names it', async () => {
  const { env, readSettings } = newUser();
  await run('auth login --sandbox', { env });
  const line = 'auth login --context own --base-url https://api.example.com --with-key --offline --store file';
  const { err } = await run(line, { env, stdin: 'some-key-1234' });
  expect(err).toContain('Next: sotra leaderboard list --limit 5 --context own\n');
  expect(readSettings().current).toBe('sandbox');
});

test('auth login warns of SOTRA_BASE_URL, which other commands use instead of the context', async () => {
  const { err } = await run('auth login --sandbox', { env: { SOTRA_BASE_URL: 'http://127.0.0.1:1' } });
  expect(err).toContain('warning: SOTRA_BASE_URL is set and overrides the current context\n');
  expect(err).toContain('Next: sotra leaderboard list --limit 5 --sandbox\n');
});

test('auth login asks for the service, its address and the key, and prints the next line to type', async () => {
  const { env, readSettings } = newUser();
  const service = await serveSandbox();
  const answers = ['7', '3', service.url, service.keyA];
  const { out, err } = await run('auth login --store file', { env, tty: 100, answers });
  expect(err).toContain('Which service? Enter: the sandbox\n   1  the built-in sandbox: offline, without a key\n');
  expect(err).toContain('Enter a number from 1 to 3, not 7.\n');
  expect(err).toContain('local is now the current context.\nNext: sotra leaderboard list --limit 5\n');
  expect(out + err).not.toContain(service.keyA);
  expect(readSettings()).toMatchObject({
    current: 'local',
    contexts: { local: { baseUrl: service.url, apiKey: service.keyA, keyStore: 'file' } },
  });
});

test('auth login without a terminal names the missing flags', async () => {
  const hint =
    'Name one: sotra auth login --sandbox, or --context clicker or --base-url https://..., with --with-key < key.txt.';
  expect(await run('auth login')).toEqual(failure(2, hint));
});
