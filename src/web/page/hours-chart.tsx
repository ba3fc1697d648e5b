import { formatCount, formatTime } from '../../output/format.ts';
import type { PageStats } from '../deliveries.ts';
import { BarChart } from './charts.tsx';

const [hourSec, hourCount] = [3600, 24];

/** A bar for each of the last 24 hours: what was received, and below the line what was refused. */
export function HoursChart({ hours }: { hours: PageStats['hours'] }) {
  const last = Math.floor(Date.now() / 1000 / hourSec) * hourSec;
  const byHour = new Map(hours.map((each) => [each.hour, each]));
  const bars = Array.from({ length: hourCount }, (_, index) => {
    const hour = last - (hourCount - 1 - index) * hourSec;
    const { received = 0, refusedSignatures = 0, refused = 0 } = byHour.get(hour) ?? {};
    const [up, down] = [received, refused + refusedSignatures];
    const title = `${formatTime(hour).slice(0, 16)}Z: ${formatCount(up)} received, ${formatCount(down)} refused`;
    return { key: String(hour), title, up, down };
  });
  const received = bars.reduce((sum, { up }) => sum + up, 0);
  const refused = bars.reduce((sum, { down }) => sum + down, 0);
  const label = `Last 24 hours: ${formatCount(received)} received, ${formatCount(refused)} refused, by us or a target`;
  return <BarChart label={label} bars={bars} height={44} />;
}
