import { expect, test } from 'vitest';
import { hostileRequest, sendRaw } from '../../../support/hostile/requests.ts';
import { ask, serveSandbox } from '../../../support/served.ts';
import { size } from '../../../support/size.ts';

const refusals = [200, 400, 401, 403, 404, 405, 409, 413];

test('whatever a sender writes is answered, never with 500, and an error is an object with a sentence', async () => {
  const service = await serveSandbox({ kind: 'demo' });
  const host = new URL(service.url).host;
  for (let index = 0; index < size(150, 400); index += 1) {
    const text = hostileRequest(`hostile ${index}`, host);
    const { status, body } = await sendRaw(service.url, text);
    expect([text.slice(0, 300), status, refusals.includes(status)]).toEqual([text.slice(0, 300), status, true]);
    if (status !== 200 && !text.startsWith('HEAD')) expect(JSON.parse(body)).toEqual({ error: expect.any(String) });
  }
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  expect((await ask(service, 'GET', '/v2/leaderboard?limit=1')).status).toBe(200);
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
