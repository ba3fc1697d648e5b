import { missing } from './format.ts';
import { displayWidth } from './text-width.ts';
import type { AnyColumn, CellText } from './view.ts';

/** Cells between two columns. */
export const gap = 2;

// A column that may be cut is not made narrower than the first, nor than the second while another column can be dropped instead.
const [minCut, enoughCut] = [8, 20];
/** A column that may not be cut is at most as wide as an address. */
const maxUncut = 44;

interface FittedColumn {
  column: AnyColumn;
  /** Its place in a line of cells. */
  index: number;
  width: number;
}

/**
 * The columns that a table of this width shows: all if they fit, else those that have a value, without as many as must be dropped. Columns of
 * the highest `drop` go first; then those that may be cut share what the others leave. `fits` is false if they are too wide even so.
 */
export function fitColumns(
  columns: readonly AnyColumn[],
  lines: readonly (readonly CellText[])[],
  width: number,
  mayDrop: boolean,
): { shown: readonly FittedColumn[]; isShort: boolean; hidden: number; fits: boolean } {
  const whole = columns.map((column, index) => measureColumn(column, index, lines, ({ text }) => text));
  if (sumWidths(whole) <= width) return { shown: whole, isShort: false, hidden: 0, fits: true };
  const short = columns.map((column, index) => measureColumn(column, index, lines, shortText));
  const filled = mayDrop ? short.filter(({ hasValue }) => hasValue) : short;
  const kept = mayDrop ? dropColumns(filled, width) : filled;
  const shown = narrowColumns(kept, width);
  return { shown, isShort: true, hidden: filled.length - kept.length, fits: sumWidths(shown) <= width };
}

export function shortText({ text, short }: CellText): string {
  return short ?? text;
}

export function sumWidths(columns: readonly { width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width, gap * (columns.length - 1));
}

type Measured = ReturnType<typeof measureColumn>;

function measureColumn(
  column: AnyColumn,
  index: number,
  lines: readonly (readonly CellText[])[],
  read: (cell: CellText) => string,
) {
  const { header, cut } = column;
  const texts = lines.map((line) => read(line[index] ?? { text: '' }));
  const headerWidth = displayWidth(header);
  const widest = texts.reduce((most, text) => Math.max(most, displayWidth(text)), headerWidth);
  const atMost = (cells: number) => Math.min(widest, Math.max(headerWidth, cells));
  const width = cut ? widest : atMost(maxUncut);
  return {
    ...{ column, index, width },
    min: cut ? atMost(minCut) : width,
    enough: cut ? atMost(enoughCut) : width,
    hasValue: texts.some((text) => !noValue.includes(text)),
  };
}

const noValue = ['', missing, '-'];

function dropColumns(columns: readonly Measured[], width: number): readonly Measured[] {
  if (sumWidths(columns.map(({ enough }) => ({ width: enough }))) <= width) return columns;
  const highest = Math.max(...columns.map(({ column }) => column.drop ?? 0));
  const kept = columns.filter(({ column }) => (column.drop ?? 0) < highest);
  return kept.length === 0 ? columns : dropColumns(kept, width);
}

/** The narrowest first: what it does not need of its share is left to the others. */
function narrowColumns(columns: readonly Measured[], width: number): readonly FittedColumn[] {
  const cuttable = columns.filter(({ column }) => column.cut).toSorted((one, other) => one.width - other.width);
  const narrowed = new Map<Measured, number>();
  let room = width - sumWidths(columns) + cuttable.reduce((sum, column) => sum + column.width, 0);
  for (const [index, column] of cuttable.entries()) {
    const share = Math.floor(room / (cuttable.length - index));
    const cells = Math.max(column.min, Math.min(column.width, share));
    narrowed.set(column, cells);
    room -= cells;
  }
  return columns.map((each) => ({ ...each, width: narrowed.get(each) ?? each.width }));
}
