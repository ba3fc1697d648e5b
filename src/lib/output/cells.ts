import { safeText } from '../../api/safe-text.ts';
import { missing } from './format.ts';
import { type AnyColumn, type CellText, cellValue, readLoosely } from './view.ts';

/** Rows as people read them, `from` being the index of the first: on one line and safe for a terminal, `–` for no value. */
export function readCells(columns: readonly AnyColumn[], rows: readonly unknown[], from: number): CellText[][] {
  return rows.map((row, index) =>
    columns.map((column) => {
      const { text, short, ...shown } = readCell(column, row, from + index);
      return { ...shown, text: safeText(text), ...(short !== undefined && { short: safeText(short) }) };
    }),
  );
}

export function readCell(column: AnyColumn, row: unknown, index: number): CellText {
  const shown = readLoosely(() => column.show?.(row as never, index));
  const isShown = typeof shown === 'object' && shown !== null && typeof shown.text === 'string';
  const value = isShown || typeof shown === 'string' ? shown : cellValue(column, row, index);
  if (value === null || value === undefined || value === missing) return { text: missing, tone: 'muted' };
  return typeof value === 'object' ? value : { text: String(value) };
}

/** The side that a column names; by default numbers are on the right. */
export function chooseSide(column: AnyColumn, rows: readonly unknown[]): 'left' | 'right' {
  if (column.align !== undefined) return column.align;
  const values = rows.map((row, index) => cellValue(column, row, index)).filter((value) => value != null);
  return values.length > 0 && values.every((value) => typeof value === 'number') ? 'right' : 'left';
}
