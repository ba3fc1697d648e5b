import { expect, onTestFinished, test } from 'vitest';
import { parseFault } from '../../../../src/sandbox/serve/fault.ts';
import { listen } from '../../../../src/sandbox/serve/serve.ts';
import type { IncomingRequest } from '../../../../src/sandbox/service/handler.ts';
import { failure, run } from '../../../support/harness.ts';

async function served(text: string) {
  const processed: string[] = [];
  const waits: number[] = [];
  const answer = async ({ method, target, body }: IncomingRequest) => {
    processed.push(`${method} ${target}`);
    await body();
    return { status: 200, headers: {}, text: '{"answer":"a long enough answer to be cut in the middle"}' };
  };
  const faults = [parseFault(text) ?? []].flat();
  const sleep = async (ms: number) => void waits.push(ms);
  const server = await listen(answer, 0, { faulty: { faults, sleep } });
  onTestFinished(() => server.close());
  const ask = async (path: string, method = 'GET') => {
    try {
      const answer = await fetch(server.url + path, { method, ...(method === 'GET' ? {} : { body: '{}' }) });
      const text = await answer.text();
      return { status: answer.status, text, retryAfter: answer.headers.get('retry-after') };
    } catch {
      return { status: 0, text: '', retryAfter: null };
    }
  };
  return { ask, processed, waits };
}

test.each<[fault: string, requests: [method: string, path: string, status: number][]]>([
  ['500:every=3:GET /v1/**', [200, 200, 500, 200, 200, 500].map((status) => ['GET', '/v1/x', status])],
  ['429:first=2:* /**', [429, 429, 200].map((status) => ['GET', '/v1/x', status])],
  [
    '503:p=1:PUT /v1/webhooks/*',
    [
      ['PUT', '/v1/webhooks/a', 503],
      ['GET', '/v1/webhooks/a', 200],
      ['PUT', '/v1/webhooks/a/b', 200],
    ],
  ],
])(
  '--fault %s fails the requests that it names, and those alone; a refused one is not processed',
  async (fault, requests) => {
    const { ask, processed } = await served(fault);
    for (const [method, path, status] of requests) {
      const answer = await ask(path, method);
      expect([path, answer.status, answer.retryAfter]).toEqual([
        path,
        status,
        [429, 503].includes(status) ? '1' : null,
      ]);
    }
    expect(processed).toHaveLength(requests.filter(([, , status]) => status === 200).length);
  },
);

test('p=0.3 fails about three in ten', async () => {
  const { ask } = await served('500:p=0.3:* /**');
  let failed = 0;
  for (let count = 0; count < 100; count += 1) if ((await ask('/v1/x')).status === 500) failed += 1;
  expect(failed).toBeGreaterThan(10);
  expect(failed).toBeLessThan(50);
});

test('drop closes the connection, by turns before and after the request was processed', async () => {
  const { ask, processed } = await served('drop:first=4:POST /**');
  for (let index = 0; index < 4; index += 1) expect((await ask('/v1/x', 'POST')).status).toBe(0);
  expect(processed).toHaveLength(2);
  expect((await ask('/v1/x', 'POST')).status).toBe(200);
});

test('truncate cuts the answer in the middle after processing; garbage is no JSON', async () => {
  const cut = await served('truncate:p=1:* /**');
  expect((await cut.ask('/v1/x')).status).toBe(0);
  expect(cut.processed).toHaveLength(1);
  const garbled = await served('garbage:p=1:* /**');
  const { status, text } = await garbled.ask('/v1/x');
  expect(status).toBe(200);
  expect(() => JSON.parse(text)).toThrow();
});

test('delay waits and then answers', async () => {
  const { ask, waits } = await served('delay=2s:every=1:* /**');
  expect((await ask('/v1/x')).status).toBe(200);
  expect(waits).toEqual([2000]);
});

test.each([
  '500',
  'boom:p=1:* /**',
  '200:p=1:* /**',
  '500:p=2:* /**',
  '500:every=0:* /**',
  'delay=long:p=1:* /**',
  '500:p=1:/v1',
  '500:p=1:GET /v1/feed?limit=3',
])('--fault %s is refused with its form', async (text) => {
  const outcome = await run(['sandbox', 'start', '--port', '0', '--fault', text]);
  expect(outcome).toMatchObject(failure(2, 'must be <status|drop|delay=2s|truncate|garbage>'));
});
