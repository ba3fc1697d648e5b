import { usageError } from '../errors.ts';
import { safeText } from '../model/safe-text.ts';
import type { DrawOptions } from './color.ts';
import { chooseTone, formatCount, formatUsd, missing } from './format.ts';
import { cutText, displayWidth, wrapText } from './text-width.ts';
import { type Bar, type BarChart, collectItems, type Form } from './view.ts';

/** The chart of all rows. Errors: `usage` where there is none. */
export function chartForm(options: DrawOptions, note: (text: string) => void): Form {
  return async function* ({ view, batches, input }) {
    if (view.chart === undefined) throw usageError('--chart: this command has no chart');
    const rows = await collectItems(batches);
    const text = renderChart(view.chart(rows as never, input as never), options);
    if (text === '' && rows.length > 0) note('There is nothing to draw.');
    yield text;
  };
}

/** The chart as lines of at most `width` cells (40 at least); position and filling say what color says. Empty without data. */
export function renderChart(chart: BarChart, { width, ...others }: DrawOptions): string {
  const lines = renderBars(chart, { width: Math.max(minWidth, width), ...others });
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

const minWidth = 40;

const gap = 2;
/** Fillings that distinguish the series without color. */
const shades = ['█', '▓', '▒', '░', '╳'];

/** A bar's plot: cells to the left and right of zero, and how a value is placed on them. */
interface Plot {
  left: number;
  right: number;
  scale: Scale;
  /** Cells of one unit of the scale; zero where there is nothing to draw. */
  cellsPerUnit: number;
}

/** How far from zero a value of zero or more stands, in units, and back. */
interface Scale {
  /** What a title says of it. */
  says: string;
  place: (value: number) => number;
  value: (place: number) => number;
}

const linear: Scale = { says: '', place: (value) => value, value: (place) => place };

/** Where the largest bar is so many times the middle one, a linear scale would show it and little else. */
const maxSpread = 20;

/** Linear, or logarithmic from about the smallest bar on. */
function chooseScale(bars: readonly Bar[]): Scale {
  const sizes = bars
    .flatMap((bar) => [sumParts(bar, 1), sumParts(bar, -1)])
    .filter((size) => size > 0)
    .sort((a, b) => a - b);
  const [smallest = 1, middle = 1, largest = 1] = [sizes[0], sizes[Math.floor((sizes.length - 1) / 2)], sizes.at(-1)];
  if (largest <= maxSpread * middle) return linear;
  const unit = 10 ** Math.floor(Math.log10(Math.max(smallest, largest / 1e6)));
  return {
    says: ' (logarithmic scale)',
    place: (value) => Math.log10(1 + value / unit),
    value: (place) => unit * (10 ** place - 1),
  };
}

function renderBars(chart: BarChart, options: DrawOptions): string[] {
  if (chart.bars.length === 0) return [];
  const { width, palette } = options;
  const used = chart.series.map((_, index) => chart.bars.some(({ partsUsd }) => (partsUsd[index] ?? 0) !== 0));
  const figures = chart.bars.map(({ totalUsd }) => formatFigure(totalUsd, chart));
  const figureWidth = Math.max(...figures.map(displayWidth));
  const labels = chart.bars.map(({ label }) => safeText(label));
  const labelWidth = Math.min(Math.max(...labels.map(displayWidth)), Math.max(10, Math.floor(width * 0.3)));
  const before = labelWidth + figureWidth + 2 * gap;
  const plot = makePlot(chart.bars, width - before);
  const single = used.filter(Boolean).length < 2;
  const fills = chart.series.map((_, index) => chooseFill(index, single));
  const lines = chart.bars.map((bar, index) => {
    const label = cutText(labels[index] ?? '', labelWidth, 'end');
    const figure = figures[index] ?? '';
    const paint = (series: number, text: string) =>
      single ? palette.tone(chooseTone(bar.totalUsd), text) : palette.series(series, text);
    return [
      label + ' '.repeat(labelWidth - displayWidth(label) + gap),
      ' '.repeat(figureWidth - displayWidth(figure)) + palette.tone(chooseTone(bar.totalUsd), figure) + ' '.repeat(gap),
      drawChartBar(bar, plot, { fills, paint, halves: single }),
    ].join('');
  });
  return [
    ...wrapText(safeText(chart.title) + plot.scale.says, width).map((line) => palette.title(line)),
    '',
    ...lines,
    ' '.repeat(before) + palette.dim(scaleLine(plot, chart)),
    ...drawLegend(chart.series, used, { fills, single, ...options }),
  ];
}

function drawLegend(
  series: readonly string[],
  used: readonly boolean[],
  { fills, single, width, palette }: DrawOptions & { fills: readonly string[]; single: boolean },
): string[] {
  const lines: { painted: string; cells: number }[] = [];
  series.forEach((name, index) => {
    const fill = fills[index] ?? '';
    const says = ` ${name}`;
    const painted = (single ? fill : palette.series(index, fill)) + says;
    const cells = displayWidth(fill + says);
    const last = lines.at(-1);
    if (!used[index] || series.length < 2) return;
    if (last !== undefined && last.cells + 3 + cells <= width) {
      last.painted += `   ${painted}`;
      last.cells += 3 + cells;
    } else lines.push({ painted, cells });
  });
  return lines.length === 0 ? [] : ['', ...lines.map(({ painted }) => painted)];
}

function formatFigure(figure: number | null, { unit }: BarChart): string {
  if (figure === null) return missing;
  return unit === 'count' ? formatCount(figure) : formatUsd(figure, { signed: true, compact: true });
}

function chooseFill(index: number, single: boolean): string {
  return single ? '█' : (shades[index] ?? '╳');
}

function sumParts(bar: Bar, sign: 1 | -1): number {
  return bar.partsUsd.reduce<number>((sum, part) => sum + Math.max(0, sign * (part ?? 0)), 0);
}

/** Gains and losses share the room on one scale. */
function makePlot(bars: readonly Bar[], room: number): Plot {
  const maxGain = Math.max(...bars.map((bar) => sumParts(bar, 1)));
  const maxLoss = Math.max(...bars.map((bar) => sumParts(bar, -1)));
  const cells = Math.max(4, room - 1);
  const scale = chooseScale(bars);
  if (maxGain + maxLoss === 0) return { left: 0, right: cells, scale, cellsPerUnit: 0 };
  const [gain, loss] = [scale.place(maxGain), scale.place(maxLoss)];
  const share = Math.round((cells * loss) / (gain + loss));
  const left = maxLoss === 0 ? 0 : maxGain === 0 ? cells : Math.min(cells - 1, Math.max(1, share));
  const right = cells - left;
  const most = [maxGain > 0 ? right / gain : [], maxLoss > 0 ? left / loss : []].flat();
  return { left, right, scale, cellsPerUnit: Math.min(...most) };
}

interface Brush {
  fills: readonly string[];
  paint: (series: number, text: string) => string;
  /** Whether the end of a bar may be half a cell. */
  halves: boolean;
}

function drawChartBar(bar: Bar, plot: Plot, brush: Brush): string {
  const { left, right } = plot;
  const losses = drawSide(bar, -1, plot, brush);
  const gains = drawSide(bar, 1, plot, brush);
  return `${' '.repeat(Math.max(0, left - losses.cells))}${losses.text}│${gains.cells > right ? '' : gains.text}`;
}

/** One side of a bar from zero outwards, its parts in proportion; a value too small for a cell is a thin mark. */
function drawSide(
  bar: Bar,
  sign: 1 | -1,
  { scale, cellsPerUnit }: Plot,
  brush: Brush,
): { text: string; cells: number } {
  const total = sumParts(bar, sign);
  const cellsPerUsd = total === 0 ? 0 : (scale.place(total) * cellsPerUnit) / total;
  const step = brush.halves ? 2 : 1;
  const runs: { series: number; text: string }[] = [];
  let [sum, drawn] = [0, 0];
  bar.partsUsd.forEach((part, series) => {
    const size = Math.max(0, sign * (part ?? 0));
    if (size === 0) return;
    sum += size;
    const steps = Math.round(sum * cellsPerUsd * step) - drawn;
    drawn += steps;
    const whole = (brush.fills[series] ?? '').repeat(Math.floor(steps / step));
    const half = steps % step === 0 ? '' : sign > 0 ? '▌' : '▐';
    runs.push({ series, text: sign > 0 ? whole + half : half + whole });
  });
  const last = runs.at(-1);
  if (last !== undefined && drawn === 0) last.text = sign > 0 ? '▏' : '▕';
  const ordered = sign > 0 ? runs : runs.toReversed();
  return {
    text: ordered.map(({ series, text }) => (text === '' ? '' : brush.paint(series, text))).join(''),
    cells: ordered.reduce((cells, { text }) => cells + text.length, 0),
  };
}

/** The values at the ends of the plot, and zero. */
function scaleLine({ left, right, scale, cellsPerUnit }: Plot, { unit }: BarChart): string {
  if (cellsPerUnit === 0) return '0';
  const end = (cells: number) => {
    const value = scale.value(Math.abs(cells) / cellsPerUnit);
    return unit === 'count'
      ? formatCount(Math.round(value))
      : formatUsd(Math.sign(cells) * value, { signed: true, compact: true });
  };
  const low = left === 0 ? '' : end(-left);
  const high = right === 0 ? '' : end(right);
  const shownLow = low.length + 1 <= left ? low : '';
  const shownHigh = high.length + 2 <= right + 1 ? high : '';
  return `${shownLow.padEnd(left)}0${shownHigh.padStart(right)}`;
}
