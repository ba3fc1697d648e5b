import { expect, test } from 'vitest';
import { createRate } from '../../../src/calls/service-client.ts';
import { computeRetryDelay, type Failure, isUnsent } from '../../../src/client/retry.ts';

const nowMs = Date.UTC(2026, 10, 20, 12);
const limits = { retries: 3, maxWaitMs: 60_000, leftMs: 600_000 };
const half = { random: () => 0.5, nowMs };

const table: readonly [method: string, failure: Failure, attempt: number, delayMs: number | undefined][] = [
  ['GET', { network: 'broken' }, 1, 125],
  ['GET', { network: 'broken' }, 2, 250],
  ['GET', { network: 'broken' }, 3, 500],
  ['GET', { network: 'broken' }, 4, undefined],
  ['PUT', { network: 'broken' }, 1, 125],
  ['DELETE', { network: 'broken' }, 1, 125],
  ['POST', { network: 'broken' }, 1, undefined],
  ['PATCH', { network: 'broken' }, 1, undefined],
  ['POST', { network: 'refused' }, 1, 125],
  ['POST', { network: 'proxy' }, 1, 125],
  ['GET', { network: 'untrusted' }, 1, undefined],
  ['POST', { network: 'untrusted' }, 1, undefined],
  ['GET', { status: 502 }, 1, 125],
  ['PUT', { status: 503 }, 2, 250],
  ['DELETE', { status: 504 }, 3, 500],
  ['POST', { status: 502 }, 1, undefined],
  ['POST', { status: 503 }, 1, undefined],
  ['POST', { status: 504 }, 1, undefined],
  ['PATCH', { status: 503 }, 1, undefined],
  ['POST', { status: 429 }, 1, 125],
  ['GET', { status: 500 }, 1, 125],
  ['PUT', { status: 500 }, 1, 125],
  ['DELETE', { status: 500 }, 1, 125],
  ['POST', { status: 500 }, 1, undefined],
  ['GET', { status: 400 }, 1, undefined],
  ['GET', { status: 404 }, 1, undefined],
  ['GET', { status: 501 }, 1, undefined],
  ['GET', { status: 429, retryAfter: '7' }, 1, 7000],
  ['POST', { status: 429, retryAfter: '0' }, 3, 0],
  ['GET', { status: 503, retryAfter: 'Fri, 20 Nov 2026 12:00:30 GMT' }, 1, 30_000],
  ['GET', { status: 503, retryAfter: 'Fri, 20 Nov 2026 11:00:00 GMT' }, 1, 0],
  ['GET', { status: 429, retryAfter: '60' }, 1, 60_000],
  ['GET', { status: 429, retryAfter: '61' }, 1, undefined],
  ['GET', { status: 429, retryAfter: 'Fri, 20 Nov 2026 13:00:00 GMT' }, 1, undefined],
  ['GET', { status: 429, retryAfter: ' 7 ' }, 1, 7000],
  ['GET', { status: 503, retryAfter: ' Fri, 20 Nov 2026 12:00:30 GMT' }, 1, 30_000],
  ['GET', { status: 429, retryAfter: '1 Jan 2026' }, 1, 125],
  ['GET', { status: 429, retryAfter: 'soon' }, 1, 125],
  ['GET', { status: 429, retryAfter: '' }, 1, 125],
  ['GET', { status: 429, retryAfter: '1.5' }, 2, 250],
];

test.each(table)('%s after %j, attempt %i: %j ms', (method, failure, attempt, delayMs) => {
  expect(computeRetryDelay(method, failure, attempt, limits, half)).toBe(delayMs);
});

test('a request has not reached the service if no connection was made, and may have if one broke or took too long', () => {
  const kinds = ['refused', 'proxy', 'untrusted', 'plain', 'broken', 'timeout'];
  expect(kinds.map(isUnsent)).toEqual([true, true, true, true, false, false]);
});

test('the wait is anywhere between none and a doubling bound, 20 s at most', () => {
  const delay = (attempt: number, random: number) =>
    computeRetryDelay('GET', { status: 503 }, attempt, { ...limits, retries: 20 }, { random: () => random, nowMs });
  expect(delay(1, 0)).toBe(0);
  expect(delay(1, 1)).toBe(250);
  expect(delay(6, 1)).toBe(8000);
  expect(delay(7, 1)).toBe(16_000);
  expect(delay(8, 1)).toBe(20_000);
  expect(delay(20, 1)).toBe(20_000);
});

test('no attempt begins after the time of the call is over', () => {
  const delay = (leftMs: number) => computeRetryDelay('GET', { network: 'broken' }, 1, { ...limits, leftMs }, half);
  expect([delay(124), delay(125), delay(126)]).toEqual([undefined, undefined, 125]);
});

test('requests that share a rate go out one interval apart, also those that come at once; one that comes late does not wait', async () => {
  let clockMs = 1000;
  const io = { now: () => clockMs, sleep: async () => undefined, signal: new AbortController().signal };
  const takeTurn = createRate({ count: 5, perMs: 1000 }, io);
  expect(await Promise.all([takeTurn(), takeTurn(), takeTurn()])).toEqual([0, 200, 400]);
  clockMs = 1590;
  expect(await takeTurn()).toBe(10);
  clockMs = 5000;
  expect(await takeTurn()).toBe(0);
});
