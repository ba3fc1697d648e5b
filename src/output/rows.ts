import { stringify } from 'csv-stringify/sync';
import { safeText, stripForCsv } from '../model/safe-text.ts';
import { safeJson } from './json.ts';
import { type AnyView, type Cell, cellValue, knownColumns } from './view.ts';

/** One line an item; `plain` is what a pipe gets without `--format`. */
export type RowFormat = 'csv' | 'tsv' | 'ndjson' | 'plain';

export interface RowWriter {
  header: () => string;
  row: (item: unknown, index: number) => string;
}

// Spreadsheets run text that starts like this; some normalize the wide forms and skip blanks and invisible characters.
const formula = /^[\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\s]*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/u;
const plainNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Writes a view's items. csv: RFC 4180 with `\n`. tsv: tab, newline, return and backslash as `\t \n \r \\`. Both: text that a spreadsheet
 * would run gets a leading quote mark. plain: tsv without header and quote marks. ndjson: the item itself. No value is written as nothing.
 */
export function rowWriter(
  view: Pick<AnyView, 'columns'>,
  format: RowFormat,
  options: { columns?: readonly string[] | undefined; header: boolean },
): RowWriter {
  const columns = knownColumns(view, options.columns);
  if (format === 'ndjson') return { header: () => '', row: (item) => `${safeJson(JSON.stringify(item ?? null))}\n` };
  const line = format === 'csv' ? csvLine : format === 'tsv' ? guardedLine : tsvLine;
  const keys = options.header && format !== 'plain' ? line(columns.map((column) => column.key)) : '';
  return { header: () => keys, row: (item, index) => line(columns.map((column) => cellValue(column, item, index))) };
}

function csvLine(row: readonly Cell[]): string {
  // It leaves a lone return bare, which some readers take for a line end.
  const cells = row.map((cell) => (typeof cell === 'string' ? guardFormula(stripForCsv(cell)) : scalar(cell)));
  return stringify([cells], { record_delimiter: '\n', quoted_match: /\r/ });
}

function guardFormula(text: string): string {
  return formula.test(text) && !plainNumber.test(text) ? `'${text}` : text;
}

function tsvLine(row: readonly Cell[]): string {
  return `${row.map((cell) => (typeof cell === 'string' ? tsvText(cell) : scalar(cell))).join('\t')}\n`;
}

function guardedLine(row: readonly Cell[]): string {
  return tsvLine(row.map((cell) => (typeof cell === 'string' ? guardFormula(cell) : cell)));
}

function tsvText(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return safeText(escaped);
}

function scalar(cell: Exclude<Cell, string>): string {
  if (cell === null || cell === undefined || Number.isNaN(cell)) return '';
  return String(cell);
}

/** The rows of a view as TOON: the names of the columns once, then a line a row; a record as its fields. */
export async function toonText(
  view: Pick<AnyView, 'layout' | 'columns'>,
  rows: readonly unknown[],
  columns?: readonly string[],
): Promise<string> {
  const { encode } = await import('@toon-format/toon');
  const chosen = knownColumns(view, columns);
  const objects = rows.map((row, index) =>
    Object.fromEntries(chosen.map((column) => [column.key, cellOf(cellValue(column, row, index))])),
  );
  return `${encode(view.layout === 'record' && objects.length === 1 ? objects[0] : objects)}\n`;
}

function cellOf(value: ReturnType<typeof cellValue>): string | number | boolean | null {
  return typeof value === 'string' ? safeText(value) : (value ?? null);
}
