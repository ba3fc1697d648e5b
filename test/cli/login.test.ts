import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryFolder } from '../support/harness.ts';
import { serveSandbox } from '../support/served.ts';

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
