import { renderBars } from './chart-bars.ts';
import { renderTimeline } from './chart-time.ts';
import type { Palette } from './colour.ts';

/** Figures as bars, one a line: what is above zero to the right, what is below to the left, on one scale. */
export interface BarChart {
  kind: 'bars';
  title: string;
  /** What the parts of a bar are, in their order. One alone fills its bar; several are told apart by their filling. */
  series: readonly string[];
  bars: readonly Bar[];
}

export interface Bar {
  label: string;
  /** The figure written beside the bar, in USD; null: not known. */
  totalUsd: number | null;
  /** What the bar is made of, one a series, in USD; null: nothing there. */
  partsUsd: readonly (number | null)[];
}

/** What happened over time, in USD: one kind above the line, the other below it, on one scale. */
export interface TimeChart {
  kind: 'time';
  title: string;
  /** Names of what stands above and below, in the plural. */
  up: string;
  down: string;
  /** In any order; moments in Unix seconds. */
  moments: readonly { atSec: number; usd: number; side: 'up' | 'down' }[];
}

/** A picture of an answer, before it is drawn. */
export type ChartModel = BarChart | TimeChart;

/** How pictures are drawn: the terminal's width in cells, its colours, and whether it has more than ASCII. */
export interface DrawOptions {
  width: number;
  palette: Palette;
  unicode: boolean;
}

/**
 * The picture as lines of at most `width` cells (40 at least), each ending with a newline; what colour tells, position or filling tells
 * too. Empty when there is nothing to draw. Never throws.
 */
export function renderChart(model: ChartModel, { width, ...others }: DrawOptions): string {
  const options = { width: Math.max(leastWidth, width), ...others };
  const lines = model.kind === 'bars' ? renderBars(model, options) : renderTimeline(model, options);
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

const leastWidth = 40;
