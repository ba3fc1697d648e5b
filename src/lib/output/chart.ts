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
  const figures = bars.map(({ usd }) => (usd === null ? missing : formatUsd(usd, { signed: true, compact: true })));
  const labelWidth = Math.min(Math.max(...labels.map(displayWidth)), Math.floor(width * 0.3));
  const figureWidth = Math.max(...figures.map(displayWidth));
  const plot = makePlot(bars, width - labelWidth - figureWidth - 2 * gap - 1);
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
  return [palette.title(cutText(safeText(title), width)), '', ...lines].map((line) => `${line.trimEnd()}\n`).join('');
}

type Plot = ReturnType<typeof makePlot>;

/** Cells to the left of zero, and the cells of one USD. */
function makePlot(bars: readonly Bar[], cells: number) {
  const maxGain = Math.max(0, ...bars.map(({ usd }) => usd ?? 0));
  const maxLoss = Math.max(0, ...bars.map(({ usd }) => -(usd ?? 0)));
  if (maxGain + maxLoss === 0) return { left: 0, cellsPerUsd: 0 };
  // A side that has a bar has at least a cell.
  const share = Math.round(cells * (maxLoss / (maxGain + maxLoss)));
  const left = Math.max(maxLoss === 0 ? 0 : 1, Math.min(maxGain === 0 ? cells : cells - 1, share));
  const right = cells - left;
  const fits = [maxGain > 0 ? right / maxGain : [], maxLoss > 0 ? left / maxLoss : []].flat();
  return { left, cellsPerUsd: Math.min(...fits) };
}

/** A bar from zero outwards; a value too small for a cell is a thin mark. */
function drawBar(usd: number, { left, cellsPerUsd }: Plot, paint: (text: string) => string): string {
  const thin = usd === 0 ? '' : usd < 0 ? '▕' : '▏';
  const text = '█'.repeat(Math.round(Math.abs(usd) * cellsPerUsd)) || thin;
  const painted = text === '' ? '' : paint(text);
  return usd < 0 ? `${' '.repeat(left - text.length)}${painted}│` : `${' '.repeat(left)}│${painted}`;
}
