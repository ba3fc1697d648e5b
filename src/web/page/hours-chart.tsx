import { formatCount, formatTime } from '../../output/format.ts';
import type { PageStats } from '../deliveries.ts';

const [hourSec, hourCount, height] = [3600, 24, 40];

/** A bar for each of the last 24 hours: what was received, and below the line what was refused. */
export function HoursChart({ hours }: { hours: PageStats['hours'] }) {
  const last = Math.floor(Date.now() / 1000 / hourSec) * hourSec;
  const byHour = new Map(hours.map((each) => [each.hour, each]));
  const bars = Array.from({ length: hourCount }, (_, index) => {
    const hour = last - (hourCount - 1 - index) * hourSec;
    const { received = 0, refusedSignatures = 0, refused = 0 } = byHour.get(hour) ?? {};
    return { hour, received, refused: refused + refusedSignatures };
  });
  const most = Math.max(1, ...bars.map(({ received }) => received));
  const mostRefused = Math.max(1, most / 3, ...bars.map(({ refused }) => refused));
  const received = bars.reduce((sum, bar) => sum + bar.received, 0);
  const refused = bars.reduce((sum, bar) => sum + bar.refused, 0);
  const label = `Last 24 hours: ${formatCount(received)} received, ${formatCount(refused)} refused, by us or a target`;
  const scale = (value: number, max: number, room: number) => (value === 0 ? 0 : Math.max(1.5, (value / max) * room));
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${hourCount * 10} ${height + 14}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {bars.map((bar, index) => {
          const [up, down] = [scale(bar.received, most, height), scale(bar.refused, mostRefused, 12)];
          return (
            <g key={bar.hour}>
              <title>
                {`${formatTime(bar.hour).slice(0, 16)}Z: ${formatCount(bar.received)} received, ${formatCount(bar.refused)} refused`}
              </title>
              <rect class="hit" x={index * 10} y={0} width={10} height={height + 14} />
              <rect class="received" x={index * 10 + 1} y={height - up} width={8} height={up} />
              <rect class="refused" x={index * 10 + 1} y={height + 1} width={8} height={down} />
            </g>
          );
        })}
        <rect class="axis" x={0} y={height} width={hourCount * 10} height={0.7} />
      </svg>
      <figcaption>{label}</figcaption>
    </figure>
  );
}
