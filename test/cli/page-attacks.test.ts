import { request } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { sessionOf, startPage } from '../support/page.ts';

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

/** What is answered to bytes that are no whole request, up to the end of the connection. */
function answerTo(port: string, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer.slice(9, 12)));
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
    'a name that begins like ours': [403, { headers: { ...own, host: `127.0.0.1.evil.example:${port}` } }],
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
    'the address of another server': [403, { path: 'http://evil.example/ui', headers: { host, ...own } }],
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
  expect(await answerTo(port, `GET /ui HTTP/1.0\r\nx-sotra-session: ${own['x-sotra-session']}\r\n\r\n`)).toBe('403');
  expect(await answerTo(port, `GET / HTTP/1.1\r\nhost: ${host}\r\nx: ${'a'.repeat(64 * 1024)}\r\n\r\n`)).toBe('431');
});
