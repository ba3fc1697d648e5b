import { isObject, tryParseJson } from '../../../../model/json.ts';
import type { Forward, HourStats } from '../inbox.ts';
import { hourMs, latencyBucket, percentile } from '../latency.ts';
import type { Marks } from './marks.ts';
import type { Streams } from './streams.ts';
import type { Subjects } from './subjects.ts';

interface Counts {
  hour: number;
  webhook: string;
  received: number;
  refusedSignatures: number;
  forwarded: number;
  refused: number;
  latencies: Record<number, number>;
}

/**
 * Counts what this process does in each hour at each webhook; every process writes counts of its own, and reading adds them up. A crash
 * loses the counts since the last `write`.
 */
export function countHours(member: string, subjects: Subjects, marks: Marks) {
  const hours = new Map<string, Counts>();
  const changed = new Set<Counts>();
  const at = (webhook: string, atMs: number): Counts => {
    const hour = Math.floor(atMs / hourMs);
    const key = `${hour} ${webhook}`;
    const none = { received: 0, refusedSignatures: 0, forwarded: 0, refused: 0, latencies: {} };
    const counts = hours.get(key) ?? { hour, webhook, ...none };
    hours.set(key, counts);
    changed.add(counts);
    return counts;
  };
  return {
    received: (webhook: string, atMs: number) => {
      at(webhook, atMs).received += 1;
    },
    refusedSignature: (path: string, atMs: number) => {
      at(path, atMs).refusedSignatures += 1;
    },
    forward: (webhook: string, arrivedMs: number, { outcome, atMs }: Pick<Forward, 'outcome' | 'atMs'>) => {
      const counts = at(webhook, atMs);
      counts[outcome] += 1;
      if (outcome !== 'forwarded') return;
      const bucket = latencyBucket(atMs - arrivedMs);
      counts.latencies[bucket] = (counts.latencies[bucket] ?? 0) + 1;
    },
    write: async () => {
      const dirty = [...changed];
      changed.clear();
      for (const counts of dirty) await marks.add(subjects.hour(counts.hour, counts.webhook, member), counts);
    },
  };
}

/** What all processes counted, oldest first; without what waits. */
export async function readHours(
  streams: Streams,
  subjects: Subjects,
  fits: (hour: number, webhook: string) => boolean,
): Promise<Omit<HourStats, 'waiting'>[]> {
  const sums = new Map<string, Counts>();
  for await (const { data } of streams.read(subjects.state, {
    filter: subjects.hours,
    from: 'last-of-each',
    ends: true,
  })) {
    const counts = tryParseJson(Buffer.from(data).toString());
    if (!isCounts(counts) || !fits(counts.hour, counts.webhook)) continue;
    const key = `${counts.hour} ${counts.webhook}`;
    const sum = sums.get(key);
    if (sum === undefined) {
      sums.set(key, counts);
      continue;
    }
    for (const name of ['received', 'refusedSignatures', 'forwarded', 'refused'] as const) sum[name] += counts[name];
    for (const [bucket, count] of Object.entries(counts.latencies))
      sum.latencies[Number(bucket)] = (sum.latencies[Number(bucket)] ?? 0) + count;
  }
  return [...sums.values()]
    .sort((a, b) => a.hour - b.hour || (a.webhook < b.webhook ? -1 : 1))
    .map(({ hour, latencies, ...counts }) => {
      const buckets = Object.entries(latencies).map(([bucket, count]) => ({ bucket: Number(bucket), count }));
      return {
        hour: (hour * hourMs) / 1000,
        ...counts,
        p50Ms: percentile(buckets, 0.5),
        p99Ms: percentile(buckets, 0.99),
      };
    });
}

function isCounts(value: unknown): value is Counts {
  return isObject(value) && typeof value['hour'] === 'number' && isObject(value['latencies']);
}
