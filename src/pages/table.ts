import type { CellText, CellValue } from '../lib/output/view.ts';

/** A table of an answer as the terminal shows it, with its optional columns. */
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
  /** Searched, but not shown. */
  extra: boolean;
  /** Columns of higher numbers are hidden first; absent: never. */
  drop?: number | undefined;
}

/** The shown text, and the value to sort by. */
export type ServedCell = CellText & { value: CellValue };
