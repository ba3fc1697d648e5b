import { safeText } from '../../api/safe-text.ts';
import { usageError } from '../../errors.ts';
import type { DrawOptions } from './color.ts';
import { chooseTone, formatUsd, missing } from './format.ts';
import { cutText, displayWidth } from './text-width.ts';
import { type Bar, type BarChart, collectItems, type Form } from './view.ts';

/** The chart of all rows. Errors: `usage` if the view has none. */
export function chartForm(options: DrawOptions, note: (text: string) => void): Form {
  return async function* ({ view, batches, input }) {
    if (view.chart === undefined) throw usageError('--chart: this command has no chart');
    const rows = await collectItems(batches);
    const text = renderChart(view.chart(rows as never, input as never), options);
    if (text === '' && rows.length > 0) note('There is nothing to draw.');
    yield text;
  };
}

const minWidth = 40;
const gap = 2;

/** One line a bar, in at most `width` cells (40 at least): gains to the right of zero, losses to the left, on one linear scale. */
function renderChart({ title, bars }: BarChart, { width: given, palette }: DrawOptions): string {
  if (bars.length === 0) return '';
  const width = Math.max(minWidth, given);
  const labels = bars.map(({ label }) => safeText(label));
  const figures = bars.map(({ usd }) => (usd === null ? missing : writeUsd(usd)));
  const labelWidth = Math.min(Math.max(...labels.map(displayWidth)), Math.floor(width * 0.3));
  const figureWidth = Math.max(...figures.map(displayWidth));
  const before = labelWidth + figureWidth + 2 * gap;
  const plot = makePlot(bars, width - before - 1);
  const lines = bars.map(({ usd }, index) => {
    const label = cutText(labels[index] ?? '', labelWidth);
    const figure = figures[index] ?? '';
    const tone = chooseTone(usd);
    return [
      label + ' '.repeat(labelWidth - displayWidth(label) + gap + figureWidth - displayWidth(figure)),
      palette.tone(tone, figure) + ' '.repeat(gap),
      drawBar(usd ?? 0, plot, (text) => palette.tone(tone, text)),
    ].join('');
  });
  const scale = ' '.repeat(before) + palette.dim(drawScale(plot));
  return [palette.title(cutText(safeText(title), width)), '', ...lines, scale]
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

/** Cells to the left and right of zero, and the cells of one USD. */
interface Plot {
  left: number;
  right: number;
  cellsPerUsd: number;
}

function makePlot(bars: readonly Bar[], cells: number): Plot {
  const maxGain = Math.max(0, ...bars.map(({ usd }) => usd ?? 0));
  const maxLoss = Math.max(0, ...bars.map(({ usd }) => -(usd ?? 0)));
  if (maxGain + maxLoss === 0) return { left: 0, right: cells, cellsPerUsd: 0 };
  // A side that has a bar has at least a cell.
  const share = Math.round(cells * (maxLoss / (maxGain + maxLoss)));
  const left = Math.max(maxLoss === 0 ? 0 : 1, Math.min(maxGain === 0 ? cells : cells - 1, share));
  const right = cells - left;
  const fits = [maxGain > 0 ? right / maxGain : [], maxLoss > 0 ? left / maxLoss : []].flat();
  return { left, right, cellsPerUsd: Math.min(...fits) };
}

/** A bar from zero outwards, to half a cell; a value too small for that is a thin mark. */
function drawBar(usd: number, { left, cellsPerUsd }: Plot, paint: (text: string) => string): string {
  const halves = Math.round(Math.abs(usd) * cellsPerUsd * 2);
  const [half, thin] = usd < 0 ? ['▐', '▕'] : ['▌', '▏'];
  const parts = ['█'.repeat(Math.floor(halves / 2)), halves % 2 === 0 ? '' : half];
  const text = halves === 0 && usd !== 0 ? thin : (usd < 0 ? parts.reverse() : parts).join('');
  const painted = text === '' ? '' : paint(text);
  return usd < 0 ? `${' '.repeat(left - text.length)}${painted}│` : `${' '.repeat(left)}│${painted}`;
}

/** Zero, and the values at the ends of the plot if there is room for them. */
function drawScale({ left, right, cellsPerUsd }: Plot): string {
  if (cellsPerUsd === 0) return '0';
  const low = writeUsd(-left / cellsPerUsd);
  const high = writeUsd(right / cellsPerUsd);
  const shownLow = low.length + 1 <= left ? low : '';
  const shownHigh = high.length + 1 <= right ? high : '';
  return `${shownLow.padEnd(left)}0${shownHigh.padStart(right)}`;
}

function writeUsd(usd: number): string {
  return formatUsd(usd, { signed: true, compact: true });
}
