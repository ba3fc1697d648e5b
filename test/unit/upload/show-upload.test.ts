import { expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { showUpload } from '../../../src/upload/show-upload.ts';

test.each<[pace: string, secondsAChunk: number, percents: number[]]>([
  ['two chunks a second', 0.5, [10, 20, 30, 40, 50, 60, 70, 80, 90]],
  ['one each four seconds', 4, [6, 12, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72, 78, 84, 90, 96]],
  ['ten a second', 0.1, [20, 40, 60, 80]],
])('the log of an upload of 50 chunks, %s', async (_, secondsAChunk, percents) => {
  let [nowMs, text] = [0, ''];
  const write = async (written: string) => {
    text += written;
  };
  const err = { isTTY: false, width: 80, write };
  const world = { io: { err }, now: () => nowMs };
  const context = { world, options: {}, stopWaiting: () => undefined, onWait: () => undefined };
  const show = await showUpload(context as unknown as Context);
  const plan = { addresses: 50_000 };
  show.started({ uid: 'one', done: new Set(), plan } as unknown as Parameters<typeof show.started>[0]);
  for (let done = 1; done <= 50; done += 1) {
    nowMs += secondsAChunk * 1000;
    await show.event({ event: 'chunk-done', chunk: done, addresses: 1000, done, chunks: 50 });
  }
  expect(text.split('\n').flatMap((line) => (line === '' ? [] : [Number.parseInt(line, 10)]))).toEqual(percents);
});
