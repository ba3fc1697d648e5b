import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { askLine } from '../../../src/output/confirm.ts';

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
