import type { AnyView, Cell, Column } from './view.ts';

/** A column whose row type is not known here. */
export type AnyColumn = Column<never>;

/** The columns that were asked for, or the first name that no column has. */
export type Selection = { ok: true; columns: readonly AnyColumn[] } | { ok: false; unknown: string; known: string[] };

/**
 * The columns to show: the named ones in the order of their names, each once; without names all that are not `extra`.
 * An unknown name gives `ok: false` with that name and all known keys. Never throws.
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

/** As selectColumns, for names that were checked before: a name that no column has is passed over. Never throws. */
export function knownColumns(view: Pick<AnyView, 'columns'>, names?: readonly string[]): readonly AnyColumn[] {
  const known = names?.filter((name) => view.columns.some((column) => column.key === name));
  const selection = selectColumns(view, known);
  return selection.ok ? selection.columns : [];
}

/** The machine value of a cell. Throws what the column's own function throws. */
export function cellValue(column: AnyColumn, row: unknown, index: number): Cell {
  return column.value(row as never, index);
}
