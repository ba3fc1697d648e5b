import { formatTime } from '../../output/format.ts';
import type { Mark, Point } from './pnl.ts';
import { useEffect, useRef, useState } from './preact.ts';

export interface Bar {
  key: string;
  title: string;
  /** Above the line, and below it; neither is negative. */
  up: number;
  down: number;
}

/** A bar for each value, gains above the line and losses below it, on one scale. */
export function BarChart({ label, bars, height = 120 }: { label: string; bars: readonly Bar[]; height?: number }) {
  const [most, least] = [Math.max(...bars.map(({ up }) => up)), Math.max(...bars.map(({ down }) => down))];
  const scale = most + least === 0 ? 0 : height / (most + least);
  const zero = most + least === 0 ? height : most * scale;
  const size = (value: number) => (value === 0 ? 0 : Math.max(1.5, value * scale));
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${bars.length * 10} ${height + 2}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
        height={height}
      >
        {bars.map(({ key, title, up, down }, index) => (
          <g key={key}>
            <title>{title}</title>
            <rect class="hit" x={index * 10} y={0} width={10} height={height + 2} />
            <rect class="up" x={index * 10 + 1} y={zero - size(up)} width={8} height={size(up)} />
            <rect class="down" x={index * 10 + 1} y={zero + 1} width={8} height={size(down)} />
          </g>
        ))}
        <rect class="axis" x={0} y={zero} width={bars.length * 10} height={0.7} />
      </svg>
      <figcaption>{label}</figcaption>
    </figure>
  );
}

interface TimeChartProps {
  label: string;
  points: readonly Point[];
  marks?: readonly Mark[];
  format: (value: number) => string;
  /** The line goes from value to value in steps, and what is below zero is a loss. */
  steps?: boolean;
}

const [height, room] = [180, 8];

/** A value over time, with what happened on it. */
export function TimeChart({ label, points, marks = [], format, steps = false }: TimeChartProps) {
  const [box, width] = useWidth();
  const all = [...points, ...marks];
  if (all.length === 0) return null;
  const times = all.map(({ atSec }) => atSec);
  const values = [...all.map(({ value }) => value), ...(steps ? [0] : [])];
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (atSec: number) => (to === from ? width / 2 : room + ((atSec - from) / (to - from)) * (width - 2 * room));
  const y = (value: number) =>
    height - room - (high === low ? 0.5 : (value - low) / (high - low)) * (height - 2 * room);
  const path = points
    .map(({ atSec, value }, index) => {
      const [across, up] = [x(atSec).toFixed(1), y(value).toFixed(1)];
      return index === 0 ? `M${across} ${up}` : steps ? `H${across}V${up}` : `L${across} ${up}`;
    })
    .join('');
  return (
    <figure class="timeline" ref={box}>
      <div class="ends">
        <span>{format(high)}</span>
      </div>
      <svg width={width} height={height} role="img" aria-label={label}>
        {steps && <line class="axis" x1={0} x2={width} y1={y(0)} y2={y(0)} />}
        <path class="line" d={path} />
        {marks.map(({ atSec, value, kind, title }, index) => (
          <path key={index} class={kind} d={markAt(x(atSec), y(value), kind)}>
            <title>{title}</title>
          </path>
        ))}
      </svg>
      <div class="ends">
        <span>{format(low)}</span>
      </div>
      <div class="ends">
        <time>{formatTime(from)}</time>
        <time>{formatTime(to)}</time>
      </div>
      <figcaption>{label}</figcaption>
    </figure>
  );
}

/** A triangle: a buy points up from below its price, a sell down from above. */
function markAt(x: number, y: number, kind: Mark['kind']): string {
  const side = kind === 'buy' ? 1 : -1;
  return `M${x.toFixed(1)} ${(y + side).toFixed(1)}l5 ${side * 9}h-10z`;
}

/** The width of an element, as it changes. */
function useWidth() {
  const box = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(320);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(120, element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  });
  return [box, width] as const;
}
