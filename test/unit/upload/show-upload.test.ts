import { expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { showUpload } from '../../../src/upload/show-upload.ts';

/** What the log says of an upload in chunks of 1,000, each confirmed so many seconds after the one before. */
async function logOf(seconds: readonly number[], { addresses = seconds.length * 1000, confirmedBefore = 0 } = {}) {
  let nowMs = Date.UTC(2026, 10, 21);
  let log = '';
  const write = async (text: string) => {
    log += text;
  };
  const err = { write, draw: write, isTTY: false, width: 80, colorLevel: 0 };
  const context = {
    io: { err, now: () => nowMs },
    options: {},
    onWait: () => undefined,
    stopWaiting: () => undefined,
  } as unknown as Context;
  const show = await showUpload(context);
  const plan = { job: 'a', task: 'add', uid: 'w', addresses, chunks: addresses / 1000, duplicates: 0, rejected: 0 };
  const done = new Map(Array.from({ length: confirmedBefore }, (_, index) => [index, undefined]));
  show.started({ uid: 'w', plan, done } as unknown as Parameters<typeof show.started>[0]);
  for (const each of seconds) {
    nowMs += each * 1000;
    await show.event({ event: 'chunk-done', chunk: 1, addresses: 1000, done: 1, chunks: 1 });
  }
  return log.split('\n').slice(0, -1);
}

test('a line each ten percent or ten seconds, but not two a second, with the pace and what is left', async () => {
  const seconds = [0, 1, 10, 1, 1, 15, 15, 14, 17, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10];
  expect(await logOf(seconds)).toEqual([
    '10 %: 2,000 of 20,000 addresses, 2,000 a second, 9 s left',
    '15 %: 3,000 of 20,000 addresses, 273 a second, 63 s left',
    '25 %: 5,000 of 20,000 addresses, 385 a second, 39 s left',
    '30 %: 6,000 of 20,000 addresses, 214 a second, 66 s left',
    '35 %: 7,000 of 20,000 addresses, 163 a second, 80 s left',
    '40 %: 8,000 of 20,000 addresses, 140 a second, 86 s left',
    '45 %: 9,000 of 20,000 addresses, 122 a second, 2 min left',
    '50 %: 10,000 of 20,000 addresses, 111 a second, 2 min left',
  ]);
});

test('from 90 seconds on what is left is told in minutes', async () => {
  expect(await logOf([45, 0, 0])).toEqual(['33 %: 1,000 of 3,000 addresses, 22 a second, 2 min left']);
  expect(await logOf([44, 0, 0])).toEqual(['33 %: 1,000 of 3,000 addresses, 23 a second, 88 s left']);
});

test('the pace of an upload that goes on is that of what it sends now', async () => {
  expect(await logOf([2, 2], { addresses: 4000, confirmedBefore: 2 })).toEqual([
    '75 %: 3,000 of 4,000 addresses, 500 a second, 2 s left',
  ]);
});
