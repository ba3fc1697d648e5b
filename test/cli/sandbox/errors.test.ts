import { expect, test } from 'vitest';
import { openSocket } from '../../support/harness.ts';
import { ask, type SandboxServer, sendRaw, serveSandbox } from '../../support/served.ts';

const cat = '0x00000000000000000000000000000000000000c1';
const nobody = '11111111-2222-4333-8444-555555555555';

test.each<[field: string, method: string, path: string, body?: string]>([
  ['limit', 'GET', '/v2/leaderboard?limit=999'],
  ['limit is given 2 times', 'GET', '/v2/leaderboard?limit=1&limit=2'],
  ['timeframe', 'GET', '/v2/leaderboard?timeframe=8d'],
  ['chain', 'GET', `/v1/tokens/narnia/${cat}/positions/open`],
  ['identifier', 'GET', '/v1/addresses/not-an-address/profile'],
  ['destinationUrl', 'POST', '/v1/webhooks/feed', `{"destinationUrl":"ftp://x","walletAddresses":["${cat}"]}`],
  ['transactionHash', 'POST', '/v1/swap-comments', '{}'],
  ['name', 'PUT', `/v1/profiles/${cat}/name`, '{"name":7}'],
  ['avatarUrl', 'PUT', `/v1/profiles/${cat}/name`, '{"name":"moon_cat","avatarUrl":"x"}'],
  ['avatarUrl', 'PUT', `/v1/profiles/${cat}/name`, '{"avatarUrl":"https://a.example/c.png"}'],
  ['avatarUrl', 'PUT', `/v1/profiles/${cat}/name`, '{"name":null,"avatarUrl":"https://a.example/c.png"}'],
  ['body', 'PUT', `/v1/profiles/${cat}/name`, '{"name":'],
  ['body must be a JSON object', 'PUT', `/v1/profiles/${cat}/name`, '[]'],
  ['targets', 'PUT', `/v1/addresses/${cat}/follow`, '{"targets":[]}'],
  ['targets is required: a list of text', 'PUT', `/v1/addresses/${cat}/follow`, '{}'],
  ['avatarUrl "x{80}"[.]+: must', 'PUT', `/v1/profiles/${cat}/name`, `{"name":"abc","avatarUrl":"${'x'.repeat(99)}"}`],
  ['targets', 'PUT', `/v1/addresses/${cat}/follow`, `{"targets":["ext:a","${cat}"]}`],
  ['identifier', 'GET', '/v1/feed/actor'],
  ['olderThan and newerThan', 'GET', `/v1/feed/actor?identifier=${cat}&olderThan=a&newerThan=b`],
  ['entries', 'POST', '/v1/addresses/follow/bulk', '{}'],
  ['entries .*\\[0\\].addressOrUid', 'POST', '/v1/addresses/follow/bulk', '[{"targets":["ext:a"]}]'],
  ['entries .*targets "0x1', 'POST', '/v1/addresses/follow/bulk', '[{"addressOrUid":"ext:a","targets":["0x1"]}]'],
  ['cursor', 'GET', `/v1/addresses/${cat}/followers?cursor=MTIzOmFi`],
])('a %s that the document does not allow is 400 by its name: %s %s', async (field, method, path, body) => {
  const answer = await ask(await serveSandbox({ kind: 'empty' }), method, path, body === undefined ? {} : { body });
  expect(answer).toEqual({ status: 400, body: { error: expect.stringMatching(new RegExp(`^${field}\\b`)) } });
});

test('a request without a key, and with one that nobody knows, is 401', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const missing = { status: 401, body: { error: 'missing API key: send Authorization: Bearer <key>' } };
  const unknown = { status: 401, body: { error: 'unknown API key' } };
  expect(await ask(service, 'GET', '/v2/leaderboard', { key: null })).toEqual(missing);
  expect(await ask(service, 'GET', '/v2/leaderboard', { key: 'guess' })).toEqual(unknown);
  // These sections need no key, and an answer that is kept is not for a header that is wrong.
  expect((await ask(service, 'GET', '/v1/leaderboard', { key: null })).status).toBe(200);
  const odd = await fetch(`${service.url}/v1/leaderboard`, { headers: { authorization: 'undefined' } });
  expect({ status: odd.status, body: await odd.json() }).toEqual(missing);
  expect(await ask(service, 'GET', '/v1/leaderboard', { key: 'guess' })).toEqual(unknown);
});

