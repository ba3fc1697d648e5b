import { formatTime, formatUsd } from '../../lib/output/format.ts';

interface Point {
  atSec: number;
  value: number;
}

const [width, height] = [600, 160];

/** A value over time as steps, from zero to its last. */
export function LineChart({ points, label }: { points: readonly Point[]; label: string }) {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return null;
  const values = [0, ...points.map(({ value }) => value)];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (atSec: number) => ((atSec - first.atSec) / (last.atSec - first.atSec || 1)) * width;
  const y = (value: number) => height - ((value - low) / (high - low || 1)) * height;
  const steps = points.map(({ atSec, value }) => `H${x(atSec).toFixed(1)}V${y(value).toFixed(1)}`).join('');
  return (
    <figure class="chart">
      <svg viewBox={`0 -4 ${width} ${height + 8}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <path class="zero" d={`M0 ${y(0)}H${width}`} />
        <path class="line" d={`M0 ${y(0)}${steps}`} />
      </svg>
      <figcaption>
        <span>{formatTime(first.atSec).slice(0, 10)}</span>
        <strong>{formatUsd(last.value, { signed: true })}</strong>
        <span>{formatTime(last.atSec).slice(0, 10)}</span>
      </figcaption>
    </figure>
  );
}
