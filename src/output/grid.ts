import { safeText } from '../model/safe-text.ts';
import { missing } from './format.ts';
import { type AnyColumn, type CellText, cellValue, readLoosely } from './view.ts';

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

/** Rows as people read them, counted on from the index of the first: on one line and safe for a terminal, `–` for no value, numbers on the right. */
export function readGrid(columns: readonly AnyColumn[], rows: readonly unknown[], from = 0): Grid {
  return {
    heads: columns.map((column) => {
      const { header, cut, keep } = column;
      return { text: safeText(header), side: chooseSide(column, rows), cut, keep };
    }),
    lines: rows.map((row, index) =>
      columns.map((column) => {
        const { text, short, ...shown } = readCell(column, row, from + index);
        return { ...shown, text: safeText(text), ...(short !== undefined && { short: safeText(short) }) };
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
