import type { Db } from '../../../../files/database.ts';
import { type EventStatus, type Forward, type StoredDelivery, type Target, targetMs } from '../inbox.ts';

export function newestSeq(db: Db): number {
  return db.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM delivery')?.seq ?? 0;
}

/** How many deliveries wait for a target. */
export function countWaiting(db: Db, { url, eventType = '' }: Target): number {
  const row = db.get<{ count: number | null }>(
    `SELECT sum((SELECT count(*) FROM delivery d WHERE d.webhook_id = w.id AND d.seq > max(t.start_seq, coalesce(r.seq, 0))
       AND (t.event_type = '' OR EXISTS (SELECT 1 FROM json_each(d.terms) WHERE value = 'type:' || t.event_type)))) AS count
     FROM target t JOIN webhook w LEFT JOIN reached r ON r.target_id = t.id AND r.webhook_id = w.id
     WHERE t.url = ? AND t.event_type = ?`,
    [url, eventType],
  );
  return row?.count ?? 0;
}

/** Nothing before it waits. */
export function firstWaiting(db: Db): number {
  const row = db.get<{ seq: number | null }>(
    `SELECT min((SELECT min(d.seq) FROM delivery d WHERE d.webhook_id = w.id AND d.seq > max(t.start_seq, coalesce(r.seq, 0)))) AS seq
     FROM webhook w JOIN target t LEFT JOIN reached r ON r.target_id = t.id AND r.webhook_id = w.id`,
  );
  return row?.seq ?? Number.MAX_SAFE_INTEGER - 1;
}

/** The last delivery of a webhook that no target waits for. */
export function settledSeq(db: Db, webhookId: number, nowMs: number): number {
  const row = db.get<{ seq: number | null }>(
    `SELECT min(max(t.start_seq, coalesce(r.seq, 0))) AS seq FROM target t
       LEFT JOIN reached r ON r.target_id = t.id AND r.webhook_id = ? WHERE t.used_ms > ?`,
    [webhookId, nowMs - targetMs],
  );
  return row?.seq ?? Number.MAX_SAFE_INTEGER;
}

/** How an event ended so far, by what its targets did. */
export function statusOf(
  db: Db,
  { seq, webhook }: StoredDelivery,
  eventType: string,
  forwards: readonly Forward[],
  nowMs: number,
): EventStatus | null {
  if (forwards.some(({ outcome }) => outcome === 'refused')) return 'refused';
  const waiting = db.get(
    `SELECT 1 FROM target t LEFT JOIN reached r ON r.target_id = t.id AND r.webhook_id = (SELECT id FROM webhook WHERE name = ?1)
     WHERE max(t.start_seq, coalesce(r.seq, 0)) < ?2 AND t.event_type IN ('', ?3) AND t.used_ms > ?4`,
    [webhook, seq, eventType, nowMs - targetMs],
  );
  if (waiting !== undefined) return 'waiting';
  return forwards.length > 0 ? 'forwarded' : null;
}

/** How many deliveries of a webhook between two numbers wait for a target, one counted for each target. */
export function waitingBetween(
  db: Db,
  webhook: string,
  [first, last]: readonly [number, number],
  nowMs: number,
): number {
  const row = db.get<{ count: number | null }>(
    `SELECT sum((SELECT count(*) FROM delivery d WHERE d.webhook_id = w.id AND d.seq > max(t.start_seq, coalesce(r.seq, 0), ?2 - 1)
       AND d.seq <= ?3
       AND (t.event_type = '' OR EXISTS (SELECT 1 FROM json_each(d.terms) WHERE value = 'type:' || t.event_type)))) AS count
     FROM webhook w JOIN target t LEFT JOIN reached r ON r.target_id = t.id AND r.webhook_id = w.id
     WHERE w.name = ?1 AND t.used_ms > ?4`,
    [webhook, first, last, nowMs - targetMs],
  );
  return row?.count ?? 0;
}
