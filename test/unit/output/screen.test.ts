import { expect, test } from 'vitest';
import { createPalette } from '../../../src/output/color.ts';
import { drawPictures } from '../../../src/output/table.ts';

test('a line is erased before it is drawn: erasing after it would take the last character of one as wide as the terminal', async () => {
  let written = '';
  const write = async (text: string) => {
    written += text;
  };
  async function* pictures() {
    yield { text: `${'x'.repeat(20)}\n`, notes: ['a note'] };
  }
  await drawPictures(pictures(), { isTTY: true, width: 20, colorLevel: 0, write, draw: write }, createPalette(0));
  expect(written).toContain(`\u001b[K${'x'.repeat(20)}\n\u001b[Ka note\n`);
});
