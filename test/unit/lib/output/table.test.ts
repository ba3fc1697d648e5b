import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { createPalette, tableForm } from '../../../../src/lib/output/draw.ts';
import { displayWidth } from '../../../../src/lib/output/text-width.ts';
import type { Block, View } from '../../../../src/lib/output/view.ts';
import { type Trader, traders, traderView, writeForm } from '../../../support/output-sample.ts';
import { size } from '../../../support/size.ts';

const draw = (width: number, rows: Parameters<typeof writeForm>[1], ...batches: (readonly unknown[])[]) =>
  writeForm(tableForm({ width, palette: createPalette(false), note: () => {} }), rows, ...batches);

const drawTraders = (width: number, columns?: string[]) => draw(width, { view: traderView, columns }, traders);

test('a wide terminal gets the whole table', async () => {
  expect(`\n${await drawTraders(140)}`).toBe(`
Rank  Trader            Address           PnL 30d      ROI  Win rate  Bio
──────────────────────────────────────────────────────────────────────────────────────────────────────────────
   1  vitalik_jr        0x1234…cdef  +$128,340.52  +212.4%       72%  buys what the timeline sells, then waits
   2  日本のトレーダー  7xKX…gAsU         -$12.50  -0.042%       50%  👨‍👩‍👧 né
   3  anon              0xabcd…0000         $0.00        –        0%  –
`);
});

test('a terminal of 80 columns gets a table with the long columns cut to fit exactly', async () => {
  expect(`\n${await drawTraders(80)}`).toBe(`
Rank  Trader         Address           PnL 30d      ROI  Win rate  Bio
────────────────────────────────────────────────────────────────────────────────
   1  vitalik_jr     0x1234…cdef  +$128,340.52  +212.4%       72%  buys what th…
   2  日本のトレー…  7xKX…gAsU         -$12.50  -0.042%       50%  👨‍👩‍👧 né
   3  anon           0xabcd…0000         $0.00        –        0%  –
`);
});

test('a narrow terminal gets a record an item, with the long values wrapped', async () => {
  expect(`\n${await drawTraders(40)}`).toBe(`
Rank      1
Trader    vitalik_jr
Address   0x1234…cdef
PnL 30d   +$128,340.52
ROI       +212.4%
Win rate  72%
Bio       buys what the timeline sells,
          then waits

Rank      2
Trader    日本のトレーダー
Address   7xKX…gAsU
PnL 30d   -$12.50
ROI       -0.042%
Win rate  50%
Bio       👨‍👩‍👧 né

Rank      3
Trader    anon
Address   0xabcd…0000
PnL 30d   $0.00
ROI       –
Win rate  0%
Bio       –
`);
});

test('named columns come in the order they were named', async () => {
  expect(`\n${await drawTraders(80, ['trades', 'name'])}`).toBe(`
Trades  Trader
────────────────────────
 1,412  vitalik_jr
     4  日本のトレーダー
     0  anon
`);
});

test('a record is one line a column, addresses whole and prose wrapped under itself', async () => {
  const record: View<Trader, Trader> = {
    layout: 'record',
    rows: (answer) => [answer],
    columns: [
      { key: 'address', header: 'Address', help: 'The address.', value: (row) => row.address, cut: true },
      { key: 'trades', header: 'Trades', help: 'How many.', value: (row) => row.trades },
      { key: 'bio', header: 'Bio', help: 'What the trader says.', value: (row) => row.bio, cut: true },
      { key: 'roi', header: 'ROI', help: 'In percent.', value: () => null },
    ],
  };
  expect(`\n${await draw(30, { view: record }, traders.slice(0, 1))}`).toBe(`
Address  0x1234567890abcdef1234567890abcdef1234cdef
Trades   1412
Bio      buys what the
         timeline sells, then
         waits
ROI      –
`);
});

test('further blocks follow under their titles, empty ones are left out', async () => {
  const blocks: Block[] = [
    { title: 'Nothing', layout: 'table', columns: traderView.columns, rows: [] },
    { title: 'Best', layout: 'record', columns: traderView.columns.slice(0, 2), rows: traders.slice(0, 1) },
  ];
  const shown = { view: traderView, columns: ['rank'], answer: { json: undefined, blocks } };
  expect(`\n${await draw(80, shown, traders.slice(0, 1))}`).toBe(`
Rank
────
   1

Best
Rank    1
Trader  vitalik_jr
`);
});

test('no rows are no text', async () => {
  expect(await draw(80, { view: traderView }, [])).toBe('');
});

