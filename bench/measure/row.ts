/** One line of the bench table: rounds of ours, and of a floor that was measured in turn with it. */
export interface Row {
  what: string;
  unit: 's' | 'ms' | 'MB' | 'KB' | 'items/s' | 'requests/s' | 'packages';
  /** One figure a round; the median counts. */
  measured: readonly number[];
  /** What the floor took in the same rounds; without one the aim is about the figure itself. */
  floor?: readonly number[];
  /** At most this: the ratio to the floor, or the figure. Neither: the row only tells. */
  atMost?: number;
  /** At least this: the ratio to the floor, or the figure. */
  atLeast?: number;
}

/** Hands rows to the table: one line of JSON each on stdout. Other messages of a bench go to stderr. */
export function report(rows: readonly Row[]): void {
  for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`);
}

/** The middle figure, of an even count the upper of the two; NaN of none. */
export function median(figures: readonly number[]): number {
  return [...figures].sort((a, b) => a - b)[figures.length >> 1] ?? Number.NaN;
}
