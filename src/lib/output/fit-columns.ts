import { missing } from './format.ts';
import { displayWidth } from './text-width.ts';
import type { AnyColumn, CellText } from './view.ts';

/** Cells between two columns. */
export const gap = 2;

// A column that may be cut is not made narrower than the first, nor than the second while another column can be dropped instead.
const [minCut, enoughCut] = [8, 20];
/** A column that may not be cut is at most as wide as an address. */
const maxUncut = 44;

type Lines = readonly (readonly CellText[])[];

interface Fitted {
  columns: readonly { column: AnyColumn; width: number }[];
  /** A cell for each of these columns. */
  lines: Lines;
  /** How many columns were dropped. */
  hidden: number;
  /** Whether the columns that are left fit. */
  fits: boolean;
}

/**
 * The columns that a table of this width shows: all if they fit; else, with their short texts, the columns with a value, without those of the
 * highest `drop` as far as needed. Columns that may be cut share what the others leave.
 */
export function fitColumns(
  columns: readonly AnyColumn[],
  lines: Lines,
  { width, mayDrop }: { width: number; mayDrop: boolean },
): Fitted {
  const whole = columns.map((column, index) => measureColumn(column, index, lines));
  if (sumWidths(whole) <= width) return { columns: whole, lines, hidden: 0, fits: true };
  const shortened = lines.map((line) => line.map((cell) => ({ ...cell, text: cell.short ?? cell.text })));
  const short = columns.map((column, index) => measureColumn(column, index, shortened));
  const filled = mayDrop ? short.filter(({ hasValue }) => hasValue) : short;
  const kept = mayDrop ? dropColumns(filled, width) : filled;
  const narrowed = narrowColumns(kept, width);
  const fits = sumWidths(narrowed) <= width;
  return {
    columns: narrowed,
    lines: (fits ? shortened : lines).map((line) => kept.flatMap(({ index }) => line[index] ?? [])),
    hidden: filled.length - kept.length,
    fits,
  };
}

export function sumWidths(columns: readonly { width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width, gap * (columns.length - 1));
}

type Measured = ReturnType<typeof measureColumn>;

function measureColumn(column: AnyColumn, index: number, lines: Lines) {
  const { header, cut } = column;
  const texts = lines.map((line) => line[index]?.text ?? '');
  const headerWidth = displayWidth(header);
  const widest = texts.reduce((most, text) => Math.max(most, displayWidth(text)), headerWidth);
  const atMost = (cells: number) => Math.min(widest, Math.max(headerWidth, cells));
  const width = cut ? widest : atMost(maxUncut);
  return {
    column,
    index,
    width,
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

/** The narrowest first: the rest of its share is left to the others. */
function narrowColumns(columns: readonly Measured[], width: number): Fitted['columns'] {
  const cuttable = columns.filter(({ column }) => column.cut).toSorted((one, other) => one.width - other.width);
  const narrowed = new Map<Measured, number>();
  let room = width - sumWidths(columns) + cuttable.reduce((sum, column) => sum + column.width, 0);
  for (const [index, column] of cuttable.entries()) {
    const share = Math.floor(room / (cuttable.length - index));
    const cells = Math.max(column.min, Math.min(column.width, share));
    narrowed.set(column, cells);
    room -= cells;
  }
  return columns.map((each) => ({ column: each.column, width: narrowed.get(each) ?? each.width }));
}
