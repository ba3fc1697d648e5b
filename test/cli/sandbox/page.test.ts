import { request } from 'node:http';
import { expect, test } from 'vitest';
import { failure, run } from '../../support/harness.ts';
import { openPageApi, sendRaw, sessionOf, startPage } from '../../support/served.ts';

test('ui shows any service, and a page calls endpoints that read alone', async () => {
  const { url } = await startPage('sandbox start --port 0 --ui');
  const { ui } = await startPage('ui', { SOTRA_BASE_URL: url, SOTRA_API_KEY: 'sandbox-key-b' });
  const page = await openPageApi(ui);
  expect((await page('list')).json.facts).toMatchObject({
    ...{ title: 'service', address: url, empty: 'No requests yet.', line: 'sotra leaderboard list' },
    ...{ curl: expect.stringContaining(`GET ${url}/v2/leaderboard --header`), canTest: false, hasService: true },
  });
  for (const endpoint of ['webhook.delete', 'sandbox.reset']) {
    const refused = { error: `endpoint ${endpoint}: must be one that reads`, code: 'usage' };
    expect((await page(`call?endpoint=${endpoint}`)).json).toEqual(refused);
  }
});

/** The answers of a page to its calls of endpoints. */
async function askPage(ui: string) {
  const page = await openPageApi(ui);
  return async (endpoint: string, input: object) =>
    (await page(`call?${new URLSearchParams({ endpoint, input: JSON.stringify(input) })}`)).json;
}

test('a page may give the inputs that are sent to the service, and none that opens, writes or shows what is on this machine', async () => {
  const { ui } = await startPage('sandbox start --port 0 --ui');
  const ask = await askPage(ui);
  for (const [endpoint, key] of [
    ['webhook.list', 'showSecrets'],
    ['profile.positions', 'pricesFile'],
    ['profile.get', 'chart'],
    ['leaderboard.list', 'chart'],
    ['feed.home', 'watch'],
    ['token.comments', 'all'],
  ] as const) {
    const error = expect.stringContaining(`${endpoint} has no input ${key}`);
    expect(await ask(endpoint, { [key]: '/etc/hostname' })).toEqual({ error, code: 'usage' });
  }
  expect(await ask('leaderboard.list', { limit: 1 })).toMatchObject({ data: { traders: [{}] } });
});

test('a call comes with the command that gives the same, and without the secret of a webhook', async () => {
  const { ui, env } = await startPage('sandbox start --port 0 --ui');
  const ask = await askPage(ui);
  const identifier = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
  const input = {
    identifier,
    status: 'closed',
    providedAddressesOnly: true,
    chains: ['base', 'hyperliquid'],
    limit: 1,
  };
  const flags = '--provided-addresses-only --chains base,hyperliquid --limit 1';
  expect(await ask('profile.positions', input)).toMatchObject({
    tables: [{ layout: 'table', rows: [expect.any(Array)] }],
    command: `sotra --sandbox profile positions ${identifier} closed ${flags}`,
  });
  await run('webhook register --url http://127.0.0.1:9/hook --wallet-addresses ext:one', { env });
  const webhooks = await ask('webhook.list', {});
  const data = [{ destinationUrl: 'http://127.0.0.1:9/hook', secret: '***' }];
  expect(webhooks).toMatchObject({ data, command: 'sotra --sandbox webhook list' });
});

test('sandbox start --cors lets the pages of these origins ask, and refuses what is no origin', async () => {
  const { url } = await startPage('sandbox start --port 0 --cors http://a.test --cors http://localhost:5173');
  const headers = { origin: 'http://localhost:5173', authorization: 'Bearer sandbox-key-a' };
  expect((await fetch(`${url}/v2/leaderboard`, { headers })).status).toBe(200);
  expect(await run('sandbox start --cors *')).toEqual(failure(2, '--cors *: must be the origin of pages'));
});

interface Attempt {
  method?: string;
  path?: string;
  headers?: Record<string, string | string[]>;
  body?: string;
}

