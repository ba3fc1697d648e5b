import { formatCount, formatTime } from '../../output/format.ts';
import type { PageStats } from '../deliveries.ts';
import { Chart } from './chart.tsx';
import { useMemo } from './preact.ts';

const [hourSec, hourCount] = [3600, 24];

/** A bar for each of the last 24 hours: what was received, and below the line what was refused. */
export function HoursChart({ hours }: { hours: PageStats['hours'] }) {
  const points = useMemo(() => pointsOf(hours), [hours]);
  const sum = (key: 'y' | 'loss') => formatCount(points.reduce((total, point) => total + Math.abs(point[key]), 0));
  const label = `Last 24 hours: ${sum('y')} received, ${sum('loss')} refused, by us or a target`;
  return <Chart label={label} points={points} shape="bars" height={44} />;
}

function pointsOf(hours: PageStats['hours']) {
  const last = Math.floor(Date.now() / 1000 / hourSec) * hourSec;
  const byHour = new Map(hours.map((each) => [each.hour, each]));
  return Array.from({ length: hourCount }, (_, index) => {
    const hour = last - (hourCount - 1 - index) * hourSec;
    const { received = 0, refusedSignatures = 0, refused = 0 } = byHour.get(hour) ?? {};
    const lost = refused + refusedSignatures;
    const title = `${formatTime(hour).slice(0, 16)}Z: ${formatCount(received)} received, ${formatCount(lost)} refused`;
    return { x: hour, y: received, loss: -lost, title };
  });
}
