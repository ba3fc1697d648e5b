import { expect, test } from 'vitest';
import { addAnswer, startEntry } from '../../../src/calls/describe-call.ts';

const rules = { hide: (text: string) => text.replaceAll('secret', '***'), maxBodyBytes: 8 };
const facts = { command: 'sotra x', pid: 7, baseUrl: 'https://api.example' };
const url = new URL('https://api.example/v1/x?a=1&secret=2');
const request = { method: 'POST', url, headers: { 'content-type': 'text/plain' }, body: 'secret 1' };
const entry = startEntry({ startedMs: 0, request, attempt: 1, why: undefined }, facts, rules);
const answer = { kind: 'answer', status: 200, headers: {}, bytes: 2, ms: 40, text: '{}' } as const;

test('an entry says when it was sent and what, without secrets, and that no answer came yet', () => {
  expect(entry).toMatchObject({
    startedDateTime: '1970-01-01T00:00:00.000Z',
    request: {
      url: 'https://api.example/v1/x?a=1&***=2',
      queryString: [
        { name: 'a', value: '1' },
        { name: '***', value: '2' },
      ],
      postData: { mimeType: 'text/plain', text: '*** 1' },
      bodySize: 8,
    },
    response: { status: 0 },
    _sotra: { v: 1, ...facts, attempt: 1 },
  });
});

test.each(['https://', 'api.example', '/', '?a=', 'v1/x'])(
  'the address of a call stays one where the key is %s',
  (key) => {
    const hide = (text: string) => text.replaceAll(key, '***');
    const { url: kept } = startEntry({ startedMs: 0, request, attempt: 1, why: undefined }, facts, {
      ...rules,
      hide,
    }).request;
    expect(new URL(kept).host).toBe('api.example');
  },
);

test('the time is split into what was measured: the first byte and the rest', () => {
  const timed = (more: { firstByteMs?: number }) => addAnswer(entry, { ...answer, ...more }, rules).timings;
  const unknown = { blocked: -1, dns: -1, connect: -1, ssl: -1, send: 0 };
  expect(timed({ firstByteMs: 30 })).toEqual({ ...unknown, wait: 30, receive: 10 });
  expect(timed({})).toEqual({ ...unknown, wait: 40, receive: 0 });
});

test('a status without a name has none, and what the service ignored is a list', () => {
  const headers = { 'x-sotra-ignored': 'limitt,pagee', 'request-id': 'r-1' };
  const { response, _sotra } = addAnswer(entry, { ...answer, status: 299, headers }, rules);
  expect([response, _sotra]).toMatchObject([
    { status: 299, statusText: '' },
    { ignored: ['limitt', 'pagee'], requestId: 'r-1' },
  ]);
  expect(addAnswer(entry, { ...answer, status: 404 }, rules).response).toMatchObject({ statusText: 'Not Found' });
});

test('a body is cut between characters', () => {
  const text = 'aaaaaaaü!';
  const { response } = addAnswer(entry, { ...answer, text }, rules);
  expect(response?.content).toMatchObject({ text: 'aaaaaaa', _cut: { bytes: 10 } });
});

test('a secret that stands where a body is cut is hidden whole, and nothing that comes after it is shown', () => {
  const shownOf = (text: string) => addAnswer(entry, { ...answer, text }, rules).response?.content;
  expect(shownOf('aaaasecret and more')).toMatchObject({ text: 'aaaa*', _cut: { bytes: 19 } });
  expect(shownOf(`aasecretaaa${'b'.repeat(20_000)}`)).toMatchObject({ text: 'aa***' });
  expect(shownOf(`${'a'.repeat(8)}${'secret'.repeat(5000)}`)).toMatchObject({ text: '' });
});

test('a connection that failed says how, also in a comment beside the reason of the attempt', () => {
  const second = startEntry({ startedMs: 0, request, attempt: 2, why: 'busy' }, facts, rules);
  const failure = { kind: 'failure', message: 'cannot reach it', ms: 3, cause: new Error('a secret') } as const;
  expect(addAnswer(second, failure, rules)).toMatchObject({
    time: 3,
    comment: 'attempt 2, after busy; cannot reach it',
    _sotra: { failure: { kind: 'broken', message: 'a ***' } },
  });
});
