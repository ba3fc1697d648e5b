/** A value of one cell as machines get it (csv, tsv, piped rows): unrounded, unshortened. */
export type Cell = string | number | boolean | null | undefined;

/** What a cell means to the reader; color follows from it and is never the only carrier of the meaning. */
export type Tone = 'gain' | 'loss' | 'muted' | 'strong' | 'plain';

/** A cell as people read it. */
export interface Shown {
  text: string;
  /** Stands in for the text where a table would not fit otherwise. */
  short?: string;
  tone?: Tone;
}

export interface Column<Row> {
  /** The name in `--columns` and the header in csv and tsv, camelCase. */
  key: string;
  /** The header in tables. */
  header: string;
  /** One sentence for help: what the column means, with its unit. */
  help: string;
  /** The machine value. */
  value: (row: Row, index: number) => Cell;
  /** The human form; without one the machine value is written as it is. */
  show?: (row: Row, index: number) => string | Shown | undefined;
  align?: 'left' | 'right';
  /** Left out, the highest number first, where the table would not fit otherwise; absent: never left out. */
  drop?: number;
  /** Shown only when named in `--columns`. */
  extra?: boolean;
  /** How text may be cut on a narrow terminal: addresses in the middle, prose at the end. Absent: never cut. */
  cut?: 'middle' | 'end';
  /** Characters that a cut leaves as long as another column can be left out instead. */
  keep?: number;
}

/** A titled table that accompanies a view; human formats only. */
export interface Block {
  title?: string;
  layout: 'table' | 'record';
  columns: readonly Column<never>[];
  rows: readonly unknown[];
}

/**
 * How an answer becomes rows and columns. `layout: 'table'` is one line an item; `'record'` is one "name  value" line
 * a column, for a single object.
 */
export interface View<Answer, Row, Input = unknown> {
  layout: 'table' | 'record';
  /** The items, in the service's order; `record` views give exactly one. */
  rows: (answer: Answer, input: Input) => readonly Row[];
  columns: readonly Column<Row>[];
  /** One sentence for stderr when there are no rows. */
  empty?: string;
  /** Sentences for stderr that explain the answer. */
  notes?: (answer: Answer, input: Input) => readonly string[];
  /** Further tables below the first; human formats only. */
  blocks?: (answer: Answer, input: Input) => readonly Block[];
  /** The picture that `--chart` draws of the rows. */
  chart?: (rows: readonly Row[], input: Input) => ChartModel;
}

/** A view whose answer and rows are not known here: what the renderer takes. */
export interface AnyView {
  layout: 'table' | 'record';
  rows: (answer: never, input: never) => readonly unknown[];
  columns: readonly Column<never>[];
  empty?: string;
  notes?: (answer: never, input: never) => readonly string[];
  blocks?: (answer: never, input: never) => readonly Block[];
  chart?: (rows: never, input: never) => ChartModel;
}

/** Figures as bars, one a line: what is above zero to the right, what is below to the left, on one scale. */
export interface BarChart {
  kind: 'bars';
  title: string;
  /** What the parts of a bar are, in their order. One alone fills its bar; several are told apart by their filling. */
  series: readonly string[];
  bars: readonly Bar[];
}

export interface Bar {
  label: string;
  /** The figure written beside the bar, in USD; null: not known. */
  totalUsd: number | null;
  /** What the bar is made of, one a series, in USD; null: nothing there. */
  partsUsd: readonly (number | null)[];
}

/** What happened over time, in USD: one kind above the line, the other below it, on one scale. */
export interface TimeChart {
  kind: 'time';
  title: string;
  /** Names of what stands above and below, in the plural. */
  up: string;
  down: string;
  /** In any order; moments in Unix seconds. */
  moments: readonly { atSec: number; usd: number; side: 'up' | 'down' }[];
}

/** A picture of an answer, before it is drawn. */
export type ChartModel = BarChart | TimeChart;

/** A column whose row type is not known here. */
export type AnyColumn = Column<never>;

/** The columns that were asked for, or the first name that no column has. */
export type Selection = { ok: true; columns: readonly AnyColumn[] } | { ok: false; unknown: string; known: string[] };

/**
 * The columns to show: the named ones in the order of their names, each once; without names all that are not `extra`.
 * An unknown name gives `ok: false` with that name and all known keys.
 */
export function selectColumns(view: Pick<AnyView, 'columns'>, names?: readonly string[]): Selection {
  if (names === undefined || names.length === 0) {
    return { ok: true, columns: view.columns.filter((column) => column.extra !== true) };
  }
  const byKey = new Map(view.columns.map((column) => [column.key, column]));
  const columns: AnyColumn[] = [];
  for (const name of new Set(names)) {
    const column = byKey.get(name);
    if (column === undefined) return { ok: false, unknown: name, known: [...byKey.keys()] };
    columns.push(column);
  }
  return { ok: true, columns };
}

/** As selectColumns, for names that were checked before: a name that no column has is passed over. */
export function knownColumns(view: Pick<AnyView, 'columns'>, names?: readonly string[]): readonly AnyColumn[] {
  const known = names?.filter((name) => view.columns.some((column) => column.key === name));
  const selection = selectColumns(view, known);
  return selection.ok ? selection.columns : [];
}

/** The machine value of a cell; JSON where the service sent another shape, and nothing where the column finds none in it. */
export function cellValue(column: AnyColumn, row: unknown, index: number): Cell {
  const value: unknown = orMisfit(() => column.value(row as never, index), undefined);
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as Cell);
}

/** The rows of an answer; `undefined` where it has another shape. */
export function rowsOf(view: Pick<AnyView, 'rows'>, answer: unknown, input: unknown): readonly unknown[] | undefined {
  const rows = orMisfit(() => view.rows(answer as never, input as never), undefined);
  return Array.isArray(rows) ? rows : undefined;
}

/** The further tables of a view; none where the answer has another shape. */
export function blocksOf(view: Pick<AnyView, 'blocks'>, answer: unknown, input: unknown): readonly Block[] {
  return orMisfit(() => view.blocks?.(answer as never, input as never), undefined) ?? [];
}

/** What `read` makes of an answer, or the other value where the answer has a shape that it does not expect. */
export function orMisfit<T, Other>(read: () => T, other: Other): T | Other {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof TypeError || thrown instanceof RangeError) return other;
    throw thrown;
  }
}
