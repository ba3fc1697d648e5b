import { expect, test } from 'vitest';
import { answering, run } from '../../../support/harness.ts';

/** What a list of these texts prints, without the header. */
async function printCells(format: string, texts: readonly string[]): Promise<string> {
  const { env } = await answering(texts.map((text) => ({ uid: 'u', destinationUrl: text })));
  const { out } = await run(`webhook list --columns destinationUrl --format ${format}`, { env });
  return out.slice(out.indexOf('\n') + 1);
}

const csv: readonly [text: string, cell: string][] = [
  ['=1+1', "'=1+1"],
  ['+1+1', "'+1+1"],
  ['-1+1', "'-1+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', '"\'\t=1"'],
  ['\r=1', '"\'\r=1"'],
  ['＝1+1', "'＝1+1"],
  ['\ufeff=1', "'\ufeff=1"],
  ['\u0000=1', "'=1"],
  ['  =1+1', "'  =1+1"],
  ['\u00a0@SUM(A1)', "'\u00a0@SUM(A1)"],
  ['\u3000\u200b+1', "'\u3000\u200b+1"],
  [' plain', ' plain'],
  ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
  ['-12.5', '-12.5'],
  ['+3', '+3'],
  ['-1e-7', '-1e-7'],
  ['gm = good', 'gm = good'],
  ['a,b', '"a,b"'],
  ['whale;=1+1', '"whale;=1+1"'],
  ['whale\t=1+1', '"whale\t=1+1"'],
  ['say "gm"', '"say ""gm"""'],
  ['two\nlines', '"two\nlines"'],
  ['\u001b[31mred', 'red'],
];

const tsv: readonly [text: string, cell: string][] = [
  ['a\tb', 'a\\tb'],
  ['a\nb\r\nc', 'a\\nb\\r\\nc'],
  ['C:\\new', 'C:\\\\new'],
  ['=1+1', "'=1+1"],
  ['a"b', 'a"b'],
  ['\u001b[31mred\u202e', 'red'],
];

test.each([
  ['csv', csv],
  ['tsv', tsv],
])('a spreadsheet runs no cell of %s, and reads back each text', async (format, cells) => {
  const printed = await printCells(
    format,
    cells.map(([text]) => text),
  );
  expect(printed).toBe(cells.map(([, cell]) => `${cell}\n`).join(''));
});

test('an empty list has the header alone', async () => {
  const { env } = await answering([]);
  expect(await run('webhook list --columns uid --format csv', { env })).toMatchObject({ code: 0, out: 'uid\n' });
});
