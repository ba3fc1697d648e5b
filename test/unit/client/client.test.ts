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
    baseUrl: 'https://a.example.com/api',
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
  const deep = { ...config, apiKey: null, baseUrl: 'https://a.example.com' };
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
