import { expect, test } from 'vitest';
import { type ClientConfig, sameOrigin, sendRequest } from '../../../src/client/client.ts';
import { NetworkFailure } from '../../../src/client/failures.ts';
import { hints } from '../../../src/client/hints.ts';
import { secretHider } from '../../../src/client/secrets.ts';

/** The config of a client whose service fails first, `failures` times; waits only move its clock. */
function configOf(failures: number, changes: Partial<ClientConfig>) {
  const totals: number[] = [];
  let nowMs = 1000;
  const config: ClientConfig = {
    baseUrl: 'https://a.example.com/api',
    apiKey: 'key-of-a-partner',
    hide: (text) => text,
    hideKey: (answer) => answer,
    wire: {},
    transport: {
      send: async (_, { totalMs }) => {
        nowMs += 40;
        if (totals.push(totalMs) <= failures) throw new NetworkFailure('refused', 'no', undefined);
        return { status: 200, headers: {}, text: '{}', bytes: 2 };
      },
      close: async () => {},
    },
    userAgent: null,
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
    observe: () => {},
    ...changes,
  };
  return { config, totals };
}

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

test('waiting for a turn does not count as time of the call', async () => {
  const { config, totals } = configOf(1, { takeTurn: async () => 500 });
  await sendRequest({ method: 'GET', path: '/v1/x' }, config);
  // The first attempt took 40 ms and the wait behind it 125 ms.
  expect(totals).toEqual([600_500, 600_835]);
});
