import { encode } from '@toon-format/toon';
import { safeText } from './safe-text.ts';
import { type AnyView, cellValue, knownColumns } from './view.ts';

/** The rows of a view as TOON: the names of the columns once, then a line a row; a record as its fields. */
export function toonText(
  view: Pick<AnyView, 'layout' | 'columns'>,
  rows: readonly unknown[],
  columns?: readonly string[],
): string {
  const chosen = knownColumns(view, columns);
  const objects = rows.map((row, index) =>
    Object.fromEntries(chosen.map((column) => [column.key, cellOf(cellValue(column, row, index))])),
  );
  return `${encode(view.layout === 'record' && objects.length === 1 ? objects[0] : objects)}\n`;
}

function cellOf(value: ReturnType<typeof cellValue>): string | number | boolean | null {
  return typeof value === 'string' ? safeText(value) : (value ?? null);
}