test.each<[method: string, path: string, body?: string]>([
  ['GET', `/v1/addresses/${nobody}/profile`],
  ['PUT', `/v1/addresses/${cat}/follow`, `{"targets":["${nobody}"]}`],
  ['PUT', `/v1/profiles/${nobody}/name`, '{"name":"moon_cat"}'],
  ['DELETE', `/v1/profiles/${nobody}/name`],
  ['GET', `/v1/position/${nobody}`],
  ['GET', `/v1/feed/actor?identifier=${nobody}`],
  ['POST', `/v1/swap-comment/${nobody}/copyswap`, `{"tokenAddress":"${cat}","chain":"base","actorAddress":"${cat}"}`],
  ['PUT', `/v1/webhooks/feed/${nobody}`, `{"walletAddresses":["${cat}"]}`],
])('%s %s is 404', async (method, path, body) => {
  const answer = await ask(await serveSandbox({ kind: 'empty' }), method, path, body === undefined ? {} : { body });
  expect(answer.status).toBe(404);
});

test.each([
  ['a head without an end', 'GET / HTTP/1.1\r\nhost: localhost\r\n', 400],
  ['no HTTP at all', '\u0016\u0003\u0001\u0002\u0000', 400],
  ['a header of 20 kB', `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ['a query of 20 kB', `GET /?${'x'.repeat(20_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`, 431],
])('%s is refused, and the sandbox goes on', async (_, text, status) => {
  const service = await serveSandbox({ kind: 'empty' });
  const answer = await sendRaw(service.url, text);
  expect(answer.status).toBe(status);
  expect(Object.keys(JSON.parse(answer.body))).toEqual(['error']);
  expect((await ask(service, 'GET', '/v2/leaderboard')).status).toBe(200);
});

test('a chain that is given twice counts once', async () => {
  const nowMs = Date.UTC(2026, 10, 20);
  const service = await serveSandbox({ now: () => nowMs });
  const trader = '0x143cf5cccbc8447504a99413dec7ea93ec228432';
  for (const path of [
    '/v2/leaderboard?limit=5&chains=base',
    `/v2/leaderboard/ranking?address=${trader}&chains=base`,
    '/v2/leaderboard/copytraded?chains=base',
    `/v1/addresses/${trader}/positions/open?chains=base`,
    `/v1/feed/actor?address=${trader}&chains=base`,
  ]) {
    const once = await ask(service, 'GET', path);
    const twice = await ask(service, 'GET', `${path}&chains=base`);
    expect([path, once.status, twice]).toEqual([path, 200, once]);
  }
});

const key = 'Authorization: Bearer sandbox-key-a';
const close = 'Connection: close';

/** Gets what is at a target from a sandbox, with these Host headers. */
const get = (service: SandboxServer, target: string, ...hosts: string[]) =>
  raw(service, [`GET ${target} HTTP/1.1`, ...hosts.map((host) => `Host: ${host}`), key, close]);

/** Sends bytes as they are to a sandbox and gives all that comes back. */
async function raw(service: SandboxServer, lines: readonly string[], body: Iterable<string | Buffer> = []) {
  const { got, socket, ended } = openSocket(service.url, `${lines.join('\r\n')}\r\n\r\n`);
  for (const piece of body) {
    if (socket.destroyed) break;
    if (!socket.write(piece)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), ended]);
  }
  await ended;
  return got.text;
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
const path = '/v2/leaderboard';

test.each(['localhost', 'LOCALHOST:PORT', '127.0.0.1', '127.255.0.9', '[::1]', '[::1]:PORT'])(
  'a request for the host %s is local',
  async (host) => {
    const service = await serveSandbox({ kind: 'empty' });
    const answer = await get(service, path, host.replace('PORT', new URL(service.url).port));
    expect([statusOf(answer), answer]).toEqual([200, expect.stringContaining('{"traders":[]}')]);
  },
);

test.each([
  'evil.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '0.0.0.0',
  '[fe80::1]',
  '2130706433',
  '',
  'evil.example#localhost',
  'localhost@evil.example',
  '[::1].evil.example',
  'localhost:PORT:80',
])('a request to Host %j is not, and gets 403 whatever it asks', async (host) => {
  const service = await serveSandbox({ kind: 'empty' });
  const foreign = `Host: ${host.replace('PORT', new URL(service.url).port)}`;
  for (const line of [`GET ${path} HTTP/1.1`, 'POST /_sandbox/stop HTTP/1.1', 'OPTIONS / HTTP/1.1']) {
    const answer = await raw(service, [line, foreign, key, close]);
    expect([line, statusOf(answer)]).toEqual([line, 403]);
    expect(answer).toContain('{"error":"Host header: must name this machine"}');
    expect(answer.toLowerCase()).not.toContain('access-control');
  }
});

test('a request whose target holds an address is answered where both that and the Host header are this machine', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const { host } = new URL(service.url);
  const ask = async (target: string, named: string) => statusOf(await get(service, target, named));
  expect(await ask(`http://${host}${path}`, host)).toBe(200);
  expect(await ask(`http://evil.example${path}`, 'evil.example')).toBe(403);
  expect(await ask(`http://evil.example${path}`, host)).toBe(403);
  expect(await ask(`http://${host}${path}`, 'evil.example')).toBe(403);
});

test('a request without a Host header, or with two of them, gets no answer of the sandbox', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const { host } = new URL(service.url);
  expect(statusOf(await raw(service, [`GET ${path} HTTP/1.0`, key]))).toBe(403);
  expect(statusOf(await get(service, path))).toBe(400);
  for (const answer of [await get(service, path, host, 'evil.example'), await get(service, path, 'evil.example', host)])
    expect([statusOf(answer), answer]).toEqual([403, expect.not.stringContaining('traders')]);
});

const megabyte = 1024 * 1024;
const name = '/v1/profiles/0x00000000000000000000000000000000000000c1/name';

/** A JSON body of so many bytes. */
function bodyOf(bytes: number): Buffer {
  const [head, tail] = ['{"name":"', '"}'];
  return Buffer.from(head + 'x'.repeat(bytes - head.length - tail.length) + tail);
}

function* chunked(body: Buffer): Generator<Buffer | string> {
  for (let at = 0; at < body.length; at += 65_536) {
    const piece = body.subarray(at, at + 65_536);
    yield `${piece.length.toString(16)}\r\n`;
    yield piece;
    yield '\r\n';
  }
  yield '0\r\n\r\n';
}

test('a body of 5 MB is read, one of a byte more is 413, by its length and in chunks', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const { host } = new URL(service.url);
  const head = [`PUT ${name} HTTP/1.1`, `Host: ${host}`, key, close, 'Content-Type: application/json'];
  const sized = async (bytes: number) => raw(service, [...head, `Content-Length: ${bytes}`], [bodyOf(bytes)]);
  const inChunks = async (bytes: number) =>
    raw(service, [...head, 'Transfer-Encoding: chunked'], chunked(bodyOf(bytes)));
  for (const send of [sized, inChunks]) {
    const taken = await send(5 * megabyte);
    expect(statusOf(taken)).toBe(400);
    expect(taken).toContain('"error":"name');
    expect(taken.length).toBeLessThan(megabyte);
    const refused = await send(5 * megabyte + 1);
    expect(statusOf(refused)).toBe(413);
    expect(refused).toContain('{"error":"body is larger than 5 MB"}');
  }
  const liar = await raw(service, [...head, `Content-Length: ${5000 * megabyte}`]);
  expect(statusOf(liar)).toBe(413);
  expect((await fetch(service.url + path, { headers: { authorization: 'Bearer sandbox-key-a' } })).status).toBe(200);
});
