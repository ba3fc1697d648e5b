import './language.ts';
import uPlot from 'uplot';
import { formatTime } from '../../output/format.ts';
import { onKeys, useEffect, useRef, useState } from './preact.ts';

interface ChartPoint {
  /** Unix seconds. */
  x: number;
  y: number;
  /** Of bars: what lies below the line; negative. */
  loss?: number | null;
  mark?: 'buy' | 'sell';
  /** The point in words. */
  title: string;
}

interface ChartProps {
  label: string;
  /** By `x`, ascending. */
  points: readonly ChartPoint[];
  shape: 'bars' | 'steps' | 'line';
  height?: number;
  /** How values are written; default: no axes. */
  axis?: (value: number) => string;
}

/** Values over time. The pointer, or arrow keys, choose a point, which is told in words below; a screen reader is told the main ones. */
export function Chart(props: ChartProps) {
  const { label, points, height = 200 } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const shown = useRef(points);
  const [at, setAt] = useState<number>();
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const hooks = {
      setCursor: [({ cursor }: uPlot) => setAt(cursor.idx ?? undefined)],
      draw: [(made: uPlot) => drawMarks(made, shown.current), (made: uPlot) => drawLast(made, shown.current, props)],
    };
    const size = () => ({ width: element.clientWidth, height });
    const made = new uPlot({ ...makeChartOptions(props), ...size(), hooks }, listChartData(points), element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize(size()));
    observer.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => made.redraw();
    scheme.addEventListener('change', redraw);
    return () => {
      observer.disconnect();
      scheme.removeEventListener('change', redraw);
      made.destroy();
    };
  }, []);
  useEffect(() => {
    shown.current = points;
    plot.current?.setData(listChartData(points));
  }, [points]);
  const choose = (index: number) => {
    const point = points[Math.max(0, Math.min(points.length - 1, index))];
    if (point !== undefined) plot.current?.setCursor({ left: plot.current.valToPos(point.x, 'x'), top: 0 });
  };
  const onKeyDown = onKeys({
    ArrowLeft: () => choose((at ?? points.length) - 1),
    ArrowRight: () => choose((at ?? -1) + 1),
    Home: () => choose(0),
    End: () => choose(points.length - 1),
  });
  const chosen = at === undefined ? undefined : points[at];
  return (
    <figure class="chart">
      <div
        ref={box}
        class="plot"
        role="img"
        aria-label={`${label}. ${mainPoints(points)}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: its points are chosen by arrow keys
        tabIndex={0}
        onKeyDown={onKeyDown}
        onBlur={() => plot.current?.setCursor({ left: -10, top: -10 })}
      />
      <figcaption>
        {chosen === undefined && label}
        <span aria-live="polite">{chosen?.title}</span>
      </figcaption>
    </figure>
  );
}

function mainPoints(points: readonly ChartPoint[]): string {
  const byValue = points.toSorted((a, b) => a.y - b.y);
  const named = { First: points[0], Lowest: byValue[0], Highest: byValue.at(-1), Last: points.at(-1) };
  return Object.entries(named)
    .map(([name, point]) => `${name}: ${point?.title ?? 'none'}.`)
    .join(' ');
}

function listChartData(points: readonly ChartPoint[]): uPlot.AlignedData {
  return [points.map(({ x }) => x), points.map(({ y }) => y), points.map(({ loss }) => loss ?? null)];
}

function makeChartOptions({ shape, points, axis: writeValue }: ChartProps): Omit<uPlot.Options, 'width' | 'height'> {
  const isBars = shape === 'bars';
  const [first, second] = points;
  const step = isBars && first && second ? second.x - first.x : 0;
  const bars = isBars ? { paths: uPlot.paths.bars?.({ size: [0.8] }) as uPlot.Series.PathBuilder, width: 0 } : {};
  const stepped =
    shape === 'steps'
      ? {
          paths: uPlot.paths.stepped?.({ align: 1 }) as uPlot.Series.PathBuilder,
          fill: colored('--area'),
          fillTo: 0,
        }
      : { gaps: listGaps };
  const series = (color: string): uPlot.Series => ({
    ...bars,
    ...stepped,
    ...(isBars ? { fill: colored(color) } : { stroke: colored(color) }),
    points: { show: false },
  });
  const axis = {
    show: writeValue !== undefined,
    stroke: colored('--muted'),
    grid: { stroke: colored('--line'), width: 1 },
    ticks: { stroke: colored('--line'), width: 1, size: 4 },
    font: '12px system-ui, sans-serif',
  };
  return {
    tzDate: (sec) => uPlot.tzDate(new Date(sec * 1000), 'Etc/UTC'),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: !isBars } },
    padding: writeValue === undefined ? [2, 0, 2, 0] : [6, shape === 'steps' ? lastWidth : 36, 0, 0],
    scales: {
      x: {
        // What stands at an end is seen whole. The given ends may have this room already.
        range: ({ data: [times] }) => {
          const [from, to] = [times[0] ?? 0, times.at(-1) ?? 0];
          const room = isBars ? step / 2 : (to - from) * 0.03 || 1800;
          return [from - room, to + room];
        },
      },
      y: {
        range: (_, low, high) =>
          shape === 'line'
            ? uPlot.rangeNum(low, high, 0.1, true)
            : uPlot.rangeNum(Math.min(0, low), Math.max(0, high), 0.1, true),
      },
    },
    axes: [
      { ...axis, size: 26, space: 90, values: formatTicks },
      { ...axis, size: 62, ...(writeValue && { values: (_, values) => values.map(writeValue) }) },
    ],
    series: [{}, series('--accent'), series('--bad')],
  };
}

const daySec = 86_400;

function formatTicks(_: uPlot, times: number[], _axis: number, _space: number, stepSec: number): string[] {
  return times.map((sec) => (stepSec >= daySec ? formatTime(sec).slice(0, 10) : formatTime(sec).slice(5, 16)));
}

/** A triangle at each mark: a buy points up from below its value, a sell down from above. */
function drawMarks(plot: uPlot, points: readonly ChartPoint[]): void {
  const size = 5 * devicePixelRatio;
  for (const { x, y, mark } of points) {
    if (mark === undefined) continue;
    const side = mark === 'buy' ? 1 : -1;
    plot.ctx.fillStyle = readThemeColor(plot, mark === 'buy' ? '--good' : '--bad');
    const [left, top] = [plot.valToPos(x, 'x', true), plot.valToPos(y, 'y', true)];
    plot.ctx.fill(new Path2D(`M${left} ${top + side}l${size} ${side * size * 1.8}h${-2 * size}z`));
  }
}

/** Between trades that are farther apart, no price is known. */
const farSec = 3600;

function listGaps(plot: uPlot, _series: number, from: number, to: number): uPlot.Series.Gaps {
  const times = [...plot.data[0].slice(from, to + 1)];
  const place = (time: number) => Math.round(plot.valToPos(time, 'x', true));
  return times.flatMap((time, index) => {
    const next = times[index + 1] ?? time;
    return next - time > farSec ? [[place(time), place(next)] satisfies [number, number]] : [];
  });
}

const lastWidth = 76;

/** The last value, at the end of its line. */
function drawLast(plot: uPlot, points: readonly ChartPoint[], { shape, axis }: ChartProps): void {
  const last = points.at(-1);
  if (last === undefined || shape !== 'steps' || axis === undefined) return;
  plot.ctx.save();
  plot.ctx.fillStyle = readThemeColor(plot, '--ink');
  plot.ctx.font = `600 ${12 * devicePixelRatio}px system-ui, sans-serif`;
  plot.ctx.textAlign = 'left';
  plot.ctx.textBaseline = 'middle';
  const gap = 4 * devicePixelRatio;
  plot.ctx.fillText(axis(last.y), plot.valToPos(last.x, 'x', true) + gap, plot.valToPos(last.y, 'y', true));
  plot.ctx.restore();
}

const colored = (name: string) => (plot: uPlot) => readThemeColor(plot, name);

/** A color of the style sheet as it is now, light or dark. */
function readThemeColor({ root }: uPlot, name: string): string {
  root.style.color = `var(${name})`;
  return getComputedStyle(root).color;
}
