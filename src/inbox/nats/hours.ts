import { isObject } from '../../model/json.ts';
import { countForward, countsAt, type HourCounts, statsOf } from '../hours.ts';
import type { Forward, HourStats } from '../inbox.ts';
import type { Marks } from './marks.ts';
import { jsonOf } from './message.ts';
import type { InboxStreams } from './streams.ts';
import type { Subjects } from './subjects.ts';

/**
 * Counts what this process does in each hour at each webhook; every process writes counts of its own, and reading adds them up. A crash
 * loses the counts since the last `write`.
 */
export function countHours(member: string, subjects: Subjects, marks: Marks) {
  const hours = new Map<string, HourCounts>();
  const changed = new Set<HourCounts>();
  const at = (webhook: string, atMs: number): HourCounts => {
    const counts = countsAt(hours, webhook, atMs);
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
    forward: (webhook: string, arrivedMs: number, forward: Pick<Forward, 'outcome' | 'atMs'>) =>
      countForward(at(webhook, forward.atMs), arrivedMs, forward),
    write: async () => {
      const dirty = [...changed];
      changed.clear();
      for (const counts of dirty) await marks.add(subjects.hour(counts.hour, counts.webhook, member), counts);
    },
  };
}

/** What all processes counted, oldest first; without what waits. */
export async function readHours(
  { streams, subjects }: InboxStreams,
  fits: (hour: number, webhook: string) => boolean,
): Promise<Omit<HourStats, 'waiting'>[]> {
  const sums = new Map<string, HourCounts>();
  const stored = streams.read(subjects.state, { filter: subjects.hours, from: 'last-of-each', ends: true });
  for await (const message of stored) {
    const counts = jsonOf(message);
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
  return [...sums.values()].sort((a, b) => a.hour - b.hour || (a.webhook < b.webhook ? -1 : 1)).map(statsOf);
}

function isCounts(value: unknown): value is HourCounts {
  return isObject(value) && typeof value['hour'] === 'number' && isObject(value['latencies']);
}
