import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { renderMarkdown } from '../../../src/output/grid.ts';
import { checkColumns } from '../../../src/output/print.ts';
import { type RowFormat, rowWriter } from '../../../src/output/rows.ts';
import { knownColumns } from '../../../src/output/view.ts';
import { textView, traders, traderView } from '../../support/output-sample.ts';

const naughtyPath = 'test/data/hostile/text/blns.json';

function writeAll(format: RowFormat, columns?: string[], header = true): string {
  const writer = rowWriter(traderView, format, columns === undefined ? { header } : { columns, header });
  return writer.header() + traders.map((trader, index) => writer.row(trader, index)).join('');
}

function writeCell(format: RowFormat, text: string): string {
  return rowWriter(textView, format, { columns: ['first'], header: false }).row([text], 0);
}

test('csv has machine values under the column keys', () => {
  expect(writeAll('csv')).toBe(
    [
      'rank,name,address,pnl,roi,winRate,bio',
      '1,vitalik_jr,0x1234567890abcdef1234567890abcdef1234cdef,128340.52,212.4,0.72,"buys what the timeline sells, then waits"',
      '2,日本のトレーダー,7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU,-12.5,-0.042,0.5,👨‍👩‍👧 né',
      '3,anon,0xabcdefabcdefabcdefabcdefabcdefabcdef0000,0,,0,',
      '',
    ].join('\n'),
  );
});

test('named columns come in the order they were named, hidden ones too', () => {
  expect(writeAll('csv', ['trades', 'rank'])).toBe('trades,rank\n1412,1\n4,2\n0,3\n');
});

test('a header is left out when it is not wanted', () => {
  expect(writeAll('csv', ['rank'], false)).toBe('1\n2\n3\n');
  expect(writeAll('tsv', ['rank', 'name'], false)).toBe('1\tvitalik_jr\n2\t日本のトレーダー\n3\tanon\n');
});

test('piped rows are tab-separated without a header', () => {
  expect(writeAll('plain', ['rank', 'pnl', 'roi'])).toBe('1\t128340.52\t212.4\n2\t-12.5\t-0.042\n3\t0\t\n');
});

test('ndjson is the item itself, whatever the columns', () => {
  const writer = rowWriter(textView, 'ndjson', { columns: ['first'], header: true });
  expect(writer.header()).toBe('');
  expect(writer.row({ id: 'a', list: [1, 2] }, 0)).toBe('{"id":"a","list":[1,2]}\n');
  expect(writer.row(['a\u009bb\n'], 1)).toBe('["a\\u009bb\\n"]\n');
  expect(writer.row(undefined, 2)).toBe('null\n');
});

test.each([
  ['=1+1', "'=1+1\n"],
  ['+1+1', "'+1+1\n"],
  ['-1+1', "'-1+1\n"],
  ['@SUM(A1)', "'@SUM(A1)\n"],
  ['\t=1', "'\t=1\n"],
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
  ['say "gm"', '"say ""gm"""\n'],
  ['two\nlines', '"two\nlines"\n'],
  ['\u001b[31mred', 'red\n'],
])('the csv cell %j is written as %j', (text, expected) => {
  expect(writeCell('csv', text)).toBe(expected);
});

test.each([
  ['a\tb', 'a\\tb\n'],
  ['a\nb\r\nc', 'a\\nb\\r\\nc\n'],
  ['C:\\new', 'C:\\\\new\n'],
  ['=1+1', "'=1+1\n"],
  ['a"b', 'a"b\n'],
  ['\u001b[31mred\u202e', 'red\n'],
])('the tsv cell %j is written as %j', (text, expected) => {
  expect(writeCell('tsv', text)).toBe(expected);
});

test('numbers and yes/no are written as JavaScript writes them, no value as nothing', () => {
  const view = {
    columns: [1e21, 1e-7, -0.1, true, false, null, undefined, Number.NaN].map((value, index) => ({
      key: `c${index}`,
      header: 'C',
      help: 'A value.',
      value: () => value,
    })),
  };
  expect(rowWriter(view, 'csv', { header: false }).row({}, 0)).toBe('1e+21,1e-7,-0.1,true,false,,,\n');
});

test('an unknown column is named together with the known ones', () => {
  expect(() => checkColumns(textView, ['first', 'third'])).toThrow(
    expect.objectContaining({ message: '--columns third: no such column', hint: 'Columns: first, second.' }),
  );
  expect(() => checkColumns(textView, ['second', 'second'])).not.toThrow();
  expect(knownColumns(textView, ['second', 'second'])).toEqual([textView.columns[1]]);
});

test('markdown is a GitHub table with its own characters escaped', () => {
  expect(renderMarkdown(textView, [['a|b', '*c* `d` <e> [f](g)\\ h\ni']], {})).toBe(
    '| First | Second |\n| --- | --- |\n| a\\|b | \\*c\\* \\`d\\` \\<e\\> \\[f\\](g)\\\\ h i |\n',
  );
  expect(renderMarkdown(traderView, traders, {}, ['rank', 'address', 'roi'])).toBe(
    '| Rank | Address | ROI |\n| ---: | --- | ---: |\n| 1 | 0x1234…cdef | +212.4% |\n| 2 | 7xKX…gAsU | -0.042% |\n| 3 | 0xabcd…0000 | – |\n',
  );
  expect(renderMarkdown({ ...traderView, layout: 'record' }, traders.slice(0, 1), {}, ['rank', 'pnl'])).toBe(
    '| Name | Value |\n| --- | --- |\n| Rank | 1 |\n| PnL 30d | +$128,340.52 |\n',
  );
  expect(renderMarkdown(traderView, [], {})).toBe('');
});

test('naughty strings keep every format in its rows', () => {
  const strings = JSON.parse(readFileSync(naughtyPath, 'utf8')) as string[];
  const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
  for (const text of strings) {
    const csv = rowWriter(textView, 'csv', { header: false }).row([text, 'end'], 0);
    expect(csv).not.toMatch(control);
    expect(parse(csv, { relax_column_count: true })).toEqual([[expect.any(String), 'end']]);
    const tsv = rowWriter(textView, 'tsv', { header: false }).row([text, 'end'], 0);
    expect(tsv).toMatch(/^[^\t\n\r]*\tend\n$/);
    expect(tsv).not.toMatch(control);
    const ndjson = rowWriter(textView, 'ndjson', { header: false }).row([text, 'end'], 0);
    expect(JSON.parse(ndjson)).toEqual([text, 'end']);
    expect(ndjson.trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
    expect(renderMarkdown(textView, [[text, 'end']], {}).split('\n').length).toBe(4);
  }
});
