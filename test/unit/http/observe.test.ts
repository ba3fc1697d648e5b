import { expect, test } from 'vitest';
import type { CallEvent } from '../../../src/http/client.ts';
import { answerHead, type Exchange, harEntry, harFrame, watchCall } from '../../../src/http/observe.ts';
import type { Timing } from '../../../src/world.ts';

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
const answer: Extract<Exchange['outcome'], { kind: 'answer' }> = {
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
const once: Exchange = { startedMs: 1_790_000_000_000, request: get, attempt: 1, why: undefined, outcome: answer };

test('an exchange is an entry of an HTTP archive, without the key and cookies', () => {
  expect(harEntry(once)).toStrictEqual({
    startedDateTime: '2026-09-21T14:13:20.000Z',
    time: 40,
    request: {
      method: 'GET',
      url: 'https://api.example/v1/things?limit=2&q=***',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: [
        { name: 'accept', value: 'application/json' },
        { name: 'authorization', value: 'Bearer ***' },
      ],
      queryString: [
        { name: 'limit', value: '2' },
        { name: 'q', value: '***' },
      ],
      headersSize: -1,
      bodySize: 0,
    },
    response: {
      status: 200,
      statusText: 'OK',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: [
        { name: 'content-type', value: 'application/json' },
        { name: 'set-cookie', value: '***' },
        { name: 'set-cookie', value: '***' },
        { name: 'location', value: '/v1/other?key=***' },
      ],
      content: { size: 12, mimeType: 'application/json', text: '{"you":"***"}' },
      redirectURL: '/v1/other?key=***',
      headersSize: -1,
      bodySize: 12,
    },
    cache: {},
    timings: { blocked: -1, dns: -1, connect: -1, ssl: -1, send: 0, wait: 40, receive: 0 },
  });
});

test('a body is kept without its secrets, its size is that of the bytes sent', () => {
  expect(harEntry({ ...once, request: post })['request']).toStrictEqual({
    method: 'POST',
    url: 'https://api.example/v1/things',
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: [
      { name: 'content-type', value: 'application/json' },
      { name: 'cookie', value: '***' },
      { name: 'proxy-authorization', value: '***' },
    ],
    queryString: [],
    postData: { mimeType: 'application/json', text: '{"secret":"***","name":"ü"}' },
    headersSize: -1,
    bodySize: 39,
  });
  const { 'content-type': _, ...headers } = post.headers;
  expect(harEntry({ ...once, request: { ...post, headers } })['request']).toMatchObject({ postData: { mimeType: '' } });
});

test('a key that stands behind another scheme is hidden as it is', () => {
  const request = {
    ...get,
    url: new URL('https://api.example/?q=Key-Bearer-1'),
    headers: { authorization: 'Key-Bearer-1' },
  };
  expect(harEntry({ ...once, request })['request']).toMatchObject({ url: 'https://api.example/?q=***' });
});

test('an attempt without an answer says why, in place of one', () => {
  const outcome = { kind: 'failure', message: `cannot reach api.example with ${key}`, ms: 7 } as const;
  expect(harEntry({ ...once, outcome })).toMatchObject({
    time: 7,
    timings: { blocked: -1, dns: -1, connect: -1, ssl: -1, send: 0, wait: 7, receive: 0 },
    comment: 'cannot reach api.example with ***',
  });
  expect(harEntry({ ...once, outcome })['response']).toStrictEqual({
    status: 0,
    statusText: '',
    httpVersion: '',
    cookies: [],
    headers: [],
    content: { size: 0, mimeType: '' },
    redirectURL: '',
    headersSize: -1,
    bodySize: -1,
  });
});

const failure = { kind: 'failure', message: 'broken', ms: 1 } as const;
const comments: readonly [changes: Partial<Exchange>, comment: string | undefined][] = [
  [{}, undefined],
  [{ why: 'nothing' }, undefined],
  [{ attempt: 2 }, 'attempt 2'],
  [{ attempt: 3, why: 'status 503' }, 'attempt 3, after status 503'],
  [{ outcome: failure }, 'broken'],
  [{ attempt: 2, why: 'status 503', outcome: failure }, 'attempt 2, after status 503; broken'],
];

test.each(comments)('the comment of %j is %s', (changes, comment) => {
  const entry = harEntry({ ...once, ...changes });
  expect(Object.hasOwn(entry, 'comment')).toBe(comment !== undefined);
  expect(entry['comment']).toBe(comment);
});

const timings: readonly [timing: Timing, parts: object][] = [
  [{ firstByteMs: 30 }, { dns: -1, connect: -1, wait: 30, receive: 10 }],
  [
    { connectMs: 9, firstByteMs: 30 },
    { dns: -1, connect: 9, wait: 21, receive: 10 },
  ],
  [
    { dnsMs: 4, connectMs: 9, firstByteMs: 30 },
    { dns: 4, connect: 5, wait: 21, receive: 10 },
  ],
];

test.each(timings)('the time %j is told in its parts', (timing, parts) => {
  const outcome = { ...answer, timing };
  expect(harEntry({ ...once, outcome })['timings']).toStrictEqual({ blocked: -1, ssl: -1, send: 0, ...parts });
});

test('an answer of a status without a name, and without headers, has empty texts for them', () => {
  const outcome = { ...answer, status: 299, headers: {} };
  expect(harEntry({ ...once, outcome })['response']).toMatchObject({
    status: 299,
    statusText: '',
    headers: [],
    content: { mimeType: '' },
    redirectURL: '',
  });
});

test('what stands around the entries makes one JSON document with them', () => {
  const { head, tail } = harFrame('1.2.3');
  expect(JSON.parse(`${head}{"a":1}${tail}`)).toEqual({
    log: { version: '1.2', creator: { name: 'sotra', version: '1.2.3' }, entries: [{ a: 1 }] },
  });
  expect(tail.endsWith('\n')).toBe(true);
});

test('the head of an answer is its status line and headers, one a line, and an empty line', () => {
  expect(answerHead({ status: 404, headers: { a: '1', b: ['2', '3'], c: undefined } })).toBe(
    'HTTP/1.1 404 Not Found\na: 1\nb: 2\nb: 3\n\n',
  );
  expect(answerHead({ status: 299, headers: {} })).toBe('HTTP/1.1 299\n\n');
});

/** What `--verbose` says of these events. */
function saidOf(...events: readonly CallEvent[]): string[] {
  const lines: string[] = [];
  const observe = watchCall({ say: (line) => lines.push(line), heads: undefined, traces: [], now: () => 0 });
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
  const timing = { dnsMs: 0.6, connectMs: 2.2, firstByteMs: 3.4 };
  expect(saidOf(request, { ...answer, headers: {}, timing }).slice(3)).toEqual([
    '< 200 in 40 ms, 12 bytes (dns 1, connect 2, first byte 3 ms)',
  ]);
  expect(saidOf(request, { ...answer, headers: {}, timing: { firstByteMs: 3 } }).slice(3)).toEqual([
    '< 200 in 40 ms, 12 bytes (first byte 3 ms)',
  ]);
  const bodyOf = (status: number, text: string) => saidOf(request, { ...answer, headers: {}, status, text })[4];
  expect([bodyOf(399, 'x'), bodyOf(400, `x ${key}`)]).toEqual([undefined, '< x ***']);
  expect(bodyOf(500, 'y'.repeat(2001))).toBe(`< ${'y'.repeat(2000)}`);
});