test('gains are green and losses red, headers bold, and without color nothing else changes', async () => {
  const form = tableForm({ width: 80, palette: createPalette(true), note: () => {} });
  const colored = await writeForm(form, { view: traderView, columns: ['rank', 'pnl'] }, traders);
  expect(colored.split('\n').slice(0, 5)).toEqual([
    '\u001b[1mRank\u001b[22m       \u001b[1mPnL 30d\u001b[22m',
    '\u001b[2m──────────────────\u001b[22m',
    '   1  \u001b[32m+$128,340.52\u001b[39m',
    '   2       \u001b[31m-$12.50\u001b[39m',
    '   3         $0.00',
  ]);
  expect(stripVTControlCharacters(colored)).toBe(await drawTraders(80, ['rank', 'pnl']));
});

test('a long table keeps its columns to the last row', async () => {
  const many = Array.from({ length: 120 }, () => traders).flat();
  const lines = (await draw(80, { view: traderView }, many)).trimEnd().split('\n');
  expect(lines.length).toBe(362);
  expect(lines.at(-3)).toBe('   1  vitalik_jr     0x1234…cdef  +$128,340.52  +212.4%       72%  buys what th…');
  expect(lines.filter((line) => line.startsWith('Rank')).length).toBe(1);
});

test('no width from 40 to 300 makes a line wider than the terminal, and no width crashes', async () => {
  for (let width = 40; width <= 300; width += size(5, 1)) {
    const widest = Math.max(...(await drawTraders(width)).split('\n').map(displayWidth));
    expect(widest).toBeLessThanOrEqual(width);
  }
  for (const width of [0, 1, 2, 7, 20]) expect(await drawTraders(width)).toContain('Rank      1\n');
});

const names: View<readonly string[], string> = {
  layout: 'table',
  rows: (answer) => answer,
  columns: [
    { key: 'name', header: 'Name', help: 'The name.', value: (name) => name },
    { key: 'length', header: 'Length', help: 'Its length.', value: (name) => name.length },
  ],
};

test('rows that arrive later are under the header of the first, which is written again when columns grow', async () => {
  const batches = [['ab'], ['cd', 'ef'], ['longer'], ['gh']];
  expect(`\n${await draw(80, { view: names, live: true }, ...batches)}`).toBe(`
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
  expect(`\n${await draw(8, { view: names, live: true }, ['a'], ['b'])}`).toBe(`
Name    a
Length  1

Name    b
Length  1
`);
});

test.each(['नमस्ते', '🪙🫡', 'x\u3099', 'ที่', '👨‍👩‍👧 family', '日本の'])(
  '%s takes as many cells as on the screen',
  async (name) => {
    const lines = (await draw(80, { view: names }, [name, 'ab'])).trimEnd().split('\n');
    expect(lines.map(displayWidth)).toEqual(lines.map(() => displayWidth(lines[0] ?? '')));
    expect(lines[2]).toContain(name);
  },
);

const wallets: View<readonly string[], string> = {
  layout: 'table',
  rows: (answer) => answer,
  columns: [
    { key: 'name', header: 'Name', help: 'The name.', value: (name) => name, cut: true },
    { key: 'empty', header: 'Nothing', help: 'No value.', value: () => null },
    { key: 'chain', header: 'Chain', help: 'The chain.', value: () => 'base', drop: 1 },
    { key: 'status', header: 'Status', help: 'The status.', value: () => 'open', drop: 2 },
    {
      key: 'address',
      header: 'Address',
      help: 'The address.',
      value: () => '0x1234567890abcdef1234567890abcdef1234cdef',
      show: () => ({ text: '0x1234567890abcdef1234567890abcdef1234cdef', short: '0x1234…cdef' }),
    },
  ],
};

test.each([
  [100, 'Name                       Nothing  Chain  Status  Address', []],
  [60, 'Name                       Chain  Status  Address', []],
  [48, 'Name                  Chain  Status  Address', []],
  [40, 'Name                  Chain  Address', ['1 column hidden, see --columns']],
  [24, 'Name         Address', ['2 columns hidden, see --columns']],
])('at %i columns the head is %j, and hidden columns are counted: %j', async (width, head, hidden) => {
  const notes: string[] = [];
  const form = tableForm({ width, palette: createPalette(false), note: (text) => notes.push(text) });
  const out = await writeForm(form, { view: wallets }, ['a-name-of-twenty-five-ch.', 'b']);
  expect([out.split('\n')[0], notes]).toEqual([head, hidden]);
});
