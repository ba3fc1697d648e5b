import { expect, test, vi } from 'vitest';
import {
  buildRequest,
  type CallEvent,
  type ClientConfig,
  sameOrigin,
  sendRequest,
} from '../../../src/client/client.ts';
import { NetworkFailure } from '../../../src/client/failures.ts';
import { hideKeyInAnswers } from '../../../src/client/hide-key.ts';
import { hints } from '../../../src/client/hints.ts';
import { secretHider } from '../../../src/client/secrets.ts';
import type { HttpRequest, HttpResponse } from '../../../src/client/transport.ts';

type Reply = Partial<HttpResponse>;
type Step = Reply | NetworkFailure | Error;

/** The config of a client whose service gives these answers one after another, the last one for ever; waits only move its clock. */
function configOf(steps: readonly Step[], changes: Partial<ClientConfig> = {}) {
  const seen: HttpRequest[] = [];
  const events: CallEvent[] = [];
  const timeouts: number[] = [];
  let nowMs = 1000;
  const config: ClientConfig = {
    baseUrl: 'https://a.example.com/api/',
    apiKey: 'key-of-a-partner',
    hide: secretHider('key-of-a-partner'),
    hideKey: hideKeyInAnswers('key-of-a-partner'),
    hints,
    wire: {},
    transport: {
      send: async (request, { timeoutMs }) => {
        timeouts.push(timeoutMs);
        const step = steps[Math.min(seen.push(request), steps.length) - 1] ?? {};
        nowMs += 40;
        if (step instanceof Error) throw step;
        const { status = 200, headers = {}, text = '{}', firstByteMs } = step;
        return { status, headers, text, bytes: text.length, ...(firstByteMs !== undefined && { firstByteMs }) };
      },
      close: async () => {},
    },
    userAgent: 'sotra/0',
    retries: 2,
    maxWaitMs: 60_000,
    maxBodyBytes: 1000,
    timeoutMs: 5000,
    maxTimeMs: 600_000,
    signal: new AbortController().signal,
    now: () => nowMs,
    random: () => 0.5,
    sleep: async (ms) => {
      nowMs += ms;
    },
    observe: (event) => events.push(event),
    ...changes,
  };
  return { config, seen, events, timeouts };
}

const get = { method: 'GET', path: '/v1/x?y=1' };
const post = { method: 'POST', path: '/v1/x', body: { a: 1 } };
const down = new NetworkFailure('refused', 'no', undefined);
const cut = new NetworkFailure('broken', 'cut', undefined);
const slow = new NetworkFailure('timeout', 'slow', undefined);

test('a request has the path behind the base URL, the key and a JSON body where there is one', () => {
  const { config } = configOf([]);
  expect(buildRequest(get, config)).toEqual({
    method: 'GET',
    url: new URL('https://a.example.com/api/v1/x?y=1'),
    headers: { accept: 'application/json', 'user-agent': 'sotra/0', authorization: 'Bearer key-of-a-partner' },
  });
  expect(buildRequest(get, { ...config, userAgent: null }).headers).toEqual({
    accept: 'application/json',
    authorization: 'Bearer key-of-a-partner',
  });
  const deep = { ...config, apiKey: null, baseUrl: 'https://a.example.com//' };
  expect(buildRequest(post, deep)).toEqual({
    method: 'POST',
    url: new URL('https://a.example.com/v1/x'),
    headers: { accept: 'application/json', 'user-agent': 'sotra/0', 'content-type': 'application/json' },
    body: '{"a":1}',
  });
  expect(buildRequest({ ...post, bodyText: '{"a":1.0}' }, config).body).toBe('{"a":1.0}');
  expect(buildRequest({ ...get, bodyText: '{}' }, config).body).toBeUndefined();
  expect(buildRequest({ ...get, href: 'https://a.example.com/other' }, config).url.href).toBe(
    'https://a.example.com/other',
  );
});

test('a link stays on the origin of the base URL', () => {
  const base = { baseUrl: 'https://a.example.com/api', hide: secretHider(undefined), hints };
  expect(sameOrigin('https://a.example.com/v1/x', base)).toBe('https://a.example.com/v1/x');
  expect(sameOrigin('/v1/x', base)).toBe('https://a.example.com/v1/x');
  for (const away of ['https://b.example.com/', 'http://a.example.com/', '//b.example.com/', 'https://'])
    expect(() => sameOrigin(away, base)).toThrow(
      expect.objectContaining({
        code: 'redirect',
        message: `the service links to another origin: ${away}`,
        hint: 'The key is not sent there. Request the pages one by one with the cursors that --json shows.',
      }),
    );
});

