import type { Bar, BarChart, DrawOptions } from './chart.ts';
import { formatUsd, missing, toneOf } from './format.ts';
import { safeText } from './safe-text.ts';
import { cutText, displayWidth, wrapText } from './text-width.ts';

const gap = 2;
/** Fillings of the series, told apart without colour. */
const shades = ['█', '▓', '▒', '░', '╳'];

/** A bar's plot: cells to the left and right of zero, and how many of them a dollar takes. */
interface Plot {
  left: number;
  right: number;
  cellsPerUsd: number;
}

/** Bars with label and figure before them, the scale and the meaning of the fillings below; none without bars. Never throws. */
export function renderBars(chart: BarChart, options: DrawOptions): string[] {
  if (chart.bars.length === 0) return [];
  const { width, palette, unicode } = options;
  const used = chart.series.map((_, index) => chart.bars.some(({ partsUsd }) => (partsUsd[index] ?? 0) !== 0));
  const figures = chart.bars.map(({ totalUsd }) => figureOf(totalUsd, unicode));
  const figureWidth = Math.max(...figures.map(displayWidth));
  const labels = chart.bars.map(({ label }) => safeText(label));
  const labelWidth = Math.min(Math.max(...labels.map(displayWidth)), Math.max(10, Math.floor(width * 0.3)));
  const before = labelWidth + figureWidth + 2 * gap;
  const plot = plotOf(chart.bars, width - before);
  const single = used.filter(Boolean).length < 2;
  const fills = chart.series.map((name, index) => fillOf(name, index, single, unicode));
  const lines = chart.bars.map((bar, index) => {
    const label = cutText(labels[index] ?? '', labelWidth, 'end', unicode ? '…' : '...');
    const figure = figures[index] ?? '';
    const paint = (series: number, text: string) =>
      single ? palette.tone(toneOf(bar.totalUsd), text) : palette.series(series, text);
    return [
      label + ' '.repeat(labelWidth - displayWidth(label) + gap),
      ' '.repeat(figureWidth - displayWidth(figure)) + palette.tone(toneOf(bar.totalUsd), figure) + ' '.repeat(gap),
      drawBar(bar, plot, { fills, paint, halves: single && unicode, unicode }),
    ].join('');
  });
  return [
    ...wrapText(chart.title, width).map((line) => palette.title(line)),
    '',
    ...lines,
    ' '.repeat(before) + palette.dim(scaleLine(plot)),
    ...legendOf(chart.series, used, { fills, single, ...options }),
  ];
}

interface Legend extends DrawOptions {
  fills: readonly string[];
  single: boolean;
}

/** What each filling means, as many on a line as fit; none for a chart of one series. */
function legendOf(
  series: readonly string[],
  used: readonly boolean[],
  { fills, single, ...options }: Legend,
): string[] {
  const { width, palette, unicode } = options;
  const lines: { painted: string; cells: number }[] = [];
  series.forEach((name, index) => {
    const fill = fills[index] ?? '';
    const says = unicode ? ` ${name}` : ` = ${name}`;
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

function figureOf(usd: number | null, unicode: boolean): string {
  if (usd === null) return unicode ? missing : '-';
  return formatUsd(usd, { signed: true, compact: true });
}

function fillOf(name: string, index: number, single: boolean, unicode: boolean): string {
  if (single) return unicode ? '█' : '#';
  return unicode ? (shades[index] ?? '╳') : name.charAt(0).toLowerCase();
}

function sumOf(bar: Bar, sign: 1 | -1): number {
  return bar.partsUsd.reduce<number>((sum, part) => sum + Math.max(0, sign * (part ?? 0)), 0);
}

/** The room shared between gains and losses as the largest of each need it, so that a cell is worth the same on both sides. */
function plotOf(bars: readonly Bar[], room: number): Plot {
  const most = Math.max(...bars.map((bar) => sumOf(bar, 1)));
  const least = Math.max(...bars.map((bar) => sumOf(bar, -1)));
  const cells = Math.max(4, room - 1);
  if (most + least === 0) return { left: 0, right: cells, cellsPerUsd: 0 };
  const share = Math.round((cells * least) / (most + least));
  const left = least === 0 ? 0 : most === 0 ? cells : Math.min(cells - 1, Math.max(1, share));
  const right = cells - left;
  const scales = [most > 0 ? right / most : [], least > 0 ? left / least : []].flat();
  return { left, right, cellsPerUsd: Math.min(...scales) };
}

interface Brush {
  fills: readonly string[];
  paint: (series: number, text: string) => string;
  /** Whether the end of a bar may be half a cell. */
  halves: boolean;
  unicode: boolean;
}

function drawBar(bar: Bar, { left, right, cellsPerUsd }: Plot, brush: Brush): string {
  const losses = drawSide(bar, -1, cellsPerUsd, brush);
  const gains = drawSide(bar, 1, cellsPerUsd, brush);
  const axis = brush.unicode ? '│' : '|';
  return `${' '.repeat(Math.max(0, left - losses.cells))}${losses.text}${axis}${gains.cells > right ? '' : gains.text}`;
}

/** One side of a bar from zero outwards; a side too small for a cell is a thin mark and not nothing. */
function drawSide(bar: Bar, sign: 1 | -1, cellsPerUsd: number, brush: Brush): { text: string; cells: number } {
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
  if (last !== undefined && drawn === 0) last.text = brush.unicode ? (sign > 0 ? '▏' : '▕') : '.';
  const ordered = sign > 0 ? runs : runs.toReversed();
  return {
    text: ordered.map(({ series, text }) => (text === '' ? '' : brush.paint(series, text))).join(''),
    cells: ordered.reduce((cells, { text }) => cells + text.length, 0),
  };
}

/** What the ends of the plot stand for, and where zero is. */
function scaleLine({ left, right, cellsPerUsd }: Plot): string {
  if (cellsPerUsd === 0) return '0';
  const end = (cells: number) => formatUsd(cells / cellsPerUsd, { signed: true, compact: true });
  const low = left === 0 ? '' : end(-left);
  const high = right === 0 ? '' : end(right);
  const shownLow = low.length + 1 <= left ? low : '';
  const shownHigh = high.length + 2 <= right + 1 ? high : '';
  return `${shownLow.padEnd(left)}0${shownHigh.padStart(right)}`;
}
