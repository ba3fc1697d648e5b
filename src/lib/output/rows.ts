import { stringify } from 'csv-stringify/sync';
import { safeText, stripForCsv } from '../../api/safe-text.ts';
import { type AnyColumn, type CellValue, cellValue, type Form, knownColumns } from './view.ts';

/** One line a row; `plain` is the default in a pipe. */
export type RowFormat = 'csv' | 'tsv' | 'plain';

// Spreadsheets run text that starts like this; some normalize the wide forms and skip blanks and invisible characters.
const formula = /^[\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\s]*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/u;
const plainNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * csv: RFC 4180 with `\n`. tsv: tab, newline, return and backslash as `\t \n \r \\`. Both: the keys of the columns first, and text that a
 * spreadsheet would run gets a leading quote mark. plain: tsv without header and quote marks, a record as a line a column. No value is written
 * as nothing.
 */
export function rowForm(format: RowFormat): Form {
  const write = writers[format];
  return async function* ({ view, columns: named, batches, answer }) {
    const columns = knownColumns(view, named);
    if (format === 'plain' && answer !== undefined && view.layout === 'record') {
      for await (const rows of batches) yield columns.map((column) => writeFacts(column, rows)).join('');
      return;
    }
    let header = format === 'plain' ? '' : write([columns.map(({ key }) => key)]);
    let before = 0;
    for await (const rows of batches) {
      yield header + write(rows.map((row, index) => columns.map((column) => cellValue(column, row, before + index))));
      header = '';
      before += rows.length;
    }
    yield header;
  };
}

function writeFacts(column: AnyColumn, rows: readonly unknown[]): string {
  return rows.map((row) => `${column.key}\t${writers.plain([[cellValue(column, row, 0)]])}`).join('');
}

const writers: Readonly<Record<RowFormat, (rows: readonly (readonly CellValue[])[]) => string>> = {
  // csv-stringify leaves a lone return bare, which some readers take for a line end.
  csv: (rows) =>
    stringify(rows.map(mapTexts((text) => guardFormula(stripForCsv(text)))), {
      record_delimiter: '\n',
      // A reader that separates cells by semicolons or tabs would run the text after one as a formula.
      quoted_match: /[\r;\t]/,
    }),
  tsv: (rows) => joinTabs(rows.map(mapTexts((text) => escapeTsv(guardFormula(text))))),
  plain: (rows) => joinTabs(rows.map(mapTexts(escapeTsv))),
};

function mapTexts(write: (text: string) => string) {
  return (row: readonly CellValue[]) =>
    row.map((cell) => (typeof cell === 'string' ? write(cell) : formatScalar(cell)));
}

function joinTabs(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `${cells.join('\t')}\n`).join('');
}

function guardFormula(text: string): string {
  return formula.test(text) && !plainNumber.test(text) ? `'${text}` : text;
}

function escapeTsv(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return safeText(escaped);
}

function formatScalar(cell: Exclude<CellValue, string>): string {
  return cell === null || cell === undefined || Number.isNaN(cell) ? '' : String(cell);
}
