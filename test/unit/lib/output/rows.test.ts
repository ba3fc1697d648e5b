import { expect, test } from 'vitest';
import { ndjsonForm } from '../../../../src/lib/output/json.ts';
import { checkColumns } from '../../../../src/lib/output/print.ts';
import { type RowFormat, rowForm } from '../../../../src/lib/output/rows.ts';
import { type AnyView, knownColumns } from '../../../../src/lib/output/view.ts';
import { textView, traders, traderView, writeForm } from '../../../support/output-sample.ts';

const writeAll = (format: RowFormat, columns?: string[]) =>
  writeForm(rowForm(format), { view: traderView, columns }, traders);

/** The rows of texts, without the header. */
async function writeCells(format: RowFormat, cells: readonly string[]): Promise<string> {
  const text = await writeForm(
    rowForm(format),
    { view: textView, columns: cells.length === 1 ? ['first'] : undefined },
    [cells],
  );
  return format === 'plain' ? text : text.slice(text.indexOf('\n') + 1);
}

test('csv has machine values under the column keys', async () => {
  expect(await writeAll('csv')).toBe(
    [
      'rank,name,address,pnl,roi,winRate,bio',
      '1,vitalik_jr,0x1234567890abcdef1234567890abcdef1234cdef,128340.52,212.4,0.72,"buys what the timeline sells, then waits"',
      '2,日本のトレーダー,7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU,-12.5,-0.042,0.5,👨‍👩‍👧 né',
      '3,anon,0xabcdefabcdefabcdefabcdefabcdefabcdef0000,0,,0,',
      '',
    ].join('\n'),
  );
});

test('named columns come in the order they were named, hidden ones too', async () => {
  expect(await writeAll('csv', ['trades', 'rank'])).toBe('trades,rank\n1412,1\n4,2\n0,3\n');
});

test('the header is above the first batch of a list, and alone for an empty list', async () => {
  const list = { view: traderView, columns: ['rank'], answer: undefined };
  expect(await writeForm(rowForm('csv'), list, traders.slice(0, 1), traders.slice(1))).toBe('rank\n1\n2\n3\n');
  expect(await writeForm(rowForm('tsv'), list)).toBe('rank\n');
});

test('piped rows are tab-separated without a header', async () => {
  expect(await writeAll('plain', ['rank', 'pnl', 'roi'])).toBe('1\t128340.52\t212.4\n2\t-12.5\t-0.042\n3\t0\t\n');
});

test('ndjson is the item itself, whatever the columns', async () => {
  const rows = [{ id: 'a', list: [1, 2] }, ['a\u009bb\n'], undefined];
  expect(await writeForm(ndjsonForm, { view: textView, columns: ['first'] }, rows)).toBe(
    '{"id":"a","list":[1,2]}\n["a\\u009bb\\n"]\nnull\n',
  );
});

test.each([
  ['=1+1', "'=1+1\n"],
  ['+1+1', "'+1+1\n"],
  ['-1+1', "'-1+1\n"],
  ['@SUM(A1)', "'@SUM(A1)\n"],
  ['\t=1', '"\'\t=1"\n'],
  ['\r=1', '"\'\r=1"\n'],
  ['＝1+1', "'＝1+1\n"],
  ['\ufeff=1', "'\ufeff=1\n"],
  ['\u0000=1', "'=1\n"],
  ['  =1+1', "'  =1+1\n"],
  ['\u00a0@SUM(A1)', "'\u00a0@SUM(A1)\n"],
  ['\u3000\u200b+1', "'\u3000\u200b+1\n"],
  [' plain', ' plain\n'],
  ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"\n'],
  ['-12.5', '-12.5\n'],
  ['+3', '+3\n'],
  ['-1e-7', '-1e-7\n'],
  ['gm = good', 'gm = good\n'],
  ['a,b', '"a,b"\n'],
  ['whale;=1+1', '"whale;=1+1"\n'],
  ['whale\t=1+1', '"whale\t=1+1"\n'],
  ['say "gm"', '"say ""gm"""\n'],
  ['two\nlines', '"two\nlines"\n'],
  ['\u001b[31mred', 'red\n'],
])('the csv cell %j is written as %j', async (text, expected) => {
  expect(await writeCells('csv', [text])).toBe(expected);
});

test.each([
  ['a\tb', 'a\\tb\n'],
  ['a\nb\r\nc', 'a\\nb\\r\\nc\n'],
  ['C:\\new', 'C:\\\\new\n'],
  ['=1+1', "'=1+1\n"],
  ['a"b', 'a"b\n'],
  ['\u001b[31mred\u202e', 'red\n'],
])('the tsv cell %j is written as %j', async (text, expected) => {
  expect(await writeCells('tsv', [text])).toBe(expected);
});

test('numbers and yes/no are written as JavaScript writes them, no value as nothing', async () => {
  const view: AnyView = {
    layout: 'table',
    rows: (answer) => answer,
    columns: [1e21, 1e-7, -0.1, true, false, null, undefined, Number.NaN].map((value, index) => ({
      key: `c${index}`,
      header: 'C',
      help: 'A value.',
      value: () => value,
    })),
  };
  expect(await writeForm(rowForm('csv'), { view }, [{}])).toBe(
    'c0,c1,c2,c3,c4,c5,c6,c7\n1e+21,1e-7,-0.1,true,false,,,\n',
  );
});

test('an unknown column is named together with the known ones', () => {
  expect(() => checkColumns(textView, ['first', 'third'])).toThrow(
    expect.objectContaining({ message: '--columns third: no such column', hint: 'Columns: first, second.' }),
  );
  expect(() => checkColumns(textView, ['second', 'second'])).not.toThrow();
  expect(knownColumns(textView, ['second', 'second'])).toEqual([textView.columns[1]]);
});
