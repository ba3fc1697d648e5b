import { expect, test } from 'vitest';
import { listChoices } from '../../src/commands/read-input.ts';
import { answering, failure, newUser, run, stub } from '../support/harness.ts';
import { outlines } from '../support/outlines.ts';
import { size } from '../support/size.ts';

const profile = 'profile get ext:user-1';

test('a rate limit longer than a call waits says how long, and which flag allows it', async () => {
  const service = await answering({ error: 'slow down' }, 429, { 'retry-after': '3600' });
  const limited = await run(profile, { env: service.env });
  const hint = 'The service asks to wait 3600 s, and a call waits at most 60 s: --timeout 3660s waits for it.';
  expect(limited).toEqual(failure(7, hint));
  expect(limited.err).not.toContain('--retries');
  expect((await run(`${profile} --json`, { env: service.env })).err).toContain('"retryAfterSec":3600');
  const waited = await run(`${profile} --json --timeout 1d`, { env: service.env, skipWaits: true });
  expect(JSON.parse(waited.err)).toMatchObject({ error: { details: { attempts: [{ waitedMs: 3_600_000 }, {}, {}] } } });
});

test('a refused key is named by its last four characters and its source', async () => {
  const service = await answering({ error: 'no' }, 401);
  const env = { ...service.env, SOTRA_API_KEY: 'partner-key-wxyz' };
  const hint = 'The key ...wxyz from SOTRA_API_KEY was sent and refused';
  expect((await run(profile, { env })).err).toContain(hint);
  const { env: config } = newUser({ contexts: { staging: { baseUrl: service.url, apiKey: 'stored-key-abcd' } } });
  const stored = await run(`${profile} --context staging`, { env: config });
  expect(stored).toEqual(
    failure(4, 'The key ...abcd from context staging, kept in the settings file was sent and refused'),
  );
});

test('without a key for a base URL the hint is for that address, and not for a context of another', async () => {
  const { env } = newUser({ current: 'clicker' });
  const other = await run(profile, { env: { ...env, SOTRA_BASE_URL: 'http://127.0.0.1:9' } });
  expect(other).toEqual(failure(4, 'sotra auth login --context <name> --base-url http://127.0.0.1:9.'));
  expect(other.err).not.toContain('clicker');
  expect(await run(profile, { env })).toEqual(failure(4, 'sotra auth login --context clicker.'));
});

test('a base URL that ends in /v1 is named if a request to it fails', async () => {
  const missing = await answering({ error: 'no route' }, 404);
  const page = await answering('<h1>Welcome</h1>');
  for (const [{ env, url }, code] of [[missing, 5] as const, [page, 13] as const]) {
    const hint = `The base URL ends in /v1, which the paths already begin with: --base-url ${url}.`;
    expect(await run(profile, { env: { ...env, SOTRA_BASE_URL: `${url}/v1` } })).toEqual(failure(code, hint));
    expect((await run(profile, { env })).err).not.toContain('/v1, which');
  }
  const doctor = await run('doctor', { env: { ...missing.env, SOTRA_BASE_URL: `${missing.url}/v2` } });
  expect(doctor.out).toContain('The base URL ends in /v2');
});

test.each([
  'comment copy 2f991d88-4e6a-54f7-b130-a9788a9a06ab --token ETH --actor-address 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
  'request POST /v1/x',
  'request PATCH /v1/x',
])('a write whose answer is lost may have arrived, and is sent once: %s', async (argv) => {
  const service = await stub((_, response) => response.destroy());
  const hint = 'hint: It may have arrived: check what the service has before you send it again.';
  expect(await run(argv, { env: service.env })).toEqual(failure(9, hint));
  expect(service.requests).toHaveLength(1);
  expect((await run('request PUT /v1/x --retries 0', { env: service.env })).err).not.toContain('may have arrived');
});

