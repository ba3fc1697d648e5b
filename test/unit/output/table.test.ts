import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { createPalette } from '../../../src/output/color.ts';
import { liveTable, renderView } from '../../../src/output/table.ts';
import { displayWidth } from '../../../src/output/text-width.ts';
import type { Block, View } from '../../../src/output/view.ts';
import { type Trader, traders, traderView } from '../../support/output-sample.ts';
import { size } from '../../support/size.ts';

const palette = createPalette(0);

function renderTraders(width: number, { columns }: { columns?: string[] } = {}): string {
  return renderView({ view: traderView, rows: traders, columns }, { width, palette });
}

test('a wide terminal gets the whole table', () => {
  expect(`\n${renderTraders(140)}`).toBe(`
Rank  Trader            Address           PnL 30d      ROI  Win rate  Bio
──────────────────────────────────────────────────────────────────────────────────────────────────────────────
   1  vitalik_jr        0x1234…cdef  +$128,340.52  +212.4%       72%  buys what the timeline sells, then waits
   2  日本のトレーダー  7xKX…gAsU         -$12.50  -0.042%       50%  👨‍👩‍👧 né
   3  anon              0xabcd…0000         $0.00        –        0%  –
`);
});

test('a terminal of 80 columns gets a table with the long columns cut to fit exactly', () => {
  expect(`\n${renderTraders(80)}`).toBe(`
Rank  Trader         Address           PnL 30d      ROI  Win rate  Bio
────────────────────────────────────────────────────────────────────────────────
   1  vitalik_jr     0x1234…cdef  +$128,340.52  +212.4%       72%  buys what th…
   2  日本のトレー…  7xKX…gAsU         -$12.50  -0.042%       50%  👨‍👩‍👧 né
   3  anon           0xabcd…0000         $0.00        –        0%  –
`);
});

test('a terminal of 60 columns gets a card an item', () => {
  expect(`\n${renderTraders(60)}`).toBe(`
Rank      1
Trader    vitalik_jr
Address   0x1234…cdef
PnL 30d   +$128,340.52
ROI       +212.4%
Win rate  72%
Bio       buys what the timeline sells, then waits

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

test('a terminal of 40 columns gets cards with the long values cut', () => {
  expect(`\n${renderTraders(40)}`).toBe(`
Rank      1
Trader    vitalik_jr
Address   0x1234…cdef
PnL 30d   +$128,340.52
ROI       +212.4%
Win rate  72%
Bio       buys what the timeline sells,…

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

test('named columns come in the order they were named', () => {
  expect(`\n${renderTraders(80, { columns: ['trades', 'name'] })}`).toBe(`
Trades  Trader
────────────────────────
 1,412  vitalik_jr
     4  日本のトレーダー
     0  anon
`);
});

test('a record is one line a column, addresses whole and prose wrapped under itself', () => {
  const record: View<Trader, Trader> = {
    layout: 'record',
    rows: (answer) => [answer],
    columns: [
      { key: 'address', header: 'Address', help: 'The address.', value: (row) => row.address, cut: 'middle' },
      { key: 'trades', header: 'Trades', help: 'How many.', value: (row) => row.trades },
      { key: 'bio', header: 'Bio', help: 'What the trader says.', value: (row) => row.bio, cut: 'end' },
      { key: 'roi', header: 'ROI', help: 'In percent.', value: () => null },
    ],
  };
  expect(`\n${renderView({ view: record, rows: traders.slice(0, 1) }, { width: 30, palette })}`).toBe(`
Address  0x1234567890abcdef1234567890abcdef1234cdef
Trades   1412
Bio      buys what the
         timeline sells, then
         waits
ROI      –
`);
});

test('further blocks stand below under their titles, empty ones are left out', () => {
  const blocks: Block[] = [
    { title: 'Nothing', layout: 'table', columns: traderView.columns, rows: [] },
    { title: 'Best', layout: 'record', columns: traderView.columns.slice(0, 2), rows: traders.slice(0, 1) },
  ];
  const shown = { view: traderView, columns: ['rank'], rows: traders.slice(0, 1), blocks };
  expect(`\n${renderView(shown, { width: 80, palette })}`).toBe(`
Rank
────
   1

Best
Rank    1
Trader  vitalik_jr
`);
});

test('no rows are no text', () => {
  expect(renderView({ view: traderView, rows: [] }, { width: 80, palette })).toBe('');
});

test('gains are green and losses red, headers bold, and without color nothing else changes', () => {
  const shown = { view: traderView, columns: ['rank', 'pnl'], rows: traders };
  const options = { width: 80 };
  const colored = renderView(shown, { ...options, palette: createPalette(1) });
  expect(colored.split('\n').slice(0, 5)).toEqual([
    '\u001b[1mRank\u001b[22m       \u001b[1mPnL 30d\u001b[22m',
    '\u001b[2m──────────────────\u001b[22m',
    '   1  \u001b[32m+$128,340.52\u001b[39m',
    '   2       \u001b[31m-$12.50\u001b[39m',
    '   3         $0.00',
  ]);
  expect(stripVTControlCharacters(colored)).toBe(renderView(shown, { ...options, palette }));
});

test('a long table keeps its columns to the last row', () => {
  const many = Array.from({ length: 120 }, () => traders).flat();
  const lines = renderView({ view: traderView, rows: many }, { width: 80, palette }).trimEnd().split('\n');
  expect(lines.length).toBe(362);
  expect(lines.at(-3)).toBe('   1  vitalik_jr     0x1234…cdef  +$128,340.52  +212.4%       72%  buys what th…');
  expect(lines.filter((line) => line.startsWith('Rank')).length).toBe(1);
});

test('no width from 40 to 300 makes a line wider than the terminal, and no width crashes', () => {
  for (let width = 40; width <= 300; width += size(5, 1)) {
    const widest = Math.max(...renderTraders(width).split('\n').map(displayWidth));
    expect(widest).toBeLessThanOrEqual(width);
  }
  for (const width of [0, 1, 2, 7, 20]) expect(renderTraders(width)).toContain('Rank      1\n');
});

const textTable = (rows: readonly unknown[]) => {
  const width = Math.max(4, ...rows.map((row) => String(row).length));
  return ['Name'.padEnd(width), '─'.repeat(width), ...rows.map((row) => String(row).padEnd(width)), ''].join('\n');
};

test('rows that arrive later stand under the header of the first, which is written again when columns grow', () => {
  const next = liveTable(textTable);
  expect(next(['ab'])).toBe('Name\n────\nab  \n');
  expect(next(['cd', 'ef'])).toBe('cd  \nef  \n');
  expect(next(['longer'])).toBe('Name  \n──────\nlonger\n');
  expect(next(['gh'])).toBe('gh    \n');
});

test('a table too wide for the terminal comes as cards, each batch as it is', () => {
  const next = liveTable((rows) => rows.map((row) => `Name  ${row}\nToken  x\nCost  1\n`).join('\n'));
  expect(next(['a', 'b'])).toBe('Name  a\nToken  x\nCost  1\n\nName  b\nToken  x\nCost  1\n');
  expect(next(['c'])).toBe('Name  c\nToken  x\nCost  1\n');
});
