import { chooseSide, readCell } from '../lib/output/cells.ts';
import {
  type AnyView,
  type Block,
  type CellText,
  type CellValue,
  cellValue,
  listBlocks,
  listRows,
} from '../lib/output/view.ts';

/** What a view shows of an answer, as the terminal does: a column for each, also those that the terminal shows by name alone. */
export interface ServedTable {
  title?: string | undefined;
  /** `record`: one row, of which each column is a line. */
  layout: 'table' | 'record';
  columns: readonly ServedColumn[];
  /** In the order of the answer. */
  rows: readonly (readonly ServedCell[])[];
  /** The column that says what a row is about. */
  naming: number;
}

interface ServedColumn {
  key: string;
  title: string;
  /** What it means, with its unit. */
  help: string;
  side: 'left' | 'right';
  /** Shown when it is chosen. */
  extra: boolean;
}

/** The shown text, and the value to sort by. */
export type ServedCell = CellText & { value: CellValue };

/** The table or record of an answer, and the tables below it; empty for an answer of another shape. */
export function makeTables(view: AnyView | undefined, answer: unknown, input: unknown): ServedTable[] {
  const rows = view && listRows(view, answer, input);
  if (view === undefined || rows === undefined) return [];
  const { layout, columns } = view;
  return [{ layout, columns, rows }, ...listBlocks(view, answer, input)].map(makeTable);
}

/** The most rows of a table that a page draws. */
const maxRows = 1000;

function makeTable({ title, layout, columns, rows: all }: Block): ServedTable {
  const rows = all.slice(0, maxRows);
  const lines = rows.map((row, index) =>
    columns.map((column) => ({ ...readCell(column, row, index), value: cellValue(column, row, index) })),
  );
  return {
    title,
    layout,
    columns: columns.map((column) => {
      const { key, header, help, extra = false } = column;
      return { key, title: header, help, side: chooseSide(column, rows), extra };
    }),
    rows: lines,
    naming: findNamingColumn(lines),
  };
}

/** The column that says what a row is about: the one its view stresses, or the first in which the rows differ. */
function findNamingColumn(lines: readonly (readonly CellText[])[]): number {
  const [first = [], ...others] = lines;
  const differs = first.map((cell, index) => others.some((cells) => cells[index]?.text !== cell.text));
  const stressed = first.findIndex(({ tone }, index) => tone === 'strong' && differs[index]);
  return stressed === -1 ? Math.max(0, differs.indexOf(true)) : stressed;
}
