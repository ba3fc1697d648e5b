import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { askLine } from '../../../../src/lib/output/confirm.ts';
import { createProgress, sinkStream } from '../../../../src/lib/output/progress.ts';
import { run, temporaryFolder } from '../../../support/harness.ts';

test('an upload shows a spinner on a terminal, nothing with --quiet or --json', async () => {
  const file = join(temporaryFolder(), 'addresses');
  const addresses = Array.from({ length: 2500 }, (_, index) => `0x${(index + 1).toString(16).padStart(40, '0')}`);
  writeFileSync(file, addresses.join('\n'));
  const upload = (...flags: string[]) =>
    run(`--sandbox webhook register --url http://127.0.0.1:4242/hook --file ${file} --yes ${flags.join(' ')}`, {
      tty: 80,
    });
  const spinning = await upload();
  expect(spinning.err).toContain('\u001b[');
  expect(spinning.err).toMatch(/[⠋⠙⠹]/);
  expect((await upload('--quiet')).err).toBe('');
  expect((await upload('--json')).err).toBe('');
});

test('on a terminal a step says how long it has taken, and a line that stays does not', async () => {
  let [text, nowMs] = ['', 0];
  const write = async (more: string) => {
    text += more;
  };
  const err = { write, draw: write, isTTY: true, width: 80, hasColors: false };
  const progress = await createProgress({ quiet: false, now: () => nowMs, err });
  progress.step('sending');
  await expect.poll(() => text).toContain('⠙ sending');
  expect(text).not.toContain('(');
  nowMs = 12_400;
  await expect.poll(() => text).toContain('sending (12 s)');
  progress.done('sent');
  expect(text).toContain('✔ sent\n');
  expect(text).not.toMatch(/\u001b\[\d+m/);
});

test('text and cursor moves reach the terminal in the turn they are written, however slow it is', () => {
  const written: string[] = [];
  const draw = (text: string) => {
    written.push(text);
    return new Promise<void>(() => undefined);
  };
  const stream = sinkStream({ write: draw, draw, isTTY: true, width: 80, hasColors: false });
  stream.write('one');
  stream.cursorTo(0);
  stream.clearLine();
  stream.moveCursor(0, -2);
  stream.moveCursor(0, 0);
  stream.write('two');
  expect(written).toEqual(['one', '\u001b[1G', '\u001b[2K', '\u001b[2A', 'two']);
});

test('an import says how many rows it has seen, and Ctrl-C how far it came', async () => {
  const file = join(temporaryFolder(), 'trades.ndjson');
  const trade = (index: number) => ({
    chain: 'base',
    trader: `0x${(index % 50).toString(16).padStart(40, '0')}`,
    token: `0x${(index % 7).toString(16).padStart(40, 'c')}`,
    side: index % 3 === 2 ? 'sell' : 'buy',
    amount: 10,
    value_usd: 25,
    timestamp: 1_790_000_000 + index,
    tx: `0x${index.toString(16).padStart(64, '0')}`,
  });
  writeFileSync(file, Array.from({ length: 6000 }, (_, index) => JSON.stringify(trade(index))).join('\n'));
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const spinning = await run(`sandbox import ${file}`, { env, tty: 80 });
  expect([spinning.code, spinning.out]).toEqual([0, expect.stringContaining('6,000')]);
  expect(spinning.err).toContain('5,000 rows read');
  expect((await run(`sandbox import ${file} --quiet`, { env, tty: 80 })).err).toBe('');
  const stopped = await run(`sandbox import ${file}`, { signal: AbortSignal.abort() });
  expect(stopped.code).toBe(130);
  expect(stopped.err).toMatch(
    /^error: interrupted at row [\d,]{1,5}; trades stored: 0\nhint: Run the same command again to import the rest.\n$/,
  );
});

test('each answer ends one line, however many questions came before', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const shown: string[] = [];
  for (const question of ['One? ', 'Two? ', 'Three? ']) {
    const answer = askLine({ question, hidden: false, input, output, stop: new AbortController() });
    input.write('yes\r');
    expect(await answer).toBe('yes');
    shown.push(String(output.read()));
  }
  expect(shown.map((text) => text.split('\n').length - 1)).toEqual([1, 1, 1]);
});
