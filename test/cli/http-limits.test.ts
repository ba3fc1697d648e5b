import { readFileSync } from 'node:fs';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { answering, failure, newUser, run, runJson, stub } from '../support/harness.ts';
import { isProof, some } from '../support/size.ts';

const board = '{"traders":[],"supply":123456789012345678901234567890.10,"id":9007199254740993}';

test.each<[name: string, encode: (bytes: Buffer) => Buffer]>([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
  ['identity', (bytes) => bytes],
])('an answer in %s is read, with numbers unchanged', async (encoding, encode) => {
  const service = await stub((_, response) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(encode(Buffer.from(board))),
  );
  const { code, out } = await run('leaderboard list --json', { env: service.env });
  expect([code, out.replaceAll(/\s/g, '')]).toEqual([0, board]);
});

test('an encoding that is wrong, cut off or unknown is exit 13; a webhook may have been registered all the same', async () => {
  const hook = 'https://d.example.com/hook';
  for (const [encoding, bytes, message] of [
    ['gzip', Buffer.from(board), 'sent gzip that cannot be decoded'],
    ['gzip', gzipSync(board).subarray(0, 30), 'sent gzip that cannot be decoded or is cut off'],
    ['br', Buffer.from('plain text'), 'sent br that cannot be decoded'],
    ['zstd', Buffer.from(board), 'in an unsupported encoding: zstd'],
  ] as const) {
    const service = await stub((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bytes));
    expect(await run('leaderboard list', { env: service.env })).toEqual(failure(13, message));
    const made: object[] = [];
    const hooks = await stub(({ method }, response) => {
      if (method === 'POST') made.push({ uid: 'w-0', destinationUrl: hook, secret: 'whsec_0' });
      if (method === 'POST') response.setHeader('content-encoding', encoding).end(bytes);
      else response.end(JSON.stringify(method === 'GET' ? made : {}));
    });
    const argv = `webhook register --url ${hook} --wallet-addresses ext:a --json`;
    const { code, out } = await run(argv, { env: hooks.env });
    expect([code, JSON.parse(out).uid, made.length]).toEqual([0, 'w-0', 1]);
  }
});

test.each([
  [503, 'gzip', '', 8, 3],
  [503, 'gzip', 'busy', 8, 3],
  [503, 'zstd', 'busy', 8, 3],
  [429, 'gzip', '', 7, 3],
  [429, 'br', 'slow down', 7, 3],
  [401, 'gzip', '', 4, 1],
  [404, 'gzip', '', 5, 1],
])(
  'HTTP %i in %s with the body %j keeps the exit code and the retries of its status',
  async (status, encoding, body, exitCode, requests) => {
    const service = await stub((_, response) => response.writeHead(status, { 'content-encoding': encoding }).end(body));
    const { code, out, err } = await run('leaderboard list --json', { env: service.env, skipWaits: true });
    expect([code, out, service.requests.length]).toEqual([exitCode, '', requests]);
    expect(JSON.parse(err).error.message).toContain(`HTTP ${status} from GET /v2/leaderboard`);
  },
);

test('an error whose body never ends or breaks off keeps its status', async () => {
  const service = await stub((_, response) => {
    response.writeHead(404, { 'content-length': '100' });
    response.write('{"error":', () => response.destroy());
  });
  expect(await run('leaderboard list', { env: service.env })).toEqual(failure(5, 'the explanation cannot be read'));
  expect(service.requests).toHaveLength(1);
  const large = await stub((_, response) => response.writeHead(409).end('x'.repeat(2000)));
  const refused = await run('leaderboard list', { env: large.env, maxAnswerBytes: 1024 });
  expect(refused).toEqual(failure(6, 'the answer is larger than 1 KB (HTTP 409'));
});

test.each<[status: number, headers: Record<string, string>, body?: Uint8Array]>([
  [200, {}],
  [202, {}],
  [204, { 'content-encoding': 'gzip' }],
  [205, {}],
  [200, { 'content-encoding': 'gzip' }],
  [200, { 'content-encoding': 'zstd' }],
  [200, { 'content-encoding': 'gzip' }, gzipSync('')],
])('an empty answer %i with the headers %j to PUT or DELETE means done', async (status, headers, body) => {
  const service = await stub((_, response) => response.writeHead(status, headers).end(body));
  const uid = '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e';
  for (const argv of [
    `webhook delete ${uid} --yes`,
    'follow remove ext:user-1 ext:user-2',
    'follow add ext:user-1 ext:user-2',
    `webhook add-addresses ${uid} --wallet-addresses ext:user-1`,
    'profile delete-name ext:user-1 --yes',
  ]) {
    const { code, err } = await run(`${argv} --json`, { env: service.env });
    expect([argv, code, err.includes('error')]).toEqual([argv, 0, false]);
  }
  expect(service.requests).toHaveLength(5);
});

test('an empty answer to a change gives one note and no table', async () => {
  const service = await stub((_, response) => response.end());
  const note = 'Done; the service sent no details.\n';
  for (const argv of [
    'follow add ext:user-1 ext:user-2',
    'follow remove ext:user-1 ext:user-2',
    'profile set-name ext:user-1 --name moon_cat',
    'profile delete-name ext:user-1 --yes',
  ])
    for (const [options, tty, out] of [
      ['', undefined, ''],
      ['', 100, ''],
      ['--strict', undefined, ''],
      ['--json', undefined, 'null\n'],
      ['--json --strict', undefined, 'null\n'],
    ] as const)
      expect([
        `${argv} ${options}`,
        await run(`${argv} ${options}`.trim(), { env: service.env, ...(tty && { tty }) }),
      ]).toEqual([`${argv} ${options}`, { code: 0, out, err: note }]);
});

