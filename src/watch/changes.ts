import type { AnyColumn, AnyView, CellValue } from '../output/view.ts';
import { cellValue, listRows } from '../output/view.ts';

/** A row that changed between two answers: what was before and what is now of each column that differs, all columns of a row that came or went. */
export interface RowChange {
  /** ISO time. */
  at: string;
  change: 'entered' | 'left' | 'up' | 'down' | 'changed';
  /** What tells the row from others; empty where the answer is one thing. */
  item: string;
  name?: string;
  before: Record<string, CellValue> | null;
  now: Record<string, CellValue> | null;
}

/** `id`: the column with what stays the same of a row; absent: the answer is one row. `rank`: the column with the place, of which a smaller one is better. */
export interface RowKey {
  id?: string;
  rank?: string;
}

/** An answer as a watch remembers it: its rows by their id. */
export type Snapshot = ReadonlyMap<string, SnapshotRow>;

interface SnapshotRow {
  name: string | undefined;
  cells: Readonly<Record<string, CellValue>>;
}

/** Remembers of each row the cells of these columns. */
export function takeSnapshot(
  view: AnyView,
  { answer, input, id, columns }: { answer: unknown; input: unknown; id: RowKey['id']; columns: readonly AnyColumn[] },
): Snapshot {
  const named = (wanted: string | undefined) => view.columns.find(({ key }) => key === wanted);
  const [idColumn, nameColumn] = [named(id), named('name')];
  const rows = listRows(view, answer, input) ?? [];
  return new Map(
    rows.map((row, index) => {
      const cell = (column: AnyColumn | undefined) =>
        column === undefined ? null : (cellValue(column, row, index) ?? null);
      const cells = Object.fromEntries(columns.map((column) => [column.key, cell(column)]));
      const name = cell(nameColumn);
      return [String(cell(idColumn) ?? ''), { name: typeof name === 'string' ? name : undefined, cells }];
    }),
  );
}

/** What differs between two snapshots, in the order of the rows now, then those that left. */
export function compareSnapshots(before: Snapshot, now: Snapshot, at: string, { rank }: RowKey): RowChange[] {
  const kept = [...now].flatMap(([item, row]): RowChange[] => {
    const old = before.get(item);
    if (old === undefined) return [makeChange('entered', item, row, null, row.cells)];
    const keys = Object.keys(row.cells).filter((key) => row.cells[key] !== old.cells[key]);
    if (keys.length === 0) return [];
    const only = (cells: SnapshotRow['cells']) => Object.fromEntries(keys.map((key) => [key, cells[key] ?? null]));
    return [makeChange(chooseMove(old, row, rank), item, row, only(old.cells), only(row.cells))];
  });
  const left = [...before].flatMap(([item, row]) =>
    now.has(item) ? [] : makeChange('left', item, row, row.cells, null),
  );
  return [...kept, ...left];

  function makeChange(
    change: RowChange['change'],
    item: string,
    { name }: SnapshotRow,
    was: RowChange['before'],
    is: RowChange['now'],
  ): RowChange {
    return { at, change, item, ...(name !== undefined && { name }), before: was, now: is };
  }
}

function chooseMove(old: SnapshotRow, row: SnapshotRow, rank = ''): RowChange['change'] {
  const [was, is] = [placeIn(old, rank), placeIn(row, rank)];
  if (was === is) return 'changed';
  return is < was ? 'up' : 'down';
}

/** Behind every place where there is none. */
function placeIn({ cells }: SnapshotRow, rank: string): number {
  const place = cells[rank];
  return typeof place === 'number' ? place : Number.POSITIVE_INFINITY;
}

/** The mark of a cell that changed: what became better or worse, or only other. */
export function chooseMark(
  column: AnyColumn,
  value: CellValue,
  before: CellValue,
  rank: string | undefined,
): '▲' | '▼' | '*' | undefined {
  if (value === before) return undefined;
  if (typeof value !== 'number' || typeof before !== 'number') return '*';
  return value > before === (column.key !== rank) ? '▲' : '▼';
}
