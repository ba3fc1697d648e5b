import { safeText } from '../model/safe-text.ts';
import { missing } from './format.ts';
import { type AnyColumn, type AnyView, blocksOf, type CellText, cellValue, knownColumns, orMisfit } from './view.ts';

export interface Head {
  text: string;
  side: 'left' | 'right';
  cut: 'middle' | 'end' | undefined;
  keep: number | undefined;
}

/** What every human format is made of: the headers, and a line of cells for each row. */
export interface Grid {
  heads: readonly Head[];
  lines: readonly (readonly CellText[])[];
}

/** Rows as people read them: on one line and safe for a terminal, `–` for no value, numbers on the right; ASCII only without `unicode`. */
export function readGrid(columns: readonly AnyColumn[], rows: readonly unknown[], unicode = true): Grid {
  const write = unicode ? safeText : (text: string) => plainOrnaments(safeText(text));
  return {
    heads: columns.map((column) => {
      const { header, cut, keep } = column;
      return { text: write(header), side: sideOf(column, rows), cut, keep };
    }),
    lines: rows.map((row, index) =>
      columns.map((column) => {
        const { text, short, ...shown } = readCell(column, row, index);
        return { ...shown, text: write(text), ...(short !== undefined && { short: write(short) }) };
      }),
    ),
  };
}

export function readCell(column: AnyColumn, row: unknown, index: number): CellText {
  const shown = orMisfit(() => column.show?.(row as never, index));
  const isShown = typeof shown === 'object' && shown !== null && typeof shown.text === 'string';
  const value = isShown || typeof shown === 'string' ? shown : cellValue(column, row, index);
  if (value === null || value === undefined || value === missing) return { text: missing, tone: 'muted' };
  return typeof value === 'object' ? value : { text: String(value) };
}

function sideOf(column: AnyColumn, rows: readonly unknown[]): 'left' | 'right' {
  if (column.align !== undefined) return column.align;
  const values = rows.map((row, index) => cellValue(column, row, index)).filter((value) => value != null);
  return values.length > 0 && values.every((value) => typeof value === 'number') ? 'right' : 'left';
}

function plainOrnaments(text: string): string {
  return text
    .replaceAll('…', '...')
    .replaceAll('–', '-')
    .replaceAll('∞', 'inf')
    .replaceAll('×', 'x')
    .replaceAll('▲', '^')
    .replaceAll('▼', 'v');
}

interface PlainOptions {
  unicode: boolean;
  columns?: readonly string[] | undefined;
  /** Of a part: its first row and the number of rows in all. */
  place?: { from: number; of: number } | undefined;
}

/** The answer for screen readers: `Header: value` lines, nothing cut or drawn, items counted, further blocks under their title. */
export function renderPlain(view: AnyView, answer: unknown, input: unknown, options: PlainOptions): string {
  const rows = view.rows(answer as never, input as never);
  const blocks = blocksOf(view, answer, input);
  const parts = [
    factsOf(view.layout, knownColumns(view, options.columns), rows, options),
    ...blocks.map(({ title, layout, columns, rows: own }) => {
      const facts = factsOf(layout, columns, own, { unicode: options.unicode });
      return facts === '' || title === undefined ? facts : `${safeText(title)}\n\n${facts}`;
    }),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function factsOf(
  layout: 'table' | 'record',
  columns: readonly AnyColumn[],
  rows: readonly unknown[],
  { unicode, place }: PlainOptions,
): string {
  const { heads, lines } = readGrid(columns, rows, unicode);
  const items = lines.map((cells) =>
    heads.map(({ text }, index) => `${text}: ${spoken(cells[index]?.text ?? '')}`).join('\n'),
  );
  const counted =
    layout === 'record'
      ? items
      : items.map((item, index) => `${(place?.from ?? 0) + index + 1} of ${place?.of ?? items.length}\n${item}`);
  return counted.length === 0 ? '' : `${counted.join('\n\n')}\n`;
}

/** A dash for a missing value is not read aloud. */
function spoken(text: string): string {
  return text === '' || text === missing || text === '-' ? 'none' : text;
}

/** The answer as a GitHub table, a record as a table of name and value; empty without rows. */
export function renderMarkdown(view: AnyView, answer: unknown, input: unknown, columns?: readonly string[]): string {
  const rows = view.rows(answer as never, input as never);
  if (rows.length === 0) return '';
  const { heads, lines } = readGrid(knownColumns(view, columns), rows);
  if (view.layout === 'record') {
    const pairs = lines.flatMap((cells) => cells.map((cell, index) => [heads[index]?.text ?? '', cell.text]));
    return [line(['Name', 'Value']), line(['---', '---'], String), ...pairs.map((pair) => line(pair))].join('');
  }
  const rule = heads.map((head) => (head.side === 'right' ? '---:' : '---'));
  return [
    line(heads.map((head) => head.text)),
    line(rule, String),
    ...lines.map((cells) => line(cells.map((cell) => cell.text))),
  ].join('');
}

function line(cells: readonly string[], write = escapeMarkdown): string {
  return `| ${cells.map((cell) => write(cell)).join(' | ')} |\n`;
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>|~&!]/g, '\\$&');
}
