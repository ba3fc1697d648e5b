import type { Db } from '../../../../files/database.ts';
import type { EventQuery, HourStats } from '../inbox.ts';
import { hourMs, percentile } from '../latency.ts';
import { isWebhook } from '../query.ts';
import { waitingBetween } from './waiting.ts';

interface HourRow {
  hour: number;
  webhook: string;
  received: number;
  refusedSignatures: number;
  forwarded: number;
  refused: number;
  firstSeq: number | null;
  lastSeq: number | null;
}

/** What happened at each webhook in each hour, oldest first. */
export function hourStats(
  db: Db,
  { sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER, webhook }: Pick<EventQuery, 'sinceMs' | 'untilMs' | 'webhook'>,
  nowMs: number,
): HourStats[] {
  const rows = db.all<HourRow & Record<string, never>>(
    `SELECT hour, webhook, received, refused_signatures AS refusedSignatures, forwarded, refused, first_seq AS firstSeq, last_seq AS lastSeq
     FROM hour WHERE hour BETWEEN ? AND ? ORDER BY hour, webhook`,
    [Math.floor(sinceMs / hourMs), Math.floor(untilMs / hourMs)],
  );
  return rows
    .filter((row) => webhook === undefined || isWebhook(row.webhook, webhook))
    .map(({ hour, firstSeq, lastSeq, ...counts }) => {
      const buckets = db.all<{ bucket: number; count: number }>(
        'SELECT bucket, count FROM latency WHERE hour = ? AND webhook = ? ORDER BY bucket',
        [hour, counts.webhook],
      );
      const waiting =
        firstSeq === null || lastSeq === null ? 0 : waitingBetween(db, counts.webhook, [firstSeq, lastSeq], nowMs);
      const [p50Ms, p99Ms] = [percentile(buckets, 0.5), percentile(buckets, 0.99)];
      return { hour: (hour * hourMs) / 1000, ...counts, waiting, p50Ms, p99Ms };
    });
}