test('an answer comes with its text, status, request id and number of attempts', async () => {
  const { config, seen, timeouts, events } = configOf([
    { text: '{"n":1.0}', headers: { 'x-request-id': 'r-1', 'request-id': 'r-0' }, firstByteMs: 3 },
  ]);
  const answer = await sendRequest(get, config);
  expect(answer).toEqual({
    data: { n: 1 },
    text: '{"n":1.0}',
    status: 200,
    requestId: 'r-1',
    attempts: 1,
  });
  expect([seen.length, timeouts]).toEqual([1, [5000]]);
  expect(events).toMatchObject([
    { kind: 'request', attempt: 1, request: { method: 'GET' } },
    { kind: 'answer', status: 200, bytes: 9, ms: 40, text: '{"n":1.0}', firstByteMs: 3 },
  ]);
});

const given: readonly [reply: Reply, expected: object][] = [
  [{ headers: { 'request-id': ['r-0', 'r-2'] } }, { requestId: 'r-0' }],
  [{ headers: {} }, { requestId: undefined }],
  [
    { status: 204, text: '' },
    { data: null, text: 'null', status: 204 },
  ],
  [
    { status: 204, text: ' \n' },
    { data: null, text: 'null', status: 204 },
  ],
  [
    { status: 204, text: '{"a":1}' },
    { data: { a: 1 }, text: '{"a":1}' },
  ],
  [
    { status: 299, text: '[]' },
    { data: [], status: 299 },
  ],
];

test.each(given)('the answer %j is read as %j', async (reply, expected) => {
  expect(await sendRequest(get, configOf([reply]).config)).toMatchObject(expected);
});

const unread: readonly [reply: Reply, message: string][] = [
  [{ text: '' }, 'the service answered 200 with a body that is not JSON: an empty body'],
  [{ text: ' \n' }, 'the service answered 200 with a body that is not JSON: an empty body'],
  [{ status: 204, text: 'x' }, 'the service answered 204 with a body that is not JSON: "x"'],
  [{ text: 'not key-of-a-partner' }, 'the service answered 200 with a body that is not JSON: "not ***"'],
  [{ text: 'y'.repeat(500) }, `the service answered 200 with a body that is not JSON: "${'y'.repeat(120)}"`],
];

test.each(unread)('the answer %j is no JSON, and asked for once', async (reply, message) => {
  const { config, seen } = configOf([{ headers: { 'x-request-id': 'r-1' }, ...reply }]);
  const status = reply.status ?? 200;
  await expect(sendRequest(get, config)).rejects.toMatchObject({
    code: 'bad-answer',
    message,
    status,
    requestId: 'r-1',
    outcome: 'unknown',
    attempts: 1,
    hint: expect.stringContaining('base URL'),
    cause: expect.any(SyntaxError),
  });
  expect(seen).toHaveLength(1);
});

test('a body that is no JSON comes with the error where that is asked for, without the key', async () => {
  const odd = { text: 'not key-of-a-partner' };
  const told = configOf([odd], { includeBodyInError: true });
  await expect(sendRequest(get, told.config)).rejects.toMatchObject({ code: 'bad-answer', body: 'not ***' });
  const silent = configOf([odd]);
  await expect(sendRequest(get, silent.config)).rejects.toMatchObject({ code: 'bad-answer', body: undefined });
});

test('what is waited for a turn is no time of the call, and a turn ends with its answer or failure', async () => {
  const arrived = vi.fn();
  const takeTurn = async () => ({ waitedMs: 500, arrived });
  const { config } = configOf([down, {}], { takeTurn });
  const totals: number[] = [];
  const { send } = config.transport;
  config.transport.send = (request, limits) => {
    totals.push(limits.totalMs);
    return send(request, limits);
  };
  await sendRequest(get, config);
  // The first attempt took 40 ms and the wait behind it 125 ms.
  expect(totals).toEqual([600_500, 600_835]);
  const failing = configOf([down], { takeTurn, retries: 0 });
  arrived.mockClear();
  await expect(sendRequest(get, failing.config)).rejects.toMatchObject({ code: 'network' });
  expect(arrived).toHaveBeenCalledOnce();
});

test('what fails and may be repeated is repeated, after waits that are told', async () => {
  const { config, seen, events } = configOf([down, { status: 503, text: '{"error":"busy"}' }, { text: '1' }]);
  expect(await sendRequest(get, config)).toMatchObject({ data: 1, attempts: 3 });
  expect(seen).toHaveLength(3);
  expect(events.map((event) => (event.kind === 'wait' ? ['wait', event.ms] : [event.kind]))).toEqual([
    ['request'],
    ['failure'],
    ['wait', 125],
    ['request'],
    ['answer'],
    ['wait', 250],
    ['request'],
    ['answer'],
  ]);
  const told = (kind: CallEvent['kind']) => events.filter((event) => event.kind === kind);
  expect(told('request')).toMatchObject([{ attempt: 1 }, { attempt: 2 }, { attempt: 3 }]);
  expect(told('failure')).toMatchObject([{ message: 'cannot reach https://a.example.com: no', ms: 40 }]);
  expect(told('wait')).toMatchObject([
    { why: 'cannot reach https://a.example.com: no' },
    { why: 'busy (HTTP 503 from GET /api/v1/x)' },
  ]);
});

