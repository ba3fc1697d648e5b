import { expect, test } from 'vitest';
import type { CallEvent } from '../../../src/client/client.ts';
import { watchCall } from '../../../src/client/observe.ts';

const key = 'key-0123456789';
const get = {
  method: 'GET',
  url: new URL('https://api.example/v1/things?limit=2&q=key-0123456789'),
  headers: { accept: 'application/json', authorization: `Bearer ${key}` },
};
const post = {
  method: 'POST',
  url: new URL('https://api.example/v1/things'),
  headers: { 'content-type': 'application/json', cookie: 'a=b', 'proxy-authorization': 'Basic eA==' },
  body: '{"secret":"whsec_12345678","name":"\u00fc"}',
};
const answer: Extract<CallEvent, { kind: 'answer' }> = {
  kind: 'answer',
  status: 200,
  headers: {
    'content-type': 'application/json',
    'set-cookie': ['s=1', 's=2'],
    location: `/v1/other?key=${key}`,
    'x-none': undefined,
  },
  bytes: 12,
  ms: 40,
  text: `{"you":"${key}"}`,
};

/** What `--verbose` says of these events. */
function saidOf(...events: readonly CallEvent[]): string[] {
  const lines: string[] = [];
  const observe = watchCall((line) => lines.push(line));
  for (const event of events) observe(event);
  return lines;
}

test('a request is told line by line, later attempts by their number, without the key and cookies', () => {
  expect(saidOf({ kind: 'request', request: get, attempt: 1 })).toEqual([
    '> GET https://api.example/v1/things?limit=2&q=***',
    '> accept: application/json',
    '> authorization: Bearer ***',
  ]);
  expect(saidOf({ kind: 'request', request: post, attempt: 2 })).toEqual([
    '> POST https://api.example/v1/things (attempt 2)',
    '> content-type: application/json',
    '> cookie: ***',
    '> proxy-authorization: ***',
    '> {"secret":"***","name":"\u00fc"}',
  ]);
});

test('an answer is told with its times and headers, one that refuses with its body', () => {
  const request: CallEvent = { kind: 'request', request: get, attempt: 1 };
  const headers = { 'x-request-id': 'r-1', 'x-two': ['a', key] };
  expect(saidOf(request, { ...answer, headers, ms: 40.6 }).slice(3)).toEqual([
    '< 200 in 41 ms, 12 bytes, request id r-1',
    '< x-request-id: r-1',
    '< x-two: a',
    '< x-two: ***',
  ]);
  expect(saidOf(request, { ...answer, headers: {}, firstByteMs: 3.4 }).slice(3)).toEqual([
    '< 200 in 40 ms, 12 bytes (first byte 3 ms)',
  ]);
  const bodyOf = (status: number, text: string) => saidOf(request, { ...answer, headers: {}, status, text })[4];
  expect([bodyOf(399, 'x'), bodyOf(400, `x ${key}`)]).toEqual([undefined, '< x ***']);
  expect(bodyOf(500, 'y'.repeat(2001))).toBe(`< ${'y'.repeat(2000)}`);
});

test('a failure and a wait are told by their reason', () => {
  expect(saidOf({ kind: 'failure', message: 'cannot reach it', ms: 12.4, cause: undefined })).toEqual([
    '! cannot reach it after 12 ms',
  ]);
  expect(saidOf({ kind: 'wait', ms: 250, why: 'busy' })).toEqual(['! waiting 250 ms: busy']);
});
