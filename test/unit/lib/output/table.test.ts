import { expect, test } from 'vitest';
import { createPalette, tableForm } from '../../../../src/lib/output/draw.ts';
import type { View } from '../../../../src/lib/output/view.ts';

const view: View<readonly string[], string> = {
  layout: 'table',
  rows: (answer) => answer,
  columns: [
    { key: 'name', header: 'Name', help: 'The name.', value: (name) => name },
    { key: 'length', header: 'Length', help: 'Its length.', value: (name) => name.length },
  ],
};

/** What a terminal shows of rows that arrive in batches. */
async function drawLive(width: number, batches: readonly string[][]): Promise<string> {
  async function* give() {
    yield* batches;
  }
  const answer = { json: undefined, blocks: [] };
  const rows = { view, live: true, columns: undefined, input: {}, toJson: () => [], answer, batches: give() };
  let text = '\n';
  for await (const piece of tableForm({ width, palette: createPalette(false), note: () => {} })(rows)) text += piece;
  return text;
}

test('rows that arrive later are under the header of the first, which is written again when columns grow', async () => {
  expect(await drawLive(80, [['ab'], ['cd', 'ef'], ['longer'], ['gh']])).toBe(`
Name  Length
────────────
ab         2
cd         2
ef         2
Name    Length
──────────────
longer       6
gh           2
`);
});

test('rows that arrive later and are too wide for the terminal come as records', async () => {
  expect(await drawLive(8, [['a'], ['b']])).toBe(`
Name    a
Length  1

Name    b
Length  1
`);
});
