import { median, type Row } from './row.ts';

const heads = ['what', 'floor', 'measured', 'ratio', 'spread', 'aim', 'met'];

/**
 * The table of all rows, a line each: medians, their ratio, the smallest and largest ratio of a round (without a floor: the smallest and
 * largest figure), the aim and whether it is met; empty of no rows.
 */
export function formatTable(rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  const lines = [heads, ...rows.map(cellsOf)];
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const padded = lines.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  return padded.map((line) => `${line.trimEnd()}\n`).join('');
}

function cellsOf({ what, unit, measured, floor, atMost, atLeast }: Row): string[] {
  const figure = median(measured);
  const ratio = floor === undefined ? undefined : figure / median(floor);
  const judged = ratio ?? figure;
  const each = floor === undefined ? measured : measured.map((one, round) => one / (floor[round] ?? Number.NaN));
  const suffix = ratio === undefined ? ` ${unit}` : 'x';
  const bound = atMost ?? atLeast;
  const isMet = atMost === undefined ? judged >= (atLeast ?? Number.NaN) : judged <= atMost;
  return [
    what,
    floor === undefined ? '-' : `${short(median(floor))} ${unit}`,
    `${short(figure)} ${unit}`,
    ratio === undefined ? '-' : short(ratio),
    each.length < 2 ? '-' : `${short(Math.min(...each))}-${short(Math.max(...each))}`,
    bound === undefined ? '-' : `${atMost === undefined ? '>=' : '<='} ${bound}${suffix}`,
    bound === undefined ? '-' : isMet ? 'yes' : 'NO',
  ];
}

/** Three figures that count; whole numbers as they are. */
function short(figure: number): string {
  if (Number.isInteger(figure) || Math.abs(figure) >= 100) return String(Math.round(figure));
  return figure.toPrecision(3);
}
