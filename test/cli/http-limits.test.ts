import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { answering, run, stub } from '../support/harness.ts';

const board = '{"traders":[],"supply":123456789012345678901234567890.10,"id":9007199254740993}';

const encodings: readonly [name: string, encode: (bytes: Buffer) => Buffer][] = [
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['identity', (bytes) => bytes],
];

test.each(encodings)('an answer in %s is read, numbers as they came', async (encoding, encode) => {
  const service = await stub((_, response) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(encode(Buffer.from(board))),
  );
  const { code, out } = await run('leaderboard list --json', { env: service.env });
  expect([code, out.replaceAll(/\s/g, '')]).toEqual([0, board]);
});

test('an encoding that is not what it says, cut off or unknown is exit 13', async () => {
  for (const [encoding, bytes, message] of [
    ['gzip', Buffer.from(board), 'with gzip that does not decode'],
    ['gzip', gzipSync(board).subarray(0, 30), 'with gzip that does not decode'],
    ['br', Buffer.from('plain text'), 'with br that does not decode'],
    ['zstd', Buffer.from(board), 'in an unknown encoding: zstd'],
  ] as const) {
    const service = await stub((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bytes));
    const { code, out, err } = await run('leaderboard list --json', { env: service.env });
    expect([code, out]).toEqual([13, '']);
    expect(JSON.parse(err).error.message).toContain(message);
  }
});

test('an answer of more than 64 MB is refused, also when it is small until it is unpacked', async () => {
  const large = JSON.stringify({ traders: [], pad: ' '.repeat(64 * 1024 ** 2) });
  for (const encode of [undefined, gzipSync, brotliCompressSync]) {
    const headers = encode === undefined ? {} : { 'content-encoding': encode === gzipSync ? 'gzip' : 'br' };
    const service = await stub((_, response) =>
      response.writeHead(200, headers).end(encode === undefined ? large : encode(large)),
    );
    const { code, out, err } = await run('leaderboard list --json', { env: service.env });
    expect([code, out]).toEqual([13, '']);
    expect(JSON.parse(err).error.message).toBe('the answer is larger than 64 MB');
  }
});

test.each([
  ['--max-body 1MB', '--max-body was removed\nhint: Omit it: an answer of more than 64 MB is refused.'],
  [
    '--max-time 2m',
    '--max-time was removed\nhint: --timeout bounds a call: its attempts, and the waits that the service',
  ],
  ['--max-wait=5m', '--max-wait was removed\nhint: --timeout bounds a call'],
  ['--timeout 2d', '--timeout 2d: must be a time from 1ms to 1d'],
  ['--timeout 5', '--timeout 5: must be a time from 1ms to 1d'],
])('%s is refused before anything is sent', async (flags, message) => {
  const service = await answering({ traders: [] });
  const { code, err } = await run(`leaderboard list ${flags}`, { env: service.env });
  expect(code).toBe(2);
  expect(err).toContain(message);
  expect(service.requests).toEqual([]);
});

test('a GET follows five redirects on the same origin, the key with them; PUT, POST and DELETE follow none', async () => {
  const statuses = [301, 302, 303, 307, 308];
  const service = await stub(({ method }, response, count) => {
    const status = method === 'GET' ? statuses[count - 1] : 307;
    if (status === undefined) response.end('{"traders":[]}');
    else response.writeHead(status, { location: count === 1 ? '/new/a?b=c' : `p${count}` }).end();
  });
  const { code, out } = await run('leaderboard list --chains base --json', { env: service.env });
  expect([code, JSON.parse(out)]).toEqual([0, { traders: [] }]);
  const paths = ['/v2/leaderboard?chains=base', '/new/a?b=c', '/new/p2', '/new/p3', '/new/p4', '/new/p5'];
  expect(service.requests.map(({ url }) => url)).toEqual(paths);
  expect(service.requests.map(({ headers }) => headers.authorization)).toEqual(paths.map(() => 'Bearer stub-key'));
  for (const method of ['PUT', 'POST', 'DELETE']) {
    const { code: refused } = await run(`request ${method} /v2/leaderboard`, { env: service.env });
    expect([method, refused]).toEqual([method, 9]);
  }
  expect(service.requests).toHaveLength(9);
});