test('the error that ends a call tells its attempts and what was waited between them', async () => {
  const { config } = configOf([down, { status: 503, text: '{"error":"busy"}', headers: { 'x-request-id': 'r-9' } }]);
  await expect(sendRequest(get, config)).rejects.toMatchObject({
    code: 'server-error',
    message: 'busy (HTTP 503 from GET /api/v1/x)',
    status: 503,
    requestId: 'r-9',
    outcome: 'unknown',
    attempts: 3,
    details: {
      attempts: [
        { reason: 'cannot reach https://a.example.com: no', waitedMs: 125 },
        { reason: 'busy (HTTP 503 from GET /api/v1/x)', waitedMs: 250 },
        { reason: 'busy (HTTP 503 from GET /api/v1/x)', waitedMs: null },
      ],
    },
  });
  await expect(sendRequest(get, configOf([down, { text: 'x' }]).config)).rejects.toMatchObject({
    code: 'bad-answer',
    attempts: 2,
    details: { attempts: [{ waitedMs: 125 }, { reason: expect.stringContaining('not JSON'), waitedMs: null }] },
  });
});

const once: readonly [wire: typeof get | typeof post, step: Step, error: object][] = [
  [get, { status: 404, text: '{"error":"no such"}' }, { code: 'not-found', details: undefined }],
  [post, cut, { code: 'network', outcome: 'unknown' }],
  [post, slow, { code: 'timeout', message: 'https://a.example.com did not answer within 5 s' }],
  [post, new Error('odd'), { code: 'network', message: 'cannot reach https://a.example.com: odd' }],
  [post, { status: 503 }, { code: 'server-error' }],
  [get, new NetworkFailure('untrusted', 'bad', undefined), { code: 'network', outcome: 'unsent' }],
  [get, new NetworkFailure('plain', 'bad', undefined), { code: 'network', outcome: 'unsent' }],
];

test.each(once)('%j ends with its first failure %s', async (wire, step, error) => {
  const { config, seen } = configOf([step]);
  await expect(sendRequest(wire, config)).rejects.toMatchObject({ attempts: 1, ...error });
  expect(seen).toHaveLength(1);
});

test.each([cut, slow, new Error('odd')])('a GET that met %s is repeated', async (step) => {
  expect(await sendRequest(get, configOf([step, { text: '2' }]).config)).toMatchObject({ data: 2, attempts: 2 });
});

test.each([down, { status: 429 }])('a POST that met %j was not taken, and is repeated', async (step) => {
  const { config, seen } = configOf([step, { text: '2' }]);
  expect(await sendRequest(post, config)).toMatchObject({ data: 2, attempts: 2 });
  expect(seen.map(({ method }) => method)).toEqual(['POST', 'POST']);
});

test('a service may ask for a wait, as long as allowed and no longer than the call may take', async () => {
  const busy = (seconds: string): Reply => ({ status: 429, headers: { 'retry-after': seconds } });
  const waits = ({ events }: ReturnType<typeof configOf>) =>
    events.flatMap((event) => ('why' in event ? event.ms : []));
  const patient = configOf([busy('7'), {}]);
  expect(await sendRequest(get, patient.config)).toMatchObject({ attempts: 2 });
  expect(waits(patient)).toEqual([7000]);
  const tooLong = configOf([busy('61')]);
  await expect(sendRequest(get, tooLong.config)).rejects.toMatchObject({ code: 'rate-limited', attempts: 1 });
  const tight = configOf([busy('7')], { maxTimeMs: 7040 });
  await expect(sendRequest(get, tight.config)).rejects.toMatchObject({ attempts: 1 });
  const enough = configOf([busy('7'), {}], { maxTimeMs: 7041 });
  expect(await sendRequest(get, enough.config)).toMatchObject({ attempts: 2 });
});

test('who interrupts ends the call at once', async () => {
  const { config, seen } = configOf([down], { signal: AbortSignal.abort() });
  await expect(sendRequest(get, config)).rejects.toMatchObject({
    code: 'interrupted',
    message: 'interrupted',
    outcome: 'unknown',
    attempts: 1,
    cause: down,
  });
  expect(seen).toHaveLength(1);
});

test('the key does not come back in an answer, nor in what is observed', async () => {
  const { config, events } = configOf([{ text: '{"a":"key-of-a-partner"}', headers: { echo: 'key-of-a-partner' } }]);
  expect(await sendRequest(get, config)).toMatchObject({ data: { a: '***' }, text: '{"a":"***"}' });
  expect(events.at(-1)).toMatchObject({ headers: { echo: '***' }, text: '{"a":"***"}', bytes: 24 });
});
