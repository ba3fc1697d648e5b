import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { answering, failure, newUser, run, runJson } from '../support/harness.ts';

test('a context that was set is used by the commands, and the first one becomes the current one', async () => {
  const service = await answering({ traders: [] });
  const { env, file } = newUser();
  const made = await run(`context set own --base-url ${service.url}/`, { env });
  expect(made.err).toContain('own is now the current context.');
  expect(made.out).toContain(`baseUrl\t${service.url}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await run('leaderboard list', { env: { ...env, SOTRA_API_KEY: 'k' } });
  expect(service.requests).toHaveLength(1);
});

test('a second context does not become the current one by itself; context use sets it, null unsets it', async () => {
  const { env } = newUser();
  await run('context set one --base-url https://one.example.com', { env });
  await run('context set two --base-url https://two.example.com', { env });
  expect((await runJson('context show', { env })).name).toBe('one');
  await run('context use two', { env });
  expect((await runJson('context show', { env })).name).toBe('two');
  await run('context use null', { env });
  expect(await run('leaderboard list', { env })).toEqual(failure(2, 'no service is configured'));
});

test('context set changes the given values, null removes one, the rest stays', async () => {
  const { env } = newUser();
  await run('context set own --base-url https://a.example.com --wire {"*.limit":"count"}', { env });
  await run('context set own --layout blank-line --service-name Own', { env });
  expect(await runJson('context set own --wire null --service-name null', { env })).toEqual({
    ...{ name: 'own', current: true, builtIn: false, baseUrl: 'https://a.example.com' },
    ...{ serviceName: null, layout: 'blank-line', wire: {}, keySuffix: null, store: null, keyOrigin: null },
  });
});

test('a preset fills in what no flag names', async () => {
  const { env } = newUser();
  expect(await runJson('context set own --preset clicker --base-url https://a.example.com', { env })).toMatchObject({
    baseUrl: 'https://a.example.com',
    serviceName: 'Clicker',
    layout: 'blank-line',
  });
});

test('context list names the presets and the stored contexts, without a key', async () => {
  const contexts = { live: { baseUrl: 'https://live.example.com', apiKey: 'very-secret-key-9876' } };
  const { env } = newUser({ current: 'live', contexts });
  for (const argv of ['context list', 'context list --json', 'context show live', 'context list --format csv']) {
    const { code, out, err } = await run(argv, { env, tty: 140 });
    expect(code).toBe(0);
    expect(out).toContain('9876');
    expect(out + err).not.toContain('very-secret');
  }
  const listed = await runJson('context list', { env });
  expect(listed.contexts.map(({ name }: { name: string }) => name)).toEqual(['sandbox', 'clicker', 'live']);
});

const url = '--base-url https://a.example.com';

test.each([
  ['set own', 'context own needs a base URL'],
  ['set own --base-url null', 'context own needs a base URL'],
  ['set own --base-url http://api.example.com', 'plain http would send the API key in the clear'],
  [`set ../own ${url}`, '<name> ../own: must begin with a letter or digit'],
  ['set sandbox --layout five-line', 'context sandbox is built in and cannot be changed'],
  [`set own ${url} --layout six-line`, '--layout six-line: must be one of'],
  ['show', 'no service is configured'],
  ['remove nowhere', 'context nowhere does not exist'],
  ['remove clicker', 'context clicker is built in and has nothing stored'],
])('context %s is refused without a change: %s', async (words, message) => {
  const { env } = newUser();
  expect(await run(`context ${words}`, { env })).toEqual(failure(2, message));
  expect((await runJson('context list', { env })).contexts).toHaveLength(2);
});

test('a removed context is gone with its key, and no context is current when it was', async () => {
  const { env, readSettings } = newUser({
    current: 'a',
    contexts: { a: { baseUrl: 'https://a.b', apiKey: 'key-1234' }, b: {} },
  });
  expect((await run('context remove a --yes', { env })).err).toContain('There is no current context now.');
  expect(readSettings()).toEqual({ version: 1, contexts: { b: {} } });
});

test('SOTRA_CONTEXT goes before the current context, and context use says so', async () => {
  const { env } = newUser({
    current: 'a',
    contexts: { a: { baseUrl: 'https://a.b' }, b: { baseUrl: 'https://b.c' } },
  });
  const withEnv = { ...env, SOTRA_CONTEXT: 'b' };
  expect((await runJson('context show', { env: withEnv })).name).toBe('b');
  const { err } = await run('context use a', { env: withEnv });
  expect(err).toContain('warning: SOTRA_CONTEXT=b is set and overrides it');
});

test('context show prints the values in use, and where each comes from', async () => {
  const contexts = { a: { baseUrl: 'https://a.example.com', apiKey: 'key-of-a-1234', serviceName: 'A' } };
  const { env } = newUser({ current: 'a', contexts });
  const show = async (argv: string, more: Record<string, string> = {}) =>
    runJson(`context show ${argv}`, { env: { ...env, ...more } });
  expect(await show('')).toMatchObject({
    name: 'a',
    baseUrl: 'https://a.example.com',
    keySuffix: '1234',
    sources: { name: 'current', baseUrl: 'context', key: 'context', serviceName: 'context', layout: 'default' },
  });
  const over = { SOTRA_BASE_URL: 'https://b.example.com', SOTRA_API_KEY: 'key-of-b-5678' };
  expect(await show('', over)).toMatchObject({
    name: 'a',
    baseUrl: 'https://b.example.com',
    keySuffix: '5678',
    store: null,
    serviceName: 'A',
    sources: { name: 'current', baseUrl: 'SOTRA_BASE_URL', key: 'SOTRA_API_KEY' },
  });
  expect(await show('clicker', over)).toMatchObject({
    baseUrl: 'https://api.clicker.xyz',
    sources: { name: 'argument', baseUrl: 'preset', key: 'SOTRA_API_KEY', layout: 'preset' },
  });
  expect((await show('--context clicker')).sources).toMatchObject({ name: '--context' });
  expect((await show('', { SOTRA_CONTEXT: 'clicker' })).sources).toMatchObject({ name: 'SOTRA_CONTEXT' });
  const shown = await run('context show', { env: { SOTRA_BASE_URL: 'https://b.example.com' } });
  expect(shown.out).toContain('baseUrl\thttps://b.example.com\n');
  expect(shown.out).toContain('sources\tbaseUrl: SOTRA_BASE_URL, layout: default\n');
});

const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';

async function withAlias(): Promise<Record<string, string>> {
  const { env } = newUser();
  await run(`alias set @whale ${wallet}`, { env });
  return env;
}

test('an alias works wherever an identifier does: argument, list, token address', async () => {
  const service = await answering({});
  const env = { ...(await withAlias()), ...service.env };
  await run('profile get @whale', { env });
  await run('leaderboard rank @whale', { env });
  await run('leaderboard list --viewer-addresses @whale,0x0000000000000000000000000000000000000001', { env });
  await run('leaderboard list --viewer-addresses ext:a --viewer-addresses @whale', { env });
  expect(service.requests.map(({ url }) => url)).toEqual([
    `/v1/addresses/${wallet}/profile`,
    `/v2/leaderboard/ranking?address=${wallet}`,
    `/v2/leaderboard?viewerAddresses=${wallet}&viewerAddresses=0x0000000000000000000000000000000000000001`,
    `/v2/leaderboard?viewerAddresses=ext%3Aa&viewerAddresses=${wallet}`,
  ]);
});

test('an alias that is not saved is refused with the one that was meant', async () => {
  const service = await answering({});
  const env = { ...(await withAlias()), ...service.env };
  const near = '<identifier> @wahle: no such alias\nhint: Did you mean @whale?';
  expect(await run('profile get @wahle', { env })).toEqual(failure(2, near));
  expect(await run('profile get @proto', { env })).toEqual(failure(2, 'sotra alias set @proto <identifier>'));
  expect((await run('profile get @constructor', { env })).code).toBe(2);
  expect(service.requests).toEqual([]);
});

test('aliases are listed, replaced and removed', async () => {
  const env = await withAlias();
  await run('alias set me ext:42', { env });
  const [me, whale] = [
    { alias: '@me', identifier: 'ext:42' },
    { alias: '@whale', identifier: wallet },
  ];
  expect(await runJson('alias list', { env })).toEqual({ aliases: [me, whale] });
  expect((await run('alias set @me ext:43 --yes --json', { env })).out).toContain('"identifier": "ext:43"');
  await run('alias remove @me --yes', { env });
  expect((await run('alias list', { env })).out).toBe(`@whale\t${wallet}\n`);
  expect(await run('alias remove @wale', { env })).toEqual(failure(2, 'Did you mean @whale?'));
});

test.each([
  ['alias set whale nobody', '<identifier> nobody: must be a profile UUID'],
  ['alias set @a/b ext:1', '<name> @a/b: must be a name such as @whale'],
  [`alias set @ ${wallet}`, '<name> @: must be a name such as @whale'],
])('sotra %s is refused: %s', async (argv, message) => {
  expect(await run(argv)).toEqual(failure(2, message));
});
