import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { answering, run, stub, temporaryFolder } from '../support/harness.ts';

/** All that the history in a data folder keeps. */
function readLog(folder: string): string {
  const log = join(folder, 'history');
  return readdirSync(log)
    .map((name) => readFileSync(join(log, name), 'utf8'))
    .join('');
}

const key = 'Zx9/echo+key-4711';

/** The key as a service, a proxy or a page of an error repeats it: as it is, and as JSON and addresses escape it. */
const spellings = ['Zx9/echo+key-4711', 'Zx9\\/echo+key-4711', 'Zx9%2Fecho%2Bkey-4711'];

test.each([400, 401, 404, 429, 500, 502])('a %i that echoes the key is shown without it', async (status) => {
  for (const spelled of spellings) {
    const body = `{"error":"you sent Bearer ${spelled} to us"}`;
    const service = await stub((_, response) => {
      response.writeHead(status, {
        'x-echo': `Bearer ${spelled}`,
        'x-request-id': spelled,
        'content-type': 'text/html',
      });
      response.end(body);
    });
    const folder = temporaryFolder();
    const env = { ...service.env, SOTRA_API_KEY: key, SOTRA_DATA_DIR: folder };
    const words = ['leaderboard', 'list', '--verbose', '--retries', '1'];
    const { err, out } = await run(words, { env, skipWaits: true });
    expect(err).toMatch(/^error: you sent Bearer .*\*\*\*.* to us \(HTTP/m);
    expect(err).toMatch(/^< x-echo: Bearer .*\*\*\*/m);
    for (const text of [out, err, readLog(folder)]) expect(text).not.toContain(spelled);
    const { err: json } = await run(['leaderboard', 'list', '--json'], { env, skipWaits: true });
    expect(json).not.toContain(spelled);
    expect(JSON.parse(json).error.requestId).toMatch(/\*\*\*/);
  }
});

test('an answer that is no JSON is quoted and written down without the key', async () => {
  const env = { SOTRA_API_KEY: key };
  for (const told of spellings.map((each) => `<pre>Bearer ${each}</pre>`)) {
    const service = await answering(told);
    const folder = temporaryFolder();
    const argv = 'leaderboard list --verbose';
    const { code, out, err } = await run(argv, { env: { ...service.env, ...env, SOTRA_DATA_DIR: folder } });
    expect([told, code, err.match(/is not JSON: (.*)/)?.[1]]).toEqual([told, 13, '"<pre>Bearer ***</pre>"']);
    const kept = readLog(folder);
    expect(kept).toContain('Bearer ***');
    for (const text of [out, err, kept]) for (const spelled of spellings) expect(text).not.toContain(spelled);
  }
});

test('an answer that holds the key is shown without it, and is still the JSON it was', async () => {
  const answer = { traders: [], echo: { authorization: `Bearer ${key}` }, note: 'Zx9' };
  const service = await stub((_, response) => {
    response.writeHead(200, { 'x-echo': key });
    response.end(JSON.stringify(answer).replaceAll('/', '\\/'));
  });
  const env = { ...service.env, SOTRA_API_KEY: key };
  const { out, code } = await run('request GET /v2/leaderboard', { env });
  expect([code, JSON.parse(out)]).toEqual([0, { traders: [], echo: { authorization: 'Bearer ***' }, note: 'Zx9' }]);
});

test('a key of digits leaves numbers alone, and one of fewer than eight characters is none', async () => {
  const service = await answering({ total: 1234567890, word: 'latest' });
  for (const short of ['12345678', 'test']) {
    const { out } = await run('request GET /x', { env: { ...service.env, SOTRA_API_KEY: short } });
    expect(JSON.parse(out)).toEqual({ total: 1234567890, word: 'latest' });
  }
});

test('a redirect with the key in its address is followed, and shown without it', async () => {
  const service = await stub(({ url }, response) => {
    if (url.includes('k=')) response.writeHead(404).end('{"error":"gone"}');
    else response.writeHead(302, { location: `${url}?k=${key}` }).end();
  });
  const { err } = await run('request GET /x --verbose', { env: { ...service.env, SOTRA_API_KEY: key } });
  expect(service.requests.map(({ url }) => url)).toEqual(['/x', `/x?k=${key}`]);
  expect(err).toContain('?k=***');
  expect(err).not.toContain(key);
});

const webhook = '[{"destinationUrl":"https://example.com/hook","uid":"u","secret":"whsec_abcdefghijklmnop"}]';

test.each([
  ['cut off', 200, webhook.slice(0, -6)],
  ['in a page', 200, `<pre>${webhook}</pre>`],
  ['as an error', 500, webhook],
  ['in an error', 400, JSON.stringify({ error: webhook })],
])("an error answer does not show a webhook's secret: %s", async (_, status, body) => {
  const service = await answering(body, status);
  const { err, code } = await run('webhook list --verbose', { env: service.env });
  expect(code).toBeGreaterThan(5);
  expect(err).toContain('***');
  expect(err).not.toContain('whsec_abcd');
});

test('damaged settings are reported without their contents', async () => {
  const folder = temporaryFolder();
  for (const text of [`{"contexts":{"a":{"apiKey":"${key}"}}`, `{"contexts":{"a":{"apiKey":${key}}}}`, key]) {
    writeFileSync(join(folder, 'config.json'), text);
    const { code, err } = await run('context list --verbose', { env: { SOTRA_CONFIG_DIR: folder } });
    expect([code, err.includes('it is not JSON')]).toEqual([3, true]);
    expect(err).not.toMatch(/Zx9|4711/);
  }
});

test("the sandbox's database, which holds the secrets of webhooks, is its owner's alone wherever it lies", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sotra-open-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { code } = await run(['sandbox', 'reset', '--empty', '--db', join(folder, 'own.db'), '--yes']);
  expect([code, (statSync(join(folder, 'own.db')).mode & 0o777).toString(8)]).toEqual([0, '600']);
});
