import type { Db } from '../../../../files/database.ts';
import { hourMs, latencyBucket } from '../latency.ts';
import type { Batch, CommitResult } from './batch.ts';

/** Adds up what happened in each hour at each webhook, so that a batch takes a row or two. */
export function countHours(db: Db, { deliveries, marks, refusals }: Batch, committed: CommitResult): void {
  const hours = new Map<string, HourCounts>();
  const at = (webhook: string, atMs: number): HourCounts => {
    const key = `${Math.floor(atMs / hourMs)} ${webhook}`;
    const known = hours.get(key);
    if (known !== undefined) return known;
    const counts = { received: 0, refusedSignatures: 0, forwarded: 0, refused: 0, firstSeq: null, lastSeq: null };
    const made: HourCounts = { ...counts, latencies: new Map() };
    hours.set(key, made);
    return made;
  };
  for (const [index, { webhook, atMs }] of deliveries.entries()) {
    const seq = committed[index]?.seq;
    if (seq === undefined) continue;
    const counts = at(webhook, atMs);
    counts.received += 1;
    counts.firstSeq ??= seq;
    counts.lastSeq = seq;
  }
  for (const { webhook, arrivedMs, forward } of marks) {
    if (forward === undefined) continue;
    const counts = at(webhook, forward.atMs);
    counts[forward.outcome] += 1;
    if (forward.outcome !== 'forwarded') continue;
    const bucket = latencyBucket(forward.atMs - arrivedMs);
    counts.latencies.set(bucket, (counts.latencies.get(bucket) ?? 0) + 1);
  }
  for (const { webhook, atMs, count } of refusals) at(webhook, atMs).refusedSignatures += count;
  for (const [key, counts] of hours) {
    const space = key.indexOf(' ');
    addHour(db, Number(key.slice(0, space)), key.slice(space + 1), counts);
  }
}

interface HourCounts {
  received: number;
  refusedSignatures: number;
  forwarded: number;
  refused: number;
  firstSeq: number | null;
  lastSeq: number | null;
  latencies: Map<number, number>;
}

function addHour(db: Db, hour: number, webhook: string, counts: HourCounts): void {
  const { received, refusedSignatures, forwarded, refused, firstSeq, lastSeq, latencies } = counts;
  db.run(
    `INSERT INTO hour (hour, webhook, received, refused_signatures, forwarded, refused, first_seq, last_seq)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hour, webhook) DO UPDATE SET received = received + excluded.received,
       refused_signatures = refused_signatures + excluded.refused_signatures, forwarded = forwarded + excluded.forwarded,
       refused = refused + excluded.refused, first_seq = coalesce(first_seq, excluded.first_seq),
       last_seq = coalesce(excluded.last_seq, last_seq)`,
    [hour, webhook, received, refusedSignatures, forwarded, refused, firstSeq, lastSeq],
  );
  for (const [bucket, count] of latencies)
    db.run(
      `INSERT INTO latency (hour, webhook, bucket, count) VALUES (?, ?, ?, ?)
       ON CONFLICT (hour, webhook, bucket) DO UPDATE SET count = count + excluded.count`,
      [hour, webhook, bucket, count],
    );
}