/** The status of a request written by hand: no client sends such headers by itself. */
function statusOf(port: string, { method = 'GET', path = '/ui', headers = {}, body = '' }: Attempt) {
  return new Promise<number | undefined>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      resolve(answer.statusCode);
      answer.destroy();
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

test('attacks on the local server are refused, and its own page is answered, also through a forwarded port', async () => {
  const { ui } = await startPage('sandbox start --port 0 --ui');
  const { port, host, origin } = new URL(ui);
  const own = await sessionOf(ui);
  const json = { host, ...own, 'content-type': 'application/json' };
  const api = '/api/ui/list';
  const code = { method: 'POST', path: '/api/session' };
  const control = { method: 'POST', path: '/api/ui/send', body: '{"id":"req-1"}' };
  const attempts: Record<string, [number, Attempt]> = {
    'no session': [401, { path: api }],
    'a guessed session': [401, { path: api, headers: { host, 'x-sotra-session': 'A'.repeat(32) } }],
    'a cookie, as browsers send to every port': [
      401,
      { path: api, headers: { host, cookie: `sotra-${port}=${own['x-sotra-session']}` } },
    ],
    'a guessed code': [401, { ...code, headers: { ...json, origin }, body: `{"code":"${'A'.repeat(32)}"}` }],
    'the code once more': [
      401,
      { ...code, headers: { ...json, origin }, body: JSON.stringify({ code: new URL(ui).hash.slice(6) }) },
    ],
    "another origin's page with a code": [
      403,
      { ...code, headers: { ...json, origin: 'http://127.0.0.1:1' }, body: '{}' },
    ],
    'another host name (DNS rebinding)': [403, { headers: { ...own, host: `evil.example:${port}` } }],
    "another origin's page reads": [403, { path: api, headers: { host, ...own, origin: 'https://evil.example' } }],
    "another port's page reads": [403, { path: api, headers: { host, ...own, origin: 'http://127.0.0.1:1' } }],
    'a page in a frame or a form (null)': [403, { path: api, headers: { host, ...own, origin: 'null' } }],
    'an image or script of another site': [
      403,
      { path: api, headers: { host, ...own, 'sec-fetch-site': 'cross-site' } },
    ],
    "another origin's page posts": [403, { ...control, headers: { ...json, origin: 'https://evil.example' } }],
    'a post without an origin': [403, { ...control, headers: json }],
    'a post without the session': [401, { ...control, headers: { ...json, origin, 'x-sotra-session': '' } }],
    'a form': [415, { ...control, headers: { ...json, origin, 'content-type': 'text/plain' } }],
    'a preflight': [405, { method: 'OPTIONS', headers: { host, ...own, origin } }],
    'a huge body': [413, { ...control, headers: { ...json, origin }, body: 'a'.repeat(1_000_000) }],
    'a path out of the files': [404, { path: '/../../etc/passwd', headers: { host, ...own } }],
    'the same, percent-encoded': [404, { path: '/%2e%2e%2fetc%2fpasswd', headers: { host, ...own } }],
    'a route that no page has': [404, { ...control, path: '/api/ui/stop', headers: { ...json, origin } }],
    'a path of the service': [404, { ...control, path: '/api/ui/../v1/webhooks', headers: { ...json, origin } }],
    'a name of every object': [404, { path: '/api/ui/constructor', headers: { host, ...own } }],
    'its own page': [200, { path: api, headers: { host, ...own, origin } }],
    'its own page, by another host name': [200, { path: api, headers: { host: `localhost:${port}`, ...own } }],
    'its own page, through a port that ssh forwards': [
      200,
      { path: api, headers: { ...own, host: '127.0.0.1:8000', origin: 'http://127.0.0.1:8000' } },
    ],
  };
  const answered: Record<string, number | undefined> = {};
  for (const [name, [, attempt]] of Object.entries(attempts)) answered[name] = await statusOf(port, attempt);
  expect(answered).toEqual(Object.fromEntries(Object.entries(attempts).map(([name, [status]]) => [name, status])));
  const old = await sendRaw(origin, `GET /ui HTTP/1.0\r\nx-sotra-session: ${own['x-sotra-session']}\r\n\r\n`);
  const large = await sendRaw(origin, `GET / HTTP/1.1\r\nhost: ${host}\r\nx: ${'a'.repeat(64 * 1024)}\r\n\r\n`);
  expect([old.status, large.status]).toEqual([403, 431]);
});
