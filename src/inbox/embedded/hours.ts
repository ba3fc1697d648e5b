import type { Db } from '../../files/database.ts';
import { hourMs } from '../../model/duration.ts';
import { countForward, countsAt, type HourCounts, statsOf } from '../hours.ts';
import type { EventQuery, HourStats } from '../inbox.ts';
import { isWebhook } from '../query.ts';
import type { Batch, CommitResult } from './batch.ts';
import { waitingBetween } from './waiting.ts';

/** Adds up what happened in each hour at each webhook, so that a batch takes a row or two. */
export function countHours(db: Db, { deliveries, marks, refusals }: Batch, committed: CommitResult): void {
  const hours = new Map<string, HourCounts>();
  for (const [index, { webhook, atMs }] of deliveries.entries()) {
    const seq = committed[index]?.seq;
    if (seq === undefined) continue;
    const counts = countsAt(hours, webhook, atMs);
    counts.received += 1;
    counts.firstSeq ??= seq;
    counts.lastSeq = seq;
  }
  for (const { webhook, arrivedMs, forward } of marks)
    if (forward !== undefined) countForward(countsAt(hours, webhook, forward.atMs), arrivedMs, forward);
  for (const { webhook, atMs, count } of refusals) countsAt(hours, webhook, atMs).refusedSignatures += count;
  for (const counts of hours.values()) addHour(db, counts);
}

function addHour(db: Db, counts: HourCounts): void {
  const { hour, webhook, received, refusedSignatures, forwarded, refused, firstSeq, lastSeq, latencies } = counts;
  db.run(
    `INSERT INTO hour (hour, webhook, received, refused_signatures, forwarded, refused, first_seq, last_seq)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hour, webhook) DO UPDATE SET received = received + excluded.received,
       refused_signatures = refused_signatures + excluded.refused_signatures, forwarded = forwarded + excluded.forwarded,
       refused = refused + excluded.refused, first_seq = coalesce(first_seq, excluded.first_seq),
       last_seq = coalesce(excluded.last_seq, last_seq)`,
    [hour, webhook, received, refusedSignatures, forwarded, refused, firstSeq ?? null, lastSeq ?? null],
  );
  for (const [bucket, count] of Object.entries(latencies))
    db.run(
      `INSERT INTO latency (hour, webhook, bucket, count) VALUES (?, ?, ?, ?)
       ON CONFLICT (hour, webhook, bucket) DO UPDATE SET count = count + excluded.count`,
      [hour, webhook, Number(bucket), count],
    );
}

type HourRow = Omit<HourCounts, 'latencies' | 'firstSeq' | 'lastSeq'> & {
  firstSeq: number | null;
  lastSeq: number | null;
};

/** What happened at each webhook in each hour, oldest first. */
export function hourStats(
  db: Db,
  { sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER, webhook }: Pick<EventQuery, 'sinceMs' | 'untilMs' | 'webhook'>,
  nowMs: number,
): HourStats[] {
  const rows = db.all<HourRow>(
    `SELECT hour, webhook, received, refused_signatures AS refusedSignatures, forwarded, refused, first_seq AS firstSeq, last_seq AS lastSeq
     FROM hour WHERE hour BETWEEN ? AND ? ORDER BY hour, webhook`,
    [Math.floor(sinceMs / hourMs), Math.floor(untilMs / hourMs)],
  );
  return rows
    .filter((row) => webhook === undefined || isWebhook(row.webhook, webhook))
    .map(({ firstSeq, lastSeq, ...counts }) => {
      const buckets = db.all<{ bucket: number; count: number }>(
        'SELECT bucket, count FROM latency WHERE hour = ? AND webhook = ?',
        [counts.hour, counts.webhook],
      );
      const latencies = Object.fromEntries(buckets.map(({ bucket, count }) => [bucket, count]));
      const waiting =
        firstSeq === null || lastSeq === null ? 0 : waitingBetween(db, counts.webhook, [firstSeq, lastSeq], nowMs);
      return statsOf({ ...counts, latencies, waiting });
    });
}