test('an answer of null to a change is not empty, and does not fit', async () => {
  const service = await answering(null);
  const { code, err } = await run('follow add ext:user-1 ext:user-2', { env: service.env });
  expect([code, err]).toEqual([0, expect.stringContaining('expected object, found null')]);
  expect((await run('follow add ext:user-1 ext:user-2 --strict', { env: service.env })).code).toBe(13);
});

test('an error text of the service is cut after 500 characters', async () => {
  const service = await answering({ error: 'e'.repeat(3_000_000) }, 400);
  const message = `${'e'.repeat(500)}... (2999500 more characters) (HTTP 400 from GET /v2/leaderboard)`;
  expect(await run('leaderboard list', { env: service.env })).toEqual(failure(6, `error: ${message}\n`));
  const { err: typed } = await run('request GET /v2/leaderboard --json', { env: service.env });
  expect(typed.length).toBeLessThan(20_000);
});

test('an answer of more than 64 MB is refused, also when it is small until it is unpacked', async () => {
  const large = (megabytes: number) => JSON.stringify({ traders: [], pad: ' '.repeat(megabytes * 1024 ** 2) });
  for (const [headers, body, maxAnswerBytes, most] of [
    // Packing 64 MB takes seconds.
    ...(isProof ? [[{ 'content-encoding': 'gzip' }, gzipSync(large(64)), undefined, '64 MB'] as const] : []),
    [{ 'content-encoding': 'gzip' }, gzipSync(large(1)), 1024 ** 2, '1 MB'],
    [{ 'content-encoding': 'br' }, brotliCompressSync(large(1)), 1024 ** 2, '1 MB'],
    [{}, large(1), 1024 ** 2, '1 MB'],
  ] as const) {
    const service = await stub((_, response) => response.writeHead(200, headers).end(body));
    const limit = maxAnswerBytes === undefined ? {} : { maxAnswerBytes };
    const outcome = await run('leaderboard list', { env: service.env, ...limit });
    expect(outcome).toEqual(failure(13, `error: the answer is larger than ${most}\n`));
  }
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
    const refused = await run(`--yes request ${method} /v2/leaderboard`, { env: service.env });
    expect(refused).toEqual(
      failure(9, `hint: Check the base URL: a ${method} is not sent again to where it is redirected.`),
    );
  }
  expect(service.requests).toHaveLength(9);
});

test.each([
  ['to itself', () => '/v2/leaderboard', '/v2/leaderboard', 1],
  ['in a circle', (count: number) => `/p${count % 3}`, '/p0', 6],
  ['without an end', (count: number) => `/p${count}`, '/p6', 6],
])('redirects %s end with exit 9', async (_, findNext, last, asked) => {
  const service = await stub((_seen, response, count) => response.writeHead(302, { location: findNext(count) }).end());
  const message = `${service.url} redirects in a circle, or more than 5 times, at last to ${last}`;
  const refused = await run('leaderboard list', { env: service.env });
  expect(refused).toEqual(failure(9, `error: ${message}\nhint: Check the base URL; --verbose shows each redirect.`));
  expect(service.requests).toHaveLength(asked);
});

test('--timeout ends a call that trickles on, and one that would wait beyond it', async () => {
  const trickle = await stub((_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(timer));
  });
  const slow = await run('leaderboard list --timeout 300ms', { env: trickle.env });
  expect(slow).toEqual(failure(9, 'did not answer within 0.3 s\n'));
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

interface JsonCase {
  name: string;
  expect: 'accept' | 'reject' | 'either' | 'transform';
  base64: string;
}

test.each(['request GET /x --json', 'leaderboard list --json', 'leaderboard list'])(
  '%s with the JSONTestSuite as answers ends as each case says',
  async (argv) => {
    const cases: JsonCase[] = Object.values(
      JSON.parse(readFileSync('test/data/hostile/json/json_test_suite.json', 'utf8')),
    );
    expect(cases.length).toBe(165);
    let body = '';
    const service = await stub((_, response) => response.writeHead(200).end(Buffer.from(body, 'base64')));
    for (const { name, expect: verdict, base64 } of some(cases, argv.startsWith('request') ? 40 : 10)) {
      body = base64;
      const { code, out, err } = await run(argv, { env: service.env, tty: 80 });
      // A table needs the shape of the contract beside valid JSON.
      const asJson = argv.endsWith('--json');
      const allowed = verdict === 'reject' ? [13] : verdict === 'either' || !asJson ? [0, 13] : [0];
      expect([name, allowed]).toEqual([name, expect.arrayContaining([code])]);
      expect([name, err]).toEqual([name, expect.not.stringContaining('    at ')]);
      if (code === 0 && asJson) expect(() => JSON.parse(out)).not.toThrow();
      if (code !== 0) expect([name, out]).toEqual([name, '']);
    }
  },
);

test('chunks of an upload keep to the rate, even if waiting takes longer than --timeout', async () => {
  const wallets = Array.from({ length: 4500 }, (_, index) => `0x${String(index + 1).padStart(40, '0')}`).join(',');
  const uid = '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e';
  const argv = `webhook add-addresses ${uid} --wallet-addresses ${wallets} --rate 1/h --timeout 1m --concurrency 1 --quiet`;
  const service = await answering({ uid });
  const env = { ...newUser().env, ...service.env };
  expect(await run(argv, { env, skipWaits: true })).toMatchObject({ code: 0, err: '' });
  const calls: { atMs: number }[] = (await runJson('history', { env })).reverse();
  const hours = calls.map(({ atMs }) => Math.round((atMs - Number(calls[0]?.atMs)) / 36_000) / 100);
  expect(hours).toEqual([0, 1, 2, 3, 4]);
});