test('a failure and a wait are told by their reason', () => {
  expect(saidOf({ kind: 'failure', message: 'cannot reach it', ms: 12.4 })).toEqual(['! cannot reach it after 12 ms']);
  expect(saidOf({ kind: 'wait', ms: 250, why: 'busy' })).toEqual(['! waiting 250 ms: busy']);
});

test('heads are kept of the answer that counts, exchanges of every attempt', () => {
  const heads = new Set<{ text: string }>();
  const kept: Exchange[] = [];
  const trace = { add: (exchange: Exchange) => void kept.push(exchange), close: () => undefined };
  const observe = watchCall({ say: undefined, heads, traces: [trace], now: () => 7 });
  const refused = { ...answer, status: 503, headers: { a: 'whsec_12345678' } };
  // Of what was not asked for there is nothing to keep.
  observe({ kind: 'failure', message: 'no', ms: 1 });
  observe({ kind: 'request', request: get, attempt: 1 });
  observe(refused);
  expect([...heads]).toEqual([{ text: 'HTTP/1.1 503 Service Unavailable\na: whsec_***\n\n' }]);
  observe({ kind: 'wait', ms: 1, why: 'busy' });
  expect(heads.size).toBe(0);
  observe({ kind: 'request', request: get, attempt: 2 });
  observe({ ...answer, headers: { b: 'c' } });
  expect([...heads]).toEqual([{ text: 'HTTP/1.1 200 OK\nb: c\n\n' }]);
  expect(kept).toMatchObject([
    { startedMs: 7, request: get, attempt: 1, why: undefined, outcome: { status: 503 } },
    { startedMs: 7, request: get, attempt: 2, why: 'busy', outcome: { status: 200 } },
  ]);
});