test('https asked of a port without TLS hints at http, in our words', async () => {
  const service = await answering({});
  const https = service.url.replace('http:', 'https:');
  const { err } = await run(`${profile} --verbose`, { env: { ...service.env, SOTRA_BASE_URL: https } });
  expect(err).toContain(`Try ${service.url}`);
  expect(err).not.toMatch(/SSL routines|openssl|\.c:\d/i);
});

test('a failing request shows what the service answered', async () => {
  const service = await answering('{"problem":{"field":"\u007flimit"},\n"big":12345678901234567890}', 422);
  const shown = 'The service answered:\n{"problem":{"field":"limit"},\n"big":12345678901234567890}\n';
  expect(await run('request GET /v1/x', { env: service.env })).toEqual(failure(6, shown));
  const json = await run('request GET /v1/y --json', { env: service.env });
  expect(JSON.parse(json.err)).toMatchObject({ error: { body: { problem: {} } } });
  expect((await run(profile, { env: service.env })).err).not.toContain('The service answered');
  const page = await answering('<h1>no JSON</h1>');
  const other = await run('request GET /v1/x --json', { env: page.env });
  expect(JSON.parse(other.err)).toMatchObject({ error: { code: 'bad-answer', body: '<h1>no JSON</h1>' } });
});

test.each(['.', '..', '%2e%2E', '../x', 'a/..', 'a\\..\\b', 'x%2f..', '\t..', '.\n.', ''])(
  'no command accepts %j as a part of a path',
  async (value) => {
    const service = await answering({});
    const parts = outlines.flatMap((outline) =>
      outline.fields
        .filter(({ positional, location }) => positional && location !== 'local')
        .map((field) => ({ outline, field })),
    );
    expect(parts.length).toBeGreaterThan(15);
    for (const { outline, field } of parts) {
      const values = outline.fields
        .filter(({ positional }) => positional)
        .map((each) => (each === field ? value : (listChoices(each)[0] ?? 'x')));
      const required = outline.fields
        .filter(({ positional, kind }) => !positional && !kind.optional)
        .flatMap((each) => [`--${each.flag}`, listChoices(each)[0] ?? 'x']);
      const { code, err } = await run([...outline.words, ...values, ...required, '--yes'], { env: service.env });
      expect([outline.words, code]).toEqual([outline.words, 2]);
      expect(err).toMatch(/^error: <[\w.-]+>|are required|is required/);
    }
    expect(service.requests).toEqual([]);
  },
);

test('a query may hold dots, and an id that only begins with them is one', async () => {
  const service = await answering({});
  await run('request GET /v1/x?y=../z', { env: service.env });
  await run('webhook validate ..a', { env: service.env });
  expect(service.requests.map(({ url }) => url)).toEqual(['/v1/x?y=../z', '/v1/webhooks/feed/..a/validate']);
});

test('dots that an address has once its tabs and line ends are dropped are refused too', async () => {
  const service = await answering({});
  for (const dots of ['..\n', '\t..', '.\r\n.', '.. ', '.\t?x', '..\n#x'])
    expect((await run(['request', 'DELETE', `/v1/webhooks/feed/${dots}`, '--yes'], { env: service.env })).code).toBe(2);
  expect(service.requests).toEqual([]);
});

const deep = '['.repeat(size(1_000_000, 20_000_000));

test.each([
  ['request GET /v1/x', 200, 13],
  ['request GET /v1/x --paginate --format ndjson', 200, 13],
  ['feed actor ext:a --all --format ndjson', 200, 13],
  [profile, 200, 13],
  [profile, 400, 6],
])('an answer nested by the million is reported in time: %s (%i)', async (argv, status, exitCode) => {
  const service = await answering(deep, status);
  const { code, out, err } = await run(argv, { env: service.env });
  expect([code, out]).toEqual([exitCode, '']);
  if (status === 200) expect(err).toContain('the service answered 200 with JSON nested more than 512 levels deep');
  expect(err.length).toBeLessThan(30_000);
});
