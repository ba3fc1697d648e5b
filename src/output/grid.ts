import { safeText } from '../model/safe-text.ts';
import { missing } from './format.ts';
import {
  type AnyColumn,
  type AnyView,
  type CellText,
  cellValue,
  collectItems,
  type Form,
  joinParts,
  knownColumns,
  readLoosely,
  tableBatches,
} from './view.ts';

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
  const cleanCell = unicode ? safeText : (text: string) => plainOrnaments(safeText(text));
  return {
    heads: columns.map((column) => {
      const { header, cut, keep } = column;
      return { text: cleanCell(header), side: chooseSide(column, rows), cut, keep };
    }),
    lines: rows.map((row, index) =>
      columns.map((column) => {
        const { text, short, ...shown } = readCell(column, row, index);
        return { ...shown, text: cleanCell(text), ...(short !== undefined && { short: cleanCell(short) }) };
      }),
    ),
  };
}

/** The column that says what a row is about: the one its view stresses, or the first in which the rows differ. */
export function findNamingColumn(lines: Grid['lines']): number {
  const [first = [], ...others] = lines;
  const differs = first.map((cell, index) => others.some((cells) => cells[index]?.text !== cell.text));
  const stressed = first.findIndex(({ tone }, index) => tone === 'strong' && differs[index]);
  return stressed === -1 ? Math.max(0, differs.indexOf(true)) : stressed;
}

export function readCell(column: AnyColumn, row: unknown, index: number): CellText {
  const shown = readLoosely(() => column.show?.(row as never, index));
  const isShown = typeof shown === 'object' && shown !== null && typeof shown.text === 'string';
  const value = isShown || typeof shown === 'string' ? shown : cellValue(column, row, index);
  if (value === null || value === undefined || value === missing) return { text: missing, tone: 'muted' };
  return typeof value === 'object' ? value : { text: String(value) };
}

export function chooseSide(column: AnyColumn, rows: readonly unknown[]): 'left' | 'right' {
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

/** The answer for screen readers: `Header: value` lines, nothing cut or drawn, items counted, further blocks under their title. */
export function factsForm(unicode: boolean): Form {
  const writeFactLines = (layout: AnyView['layout'], columns: readonly AnyColumn[], rows: readonly unknown[]) => {
    const { heads, lines } = readGrid(columns, rows, unicode);
    const items = lines.map((cells, index) => {
      const count = layout === 'record' ? '' : `${index + 1} of ${rows.length}\n`;
      const facts = heads.map(({ text }, place) => `${text}: ${sayValue(cells[place]?.text ?? '')}`);
      return `${count}${facts.join('\n')}\n`;
    });
    return items.join('\n');
  };
  return async function* (given) {
    const { view, columns, answer } = given;
    for await (const rows of tableBatches(given))
      yield joinParts([
        writeFactLines(view.layout, knownColumns(view, columns), rows),
        ...(answer?.blocks ?? []).map((block) => {
          const facts = writeFactLines(block.layout, block.columns, block.rows);
          return facts === '' || block.title === undefined ? facts : `${safeText(block.title)}\n\n${facts}`;
        }),
      ]);
  };
}

/** A dash for a missing value is not read aloud. */
function sayValue(text: string): string {
  return text === '' || text === missing || text === '-' ? 'none' : text;
}

/** A GitHub table, of a record one of names and values; nothing without rows. */
export const markdownForm: Form = async function* ({ view, columns, batches }) {
  const rows = await collectItems(batches);
  if (rows.length === 0) return;
  const { heads, lines } = readGrid(knownColumns(view, columns), rows);
  if (view.layout === 'record') {
    const pairs = lines.flatMap((cells) => cells.map((cell, index) => [heads[index]?.text ?? '', cell.text]));
    yield [markdownLine(['Name', 'Value']), markdownRule(['left', 'left']), ...pairs.map(markdownLine)].join('');
    return;
  }
  yield [
    markdownLine(heads.map((head) => head.text)),
    markdownRule(heads.map((head) => head.side)),
    ...lines.map((cells) => markdownLine(cells.map((cell) => cell.text))),
  ].join('');
};

function markdownLine(cells: readonly string[]): string {
  return `| ${cells.map((text) => text.replace(/[\\`*_[\]<>|~&!]/g, '\\$&')).join(' | ')} |\n`;
}

function markdownRule(sides: readonly Head['side'][]): string {
  return `| ${sides.map((side) => (side === 'right' ? '---:' : '---')).join(' | ')} |\n`;
}
