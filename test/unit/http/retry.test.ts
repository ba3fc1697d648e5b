import { expect, test } from 'vitest';
import { createRate, type Failure, retryDelay } from '../../../src/http/retry.ts';

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
  ['POST', { network: 'refused' }, 1, 125],
  ['GET', { network: 'untrusted' }, 1, undefined],
  ['POST', { network: 'untrusted' }, 1, undefined],
  ['GET', { status: 502 }, 1, 125],
  ['PUT', { status: 503 }, 2, 250],
  ['DELETE', { status: 504 }, 3, 500],
  ['POST', { status: 502 }, 1, undefined],
  ['POST', { status: 503 }, 1, undefined],
  ['POST', { status: 504 }, 1, undefined],
  ['POST', { status: 429 }, 1, 125],
  ['GET', { status: 500 }, 1, undefined],
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
  expect(retryDelay(method, failure, attempt, limits, half)).toBe(delayMs);
});

test('the wait is anywhere between none and a doubling bound, 20 s at most', () => {
  const delay = (attempt: number, random: number) =>
    retryDelay('GET', { status: 503 }, attempt, { ...limits, retries: 20 }, { random: () => random, nowMs });
  expect(delay(1, 0)).toBe(0);
  expect(delay(1, 1)).toBe(250);
  expect(delay(6, 1)).toBe(8000);
  expect(delay(7, 1)).toBe(16_000);
  expect(delay(8, 1)).toBe(20_000);
  expect(delay(20, 1)).toBe(20_000);
});

test('no wait goes beyond what is left of the time for the call', () => {
  const delay = (leftMs: number) => retryDelay('GET', { status: 429, retryAfter: '5' }, 1, { ...limits, leftMs }, half);
  expect(delay(5001)).toBe(5000);
  expect(delay(5000)).toBeUndefined();
  expect(delay(-1)).toBeUndefined();
});

test('without retries there is one attempt', () => {
  expect(retryDelay('GET', { status: 503 }, 1, { ...limits, retries: 0 }, half)).toBeUndefined();
});

test('requests that share a rate go out one interval apart, also those that come at once; one that comes late does not wait', async () => {
  let now = 1000;
  const waits: number[] = [];
  const sleep = async (ms: number) => void waits.push(ms);
  const takeTurn = createRate(200, { now: () => now, sleep, signal: new AbortController().signal });
  expect(await Promise.all([takeTurn(), takeTurn(), takeTurn()])).toEqual([0, 200, 400]);
  now = 1590;
  expect(await takeTurn()).toBe(10);
  now = 5000;
  expect([await takeTurn(), await takeTurn()]).toEqual([0, 200]);
  expect(waits).toEqual([200, 400, 10, 200]);
});
