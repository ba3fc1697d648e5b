import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPort, run, stub, temporaryFolder } from '../support/harness.ts';
import { size } from '../support/size.ts';

/** When each request of a command line was sent, in hours of a clock that waiting moves. */
async function hoursOf(
  argv: string,
  answer: (count: number) => { status?: number; body: unknown },
  more: Record<string, string> = {},
) {
  const env = { SOTRA_DATA_DIR: join(temporaryFolder(), 'data'), ...more };
  const service = await stub((_, response, count) => {
    const { status = 200, body } = answer(count);
    response.writeHead(status).end(JSON.stringify(body));
  });
  const { code, err } = await run(argv, { env: { ...env, ...service.env }, skipWaits: true });
  const calls = JSON.parse((await run('history --limit 1000 --json', { env })).out).reverse();
  const hours = calls.map(({ atMs }: { atMs: number }) => Math.round((atMs - calls[0].atMs) / 36_000) / 100);
  return { code, err, hours, requests: service.requests.length };
}

test('pages are asked for at the rate', async () => {
  const pages = await hoursOf('request GET /v1/x?page=1 --paginate --rate 2/h', (count) => ({
    body: count < 4 ? [{ id: count }, { id: -count }] : [],
  }));
  expect(pages).toEqual({ code: 0, err: '', hours: [0, 0.5, 1, 1.5], requests: 4 });
});

test('chunks of an upload go out at the rate, also where waiting takes longer than --timeout allows a call', async () => {
  const wallets = Array.from({ length: 4500 }, (_, index) => `0x${String(index + 1).padStart(40, '0')}`).join(',');
  const uid = '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e';
  const argv = `webhook add-addresses ${uid} --wallet-addresses ${wallets} --rate 1/h --timeout 1m --concurrency 1 --quiet`;
  const upload = await hoursOf(argv, () => ({ body: { uid } }));
  expect(upload).toEqual({ code: 0, err: '', hours: [0, 1, 2, 3, 4], requests: 5 });
});

test('a request that is repeated takes its turn again', async () => {
  const repeated = await hoursOf('leaderboard list --rate 1/h --timeout 2m', (count) => ({
    status: count < 3 ? 503 : 200,
    body: { traders: [] },
  }));
  expect(repeated).toMatchObject({ code: 0, requests: 3 });
});

test('a rate that is none is refused', async () => {
  for (const rate of ['0/s', '5/d', '9000/s', '-1/s', 's/5']) {
    const { code, err } = await run(`--sandbox leaderboard list --rate=${rate}`);
    expect([code, err]).toEqual([
      2,
      expect.stringContaining(`--rate ${rate}: must be a rate such as 5/s, 300/m or 1000/h`),
    ]);
  }
});

/** When each request came to a server that takes its first connection late, in milliseconds. */
async function arrivals(argv: string, answer: (count: number) => unknown): Promise<number[]> {
  const cameMs: number[] = [];
  const http = createServer((request, response) => {
    cameMs.push(Date.now());
    request.resume().on('end', () => response.end(JSON.stringify(answer(cameMs.length))));
  });
  let connections = 0;
  const tcp = createTcpServer({ pauseOnConnect: true }, (socket) => {
    connections += 1;
    setTimeout(() => http.emit('connection', socket.resume()), connections === 1 ? 150 : 0);
  });
  const url = `http://127.0.0.1:${await openPort(tcp)}`;
  const env = { SOTRA_BASE_URL: url, SOTRA_API_KEY: 'stub-key', SOTRA_DATA_DIR: join(temporaryFolder(), 'data') };
  expect((await run(argv, { env })).code).toBe(0);
  return cameMs;
}

test('in no second does a server see more requests than the rate, one after the other or several at once', async () => {
  const requests = size(7, 11);
  const wallets = Array.from(
    { length: requests * 1000 },
    (_, index) => `0x${String(index + 1).padStart(40, '0')}`,
  ).join(',');
  const uid = '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e';
  const upload = `webhook add-addresses ${uid} --wallet-addresses ${wallets} --rate 5/s --concurrency 4 --quiet`;
  const came = await Promise.all([
    arrivals('request GET /v1/x?page=1 --paginate --rate 5/s', (id) => (id < requests ? [{ id }] : [])),
    arrivals(upload, () => ({ uid })),
  ]);
  for (const cameMs of came) {
    expect(cameMs).toHaveLength(requests);
    for (const [index, ms] of cameMs.slice(5).entries()) expect(ms - (cameMs[index] ?? 0)).toBeGreaterThanOrEqual(1000);
  }
});
