import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type SandboxServer, serveSandbox } from '../support/served.ts';

const key = 'Authorization: Bearer sandbox-key-a';
const close = 'Connection: close';

/** Sends bytes as they are to a sandbox and gives all that comes back. */
async function raw(
  service: SandboxServer,
  lines: readonly string[],
  body: Iterable<string | Buffer> = [],
): Promise<string> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  // A server that refuses may hang up on what is still being sent.
  socket.on('error', () => undefined);
  const ended = new Promise((resolve) => socket.on('close', resolve));
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  for (const piece of body) {
    if (socket.destroyed) break;
    if (!socket.write(piece)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), ended]);
  }
  await ended;
  return Buffer.concat(chunks).toString();
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
const path = '/v2/leaderboard';

test.each([
  'localhost',
  'localhost:PORT',
  'LOCALHOST:PORT',
  'LocalHost',
  '127.0.0.1',
  '127.0.0.1:PORT',
  '127.255.0.9',
  '[::1]',
  '[::1]:PORT',
])('a request to Host %s is of this machine', async (host) => {
  const service = await serveSandbox({ kind: 'empty' });
  const own = `Host: ${host.replace('PORT', new URL(service.url).port)}`;
  const answer = await raw(service, [`GET ${path} HTTP/1.1`, own, key, close]);
  expect([statusOf(answer), answer.split('\r\n\r\n')[1]]).toEqual([200, expect.stringContaining('{"traders":[]}')]);
});

test.each([
  'evil.example',
  'evil.example:PORT',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '127.0.0.1.nip.io:PORT',
  '10.0.0.1',
  '0.0.0.0',
  '[fe80::1]',
  '2130706433',
  '',
])('a request to Host %j is not, and gets 403 whatever it asks', async (host) => {
  const service = await serveSandbox({ kind: 'empty' });
  const foreign = `Host: ${host.replace('PORT', new URL(service.url).port)}`;
  for (const line of [`GET ${path} HTTP/1.1`, 'POST /_sandbox/stop HTTP/1.1', 'OPTIONS / HTTP/1.1']) {
    const answer = await raw(service, [line, foreign, key, close]);
    expect([line, statusOf(answer)]).toEqual([line, 403]);
    expect(answer).toContain('{"error":"Host header: only this machine may ask"}');
    expect(answer.toLowerCase()).not.toContain('access-control');
  }
});

test.each(['evil.example#localhost', 'localhost@evil.example', '[::1].evil.example', 'localhost:PORT:80'])(
  'a request to Host %j, which is none, gets 400',
  async (host) => {
    const service = await serveSandbox({ kind: 'empty' });
    const own = host.replace('PORT', new URL(service.url).port);
    const answer = await raw(service, [`GET ${path} HTTP/1.1`, `Host: ${own}`, key, close]);
    expect(statusOf(answer)).toBe(400);
    expect(answer).not.toContain('traders');
  },
);

test('a request whose target holds an address is answered where both that and the Host header are this machine', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const { host } = new URL(service.url);
  const ask = async (target: string, named: string) =>
    statusOf(await raw(service, [`GET ${target} HTTP/1.1`, `Host: ${named}`, key, close]));
  expect(await ask(`http://${host}${path}`, host)).toBe(200);
  expect(await ask(`http://evil.example${path}`, 'evil.example')).toBe(403);
  expect(await ask(`http://evil.example${path}`, host)).toBe(403);
  expect(await ask(`http://${host}${path}`, 'evil.example')).toBe(403);
});

test('a request without a Host header, or with two of them, gets no answer of the sandbox', async () => {
  const service = await serveSandbox({ kind: 'empty' });
  const { host } = new URL(service.url);
  expect(statusOf(await raw(service, [`GET ${path} HTTP/1.0`, key]))).toBe(403);
  expect(statusOf(await raw(service, [`GET ${path} HTTP/1.1`, key, close]))).toBe(400);
  for (const two of [
    [host, 'evil.example'],
    ['evil.example', host],
  ]) {
    const answer = await raw(service, [`GET ${path} HTTP/1.1`, ...two.map((each) => `Host: ${each}`), key, close]);
    expect([two[0], statusOf(answer)]).toEqual([two[0], 403]);
    expect(answer).not.toContain('traders');
  }
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
