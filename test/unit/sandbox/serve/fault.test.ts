import { expect, onTestFinished, test } from 'vitest';
import { parseFault } from '../../../../src/sandbox/serve/fault.ts';
import { listen } from '../../../../src/sandbox/serve/serve.ts';
import type { IncomingRequest } from '../../../../src/sandbox/service/handler.ts';
import { run } from '../../../support/harness.ts';

async function served(...texts: string[]) {
  const processed: string[] = [];
  const waits: number[] = [];
  const answer = async ({ method, target, body }: IncomingRequest) => {
    processed.push(`${method} ${target}`);
    await body();
    return { status: 200, headers: {}, text: '{"answer":"a long enough answer to be cut in the middle"}' };
  };
  const faults = texts.flatMap((text) => parseFault(text) ?? []);
  expect(faults).toHaveLength(texts.length);
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
  const statuses = async (count: number, path = '/v1/x', method = 'GET') => {
    const all: number[] = [];
    for (let index = 0; index < count; index += 1) all.push((await ask(path, method)).status);
    return all;
  };
  return { ask, statuses, processed, waits };
}

test('every=3 fails each third request, and a refused one is not processed', async () => {
  const { statuses, processed } = await served('500:every=3:GET /v1/**');
  expect(await statuses(6)).toEqual([200, 200, 500, 200, 200, 500]);
  expect(processed).toHaveLength(4);
});

test('first=2 fails the first two; 429 says when to come back', async () => {
  const { statuses, ask } = await served('429:first=2:* /**');
  expect(await ask('/v1/x')).toMatchObject({ status: 429, retryAfter: '1' });
  expect(await statuses(2)).toEqual([429, 200]);
});

test('method and path decide: * is one segment, ** any rest', async () => {
  const { statuses } = await served('503:p=1:PUT /v1/webhooks/*');
  expect(await statuses(1, '/v1/webhooks/a', 'PUT')).toEqual([503]);
  expect(await statuses(1, '/v1/webhooks/a')).toEqual([200]);
  expect(await statuses(1, '/v1/webhooks/a/b', 'PUT')).toEqual([200]);
});

test('p=0.3 fails about three in ten', async () => {
  const { statuses } = await served('500:p=0.3:* /**');
  const failed = (await statuses(100)).filter((status) => status === 500).length;
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
])('--fault %s is refused with its form', async (text) => {
  const { code, err } = await run(['sandbox', 'start', '--port', '0', '--fault', text]);
  expect(code).toBe(2);
  expect(err).toContain('must be <status|drop|delay=2s|truncate|garbage>');
});
