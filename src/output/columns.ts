import type { AnyView, Block, Cell, Column } from './view.ts';

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
