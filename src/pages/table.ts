import { chooseSide, findNamingColumn, readCell } from '../output/grid.ts';
import { type AnyView, type CellText, type CellValue, cellValue, listRows } from '../output/view.ts';

/** What a view shows of an answer, as the terminal does: a column for each, also those that the terminal shows by name alone. */
export interface ServedTable {
  columns: readonly ServedColumn[];
  /** In the order of the answer. */
  rows: readonly (readonly ServedCell[])[];
  /** The column that says what a row is about. */
  naming: number;
}

export interface ServedColumn {
  key: string;
  title: string;
  /** What it means, with its unit. */
  help: string;
  side: 'left' | 'right';
  /** Shown when it is chosen. */
  extra: boolean;
}

/** What is seen, and by what it is sorted. */
export type ServedCell = CellText & { value: CellValue };

/** The table of an answer; `undefined` for one object, and for an answer of another shape. */
export function makeTable(view: AnyView | undefined, answer: unknown, input: unknown): ServedTable | undefined {
  const rows = view?.layout === 'table' ? listRows(view, answer, input) : undefined;
  if (view === undefined || rows === undefined) return undefined;
  const lines = rows.map((row, index) =>
    view.columns.map((column) => ({ ...readCell(column, row, index), value: cellValue(column, row, index) })),
  );
  return {
    columns: view.columns.map((column) => {
      const { key, header, help, extra = false } = column;
      return { key, title: header, help, side: chooseSide(column, rows), extra };
    }),
    rows: lines,
    naming: findNamingColumn(lines),
  };
}
