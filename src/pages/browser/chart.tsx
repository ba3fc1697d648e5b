import './language.ts';
import uPlot from 'uplot';
import { formatTime } from '../../lib/output/format.ts';
import { onKeys, useEffect, useRef, useState } from './preact.ts';

interface ChartPoint {
  /** Unix seconds. */
  x: number;
  y: number;
  /** The point in words. */
  title: string;
}

interface ChartProps {
  label: string;
  /** By `x`, ascending. */
  points: readonly ChartPoint[];
  /** How values are written. */
  axis: (value: number) => string;
}

const height = 200;

/** Values over time, as steps. The pointer, or arrow keys, choose a point, which is told in words below; a screen reader is told the main ones. */
export function Chart({ label, points, axis }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const shown = useRef(points);
  const [at, setAt] = useState<number>();
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const hooks = {
      setCursor: [({ cursor }: uPlot) => setAt(cursor.idx ?? undefined)],
      draw: [(made: uPlot) => drawLast(made, shown.current, axis)],
    };
    const size = () => ({ width: element.clientWidth, height });
    const made = new uPlot({ ...makeChartOptions(axis), ...size(), hooks }, listChartData(points), element);
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
  return [points.map(({ x }) => x), points.map(({ y }) => y)];
}

function makeChartOptions(writeValue: ChartProps['axis']): Omit<uPlot.Options, 'width' | 'height'> {
  const axis = {
    stroke: colored('--muted'),
    grid: { stroke: colored('--line'), width: 1 },
    ticks: { stroke: colored('--line'), width: 1, size: 4 },
    font: '12px system-ui, sans-serif',
  };
  return {
    tzDate: (sec) => uPlot.tzDate(new Date(sec * 1000), 'Etc/UTC'),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    padding: [6, lastWidth, 0, 0],
    scales: {
      x: {
        // What stands at an end is seen whole. The given ends may have this room already.
        range: ({ data: [times] }) => {
          const [from, to] = [times[0] ?? 0, times.at(-1) ?? 0];
          const room = (to - from) * 0.03 || 1800;
          return [from - room, to + room];
        },
      },
      y: { range: (_, low, high) => uPlot.rangeNum(Math.min(0, low), Math.max(0, high), 0.1, true) },
    },
    axes: [
      { ...axis, size: 26, space: 90, values: formatTicks },
      { ...axis, size: 62, values: (_, values) => values.map(writeValue) },
    ],
    series: [
      {},
      {
        paths: uPlot.paths.stepped?.({ align: 1 }) as uPlot.Series.PathBuilder,
        stroke: colored('--accent'),
        fill: colored('--area'),
        fillTo: 0,
        points: { show: false },
      },
    ],
  };
}

const daySec = 86_400;

function formatTicks(_: uPlot, times: number[], _axis: number, _space: number, stepSec: number): string[] {
  return times.map((sec) => (stepSec >= daySec ? formatTime(sec).slice(0, 10) : formatTime(sec).slice(5, 16)));
}

const lastWidth = 76;

/** The last value, at the end of its line. */
function drawLast(plot: uPlot, points: readonly ChartPoint[], axis: ChartProps['axis']): void {
  const last = points.at(-1);
  if (last === undefined) return;
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
