import type { DrawOptions, TimeChart } from './chart.ts';
import { formatCount, formatTime, formatUsd } from './format.ts';
import { safeText } from './safe-text.ts';
import { wrapText } from './text-width.ts';

/** Lines of the plot, the line of zero not counted. */
const height = 10;

/** USD in each column of the plot, by side. */
interface Columns {
  up: number[];
  down: number[];
}

/** Columns over time, one kind above the line of zero and the other below, with a sentence of sums; none without moments. Never throws. */
export function renderTimeline(chart: TimeChart, { width, palette, unicode }: DrawOptions): string[] {
  if (chart.moments.length === 0) return [];
  const [from, to] = spanOf(chart);
  const names = [chart.up, chart.down].map((name) => name.length);
  // Room for the longest figure that compact form gives: $999K, $1.23M, $0.00123.
  const gutter = Math.max(...names) + 1 + figureRoom;
  const room = Math.max(8, width - gutter - 2);
  const columns = fillColumns(chart, room, from, to);
  const [most, least] = [Math.max(...columns.up), Math.max(...columns.down)];
  const rows = rowsOf(most, least);
  const rowsPerUsd = Math.min(...[most > 0 ? rows.up / most : [], least > 0 ? rows.down / least : []].flat(), 1e12);
  const axis = unicode ? '│' : '|';
  const line = (name: string, figure: string, cells: string) =>
    `${palette.dim(name.padEnd(gutter - figureRoom) + figure.padStart(figureRoom))} ${axis}${cells}`;
  const drawn = (side: 'up' | 'down', row: number) =>
    palette.series(
      side === 'up' ? 0 : 1,
      columns[side]
        .map((usd) => cellOf(usd * rowsPerUsd, row, side, unicode))
        .join('')
        .trimEnd(),
    );
  const usd = (value: number) => formatUsd(value, { compact: true });
  const upper = Array.from({ length: rows.up }, (_, index) => rows.up - 1 - index);
  const lower = Array.from({ length: rows.down }, (_, index) => index);
  const zero = (unicode ? '─' : '-').repeat(room);
  return [
    ...wrapText(safeText(chart.title), width).map((line) => palette.title(line)),
    '',
    ...upper.map((row) =>
      row === rows.up - 1 ? line(chart.up, usd(most), drawn('up', row)) : line('', '', drawn('up', row)),
    ),
    `${palette.dim('0'.padStart(gutter))} ${unicode ? '┼' : '+'}${palette.dim(zero)}`,
    ...lower.map((row) =>
      row === rows.down - 1 ? line(chart.down, usd(least), drawn('down', row)) : line('', '', drawn('down', row)),
    ),
    ' '.repeat(gutter + 2) + palette.dim(timeLine(from, to, room)),
    '',
    ...wrapText(sums(chart, to - from, room), width),
  ];
}

const figureRoom = 8;

function spanOf({ moments }: TimeChart): [number, number] {
  const times = moments.map(({ atSec }) => atSec);
  return [Math.min(...times), Math.max(...times)];
}

function fillColumns({ moments }: TimeChart, room: number, from: number, to: number): Columns {
  const columns: Columns = { up: Array(room).fill(0), down: Array(room).fill(0) };
  for (const { atSec, usd, side } of moments) {
    const place = to === from ? 0 : Math.min(room - 1, Math.floor(((atSec - from) / (to - from)) * room));
    columns[side][place] = (columns[side][place] ?? 0) + usd;
  }
  return columns;
}

function rowsOf(most: number, least: number): { up: number; down: number } {
  if (most === 0 || least === 0) return { up: least === 0 ? height / 2 : 0, down: least === 0 ? 0 : height / 2 };
  const up = Math.min(height - 1, Math.max(1, Math.round((height * most) / (most + least))));
  return { up, down: height - up };
}

/** One cell of a column that is `size` rows high, `row` counted from zero outwards; what is too small for half a row is a thin mark. */
function cellOf(size: number, row: number, side: 'up' | 'down', unicode: boolean): string {
  const halves = Math.round(size * 2) - 2 * row;
  const up = side === 'up';
  if (row === 0 && size > 0 && halves <= 0) return unicode ? (up ? '▁' : '▔') : up ? '.' : "'";
  if (halves <= 0) return ' ';
  if (!unicode) return '#';
  return halves === 1 ? (up ? '▄' : '▀') : '█';
}

/** First and last moment under the ends of the plot: to the minute where there is room, else the days. */
function timeLine(from: number, to: number, room: number): string {
  const minute = (sec: number) => formatTime(sec).replace(/:\d\dZ$/, 'Z');
  if (from === to) return minute(from);
  const day = (sec: number) => formatTime(sec).slice(0, 10);
  const write = room >= 2 * minute(from).length + 2 ? minute : day;
  const [first, last] = [write(from), write(to)];
  return first + last.padStart(Math.max(last.length + 1, room - first.length));
}

function sums({ moments, up, down }: TimeChart, spanSec: number, room: number): string {
  const part = (name: string, side: 'up' | 'down') => {
    const own = moments.filter((moment) => moment.side === side);
    const total = own.reduce((sum, { usd }) => sum + usd, 0);
    const word = own.length === 1 ? name.replace(/s$/, '') : name;
    return `${formatCount(own.length)} ${word}${own.length === 0 ? '' : ` of ${formatUsd(total)}`}`;
  };
  const column = spanSec === 0 ? '' : ` A column is ${lengthOf(spanSec / room)}.`;
  return `${part(up, 'up')}, ${part(down, 'down')}.${column}`;
}

function lengthOf(seconds: number): string {
  const [size, unit] = lengths.find(([each]) => seconds >= 2 * each) ?? [1, 'seconds'];
  const count = seconds / size;
  return `${count < 10 ? count.toFixed(1) : Math.round(count)} ${unit}`;
}

const lengths: readonly (readonly [number, string])[] = [
  [86_400, 'days'],
  [3_600, 'hours'],
  [60, 'minutes'],
];
