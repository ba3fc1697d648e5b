import { hourMs } from '../model/duration.ts';
import type { Forward } from '../model/forward.ts';
import type { HourStats } from './inbox.ts';

/** What is counted of an hour at a webhook. */
export interface HourCounts
  extends Pick<HourStats, 'webhook' | 'received' | 'refusedSignatures' | 'forwarded' | 'refused'> {
  /** Its number since 1970. */
  hour: number;
  /** How many deliveries were forwarded, by the bucket of their time. */
  latencies: Record<number, number>;
}

/** The counts of the hour of a moment, made if absent. */
export function countsAt(hours: Map<string, HourCounts>, webhook: string, atMs: number): HourCounts {
  const hour = Math.floor(atMs / hourMs);
  const key = `${hour} ${webhook}`;
  const known = hours.get(key);
  if (known !== undefined) return known;
  const made = { hour, webhook, received: 0, refusedSignatures: 0, forwarded: 0, refused: 0, latencies: {} };
  hours.set(key, made);
  return made;
}

export function countForward(
  counts: HourCounts,
  arrivedMs: number,
  { outcome, atMs }: Pick<Forward, 'outcome' | 'atMs'>,
): void {
  counts[outcome] += 1;
  if (outcome !== 'forwarded') return;
  const bucket = latencyBucket(atMs - arrivedMs);
  counts.latencies[bucket] = (counts.latencies[bucket] ?? 0) + 1;
}

/** The sum of two counts of an hour. */
export function addCounts(counts: HourCounts, more: HourCounts): HourCounts {
  const latencies = { ...counts.latencies };
  for (const [bucket, count] of Object.entries(more.latencies))
    latencies[Number(bucket)] = (latencies[Number(bucket)] ?? 0) + count;
  const sum = { ...counts, latencies };
  for (const key of ['received', 'refusedSignatures', 'forwarded', 'refused'] as const) sum[key] += more[key];
  return sum;
}

/** Counts as they are shown. */
export function summarizeHour<Counts extends HourCounts>({ hour, latencies, ...counts }: Counts) {
  const [p50Ms, p99Ms] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
  return { hour: (hour * hourMs) / 1000, ...counts, p50Ms, p99Ms };
}

/** All webhooks of an hour together. */
export function byHour(rows: readonly HourStats[]) {
  const hours = new Map<number, Pick<HourStats, 'hour' | 'received' | 'refusedSignatures' | 'refused'>>();
  for (const { hour, received, refusedSignatures, refused } of rows) {
    const sums = hours.get(hour) ?? { hour, received: 0, refusedSignatures: 0, refused: 0 };
    sums.received += received;
    sums.refusedSignatures += refusedSignatures;
    sums.refused += refused;
    hours.set(hour, sums);
  }
  return [...hours.values()];
}

/** Each bucket reaches 5 % further than the one before it. */
const growth = Math.log(1.05);

/** The bucket of a time, from 0 on. */
function latencyBucket(ms: number): number {
  return Math.round(Math.log(Math.max(0, ms) + 1) / growth);
}

/** A share of the times in buckets is not above this, in milliseconds, within 3 %; `null` without times. */
function percentile(latencies: HourCounts['latencies'], share: number): number | null {
  // The keys of an object that are whole numbers come in their order.
  const buckets = Object.entries(latencies);
  let left = Math.ceil(buckets.reduce((sum, [, count]) => sum + count, 0) * share);
  for (const [bucket, count] of buckets) {
    left -= count;
    if (left <= 0) return Math.round(Math.exp(Number(bucket) * growth) - 1);
  }
  return null;
}
