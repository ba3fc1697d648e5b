import { expect, test } from 'vitest';
import { createProgress } from '../../../src/output/progress.ts';
import { sinkStream } from '../../../src/output/sink-stream.ts';

function recording(isTTY: boolean) {
  const written: string[] = [];
  const write = (text: string) => {
    written.push(text);
    // A slow reader: what is written has not arrived yet.
    return new Promise<void>(() => undefined);
  };
  return { written, sink: { write, isTTY, width: 80, colorLevel: 0 as const } };
}

test('text and cursor moves reach the terminal in the turn they are written, however slow it is', () => {
  const { written, sink } = recording(true);
  const stream = sinkStream(sink);
  stream.write('one');
  stream.cursorTo(0);
  stream.clearLine();
  stream.moveCursor(0, -2);
  stream.moveCursor(0, 0);
  stream.write('two');
  expect(written).toEqual(['one', '\u001b[1G', '\u001b[2K', '\u001b[2A', 'two']);
});

test('a reader that is gone is no error', async () => {
  const { sink } = recording(false);
  const stream = sinkStream({ ...sink, write: () => Promise.reject(new Error('closed')) });
  expect(stream.write('lost')).toBe(true);
  await Promise.resolve();
});

test('progress on a terminal draws its steps once and leaves a clean line', async () => {
  const { written, sink } = recording(true);
  const progress = await createProgress({ stderr: sinkStream(sink), quiet: false });
  progress.step('sent 1 of 2');
  progress.stop();
  const text = written.join('');
  expect(text.match(/sent 1 of 2/g)).toHaveLength(1);
  expect(text).toMatch(/\u001b\[2K.*\u001b\[\?25h$/s);
});