test('a way in a circle ends, and so does one without an end', async () => {
  const ways = [() => '/v2/leaderboard', (count: number) => `/p${count % 3}`, (count: number) => `/p${count}`];
  for (const [turn, last, asked] of [
    [ways[0], '/v2/leaderboard', 1],
    [ways[1], '/p1', 4],
    [ways[2], '/p6', 6],
  ] as const) {
    const service = await stub((_, response, count) => response.writeHead(302, { location: turn?.(count) }).end());
    const { code, err } = await run('leaderboard list --json', { env: service.env });
    expect(code).toBe(9);
    expect(JSON.parse(err).error.message).toBe(`${service.url} redirects in a loop, last to ${last}`);
    expect(service.requests).toHaveLength(asked);
  }
});

test('--timeout ends a call that trickles on, and one that would wait beyond it', async () => {
  const trickle = await stub((_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  });
  const slow = await run('leaderboard list --json --timeout 300ms', { env: trickle.env });
  expect(slow.code).toBe(9);
  expect(JSON.parse(slow.err).error.message).toMatch(/timed out after 0\.3 s$/);
  expect(trickle.requests).toHaveLength(1);
  const busy = await stub((_, response) => response.writeHead(429, { 'retry-after': '90' }).end('{"error":"busy"}'));
  const askBusy = async (flags: string) => {
    const { code } = await run(`leaderboard list --json ${flags}`, { env: busy.env, skipWaits: true });
    return [code, busy.requests.splice(0).length];
  };
  expect(await askBusy('')).toEqual([7, 1]);
  expect(await askBusy('--timeout 90s')).toEqual([7, 1]);
  expect(await askBusy('--timeout 2m')).toEqual([7, 2]);
  expect(await askBusy('--timeout 10m')).toEqual([7, 3]);
});

test('the error that ends a call lists its attempts', async () => {
  const service = await stub((_, response, count) =>
    count === 2 ? response.destroy() : response.writeHead(503, { 'retry-after': '2' }).end('{"error":"busy"}'),
  );
  const { code, err } = await run('leaderboard list --json', { env: service.env, skipWaits: true });
  expect(code).toBe(8);
  const { error } = JSON.parse(err);
  expect(error.message).toBe('busy (HTTP 503 from GET /v2/leaderboard) (after 3 attempts)');
  expect(error.details.attempts).toEqual([
    { reason: 'busy (HTTP 503 from GET /v2/leaderboard)', waitedMs: 2000 },
    { reason: expect.stringContaining('other side closed'), waitedMs: 0 },
    { reason: 'busy (HTTP 503 from GET /v2/leaderboard)', waitedMs: null },
  ]);
});

test('what is odd but JSON is shown: another content type, a mark before it, a key twice, __proto__', async () => {
  const odd = '\ufeff{"traders":[],"a":1,"a":2,"__proto__":{"polluted":true},"n":1e400}';
  const service = await stub((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(odd));
  const { code, out } = await run('leaderboard list --json', { env: service.env });
  expect([code, out.replaceAll(/\s/g, '')]).toEqual([0, odd.slice(1)]);
  expect((await run('leaderboard list', { env: service.env, tty: 80 })).code).toBe(0);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test('an answer nested a hundred thousand deep ends as JSON or as exit 13, never as a fault of ours', async () => {
  const deep = `{"traders":[],"deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const service = await answering(deep);
  for (const argv of [
    'leaderboard list --json',
    'leaderboard list',
    'request GET /x',
    'leaderboard list --format csv',
  ]) {
    const { code, err } = await run(argv, { env: service.env, tty: 80 });
    expect([argv, [0, 13]]).toEqual([argv, expect.arrayContaining([code])]);
    expect(err).not.toContain('internal error');
  }
});

test('what works on an answer, and finds nothing of what the contract has, ends with 13 and says so', async () => {
  const { env } = await answering({ items: [] });
  const argv = 'leaderboard diff';
  const { code, out, err } = await run(argv, { env, tty: 80 });
  expect([code, out]).toEqual([13, '']);
  expect(err).toContain('the answer does not have the shape that this command works on');
  expect(err).toMatch(/^warning: GET \/v\d\/.* answered with an unexpected shape/);
});
