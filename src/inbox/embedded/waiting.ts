import type { Db, SqlValue } from '../../files/database.ts';
import { hideUrlSecrets } from '../../model/url-secrets.ts';
import type { EventSummary } from '../events.ts';
import { type EventStatus, type Forward, type StoredDelivery, type Target, targetMs } from '../inbox.ts';
import { isFor } from '../route.ts';
import { readDelivery } from './delivery-rows.ts';
import { hasConditions, readRule, ruleOf, ruleType } from './rule.ts';

export function newestSeq(db: Db): number {
  return db.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM delivery')?.seq ?? 0;
}

/** How many deliveries wait for a target. */
export function countWaiting(db: Db, target: Target): number {
  return countFitting(db, 't.url = ? AND t.event_type = ?', [hideUrlSecrets(target.url), ruleOf(target)]);
}

/** How many deliveries wait for the targets of a condition in SQL, one counted for each target. */
function countFitting(db: Db, condition: string, values: readonly SqlValue[]): number {
  const waiting = `FROM target t JOIN webhook w LEFT JOIN reached r ON r.target_id = t.id AND r.webhook_id = w.id
     JOIN delivery d ON d.webhook_id = w.id AND d.seq > max(t.start_seq, coalesce(r.seq, 0))
     WHERE ${condition}
       AND (${ruleType} = '' OR EXISTS (SELECT 1 FROM json_each(d.terms) WHERE value = 'type:' || ${ruleType}))`;
  const counted = db.get<{ count: number }>(`SELECT count(*) AS count ${waiting} AND NOT ${hasConditions}`, values);
  const looked = db
    .all<{ seq: number; rule: string }>(`SELECT d.seq, t.event_type AS rule ${waiting} AND ${hasConditions}`, values)
    .filter(({ seq, rule }) => readDelivery(db, seq)?.events.some((event) => isFor(readRule(rule), event)));
  return (counted?.count ?? 0) + looked.length;
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
  event: EventSummary,
  forwards: readonly Forward[],
  nowMs: number,
): EventStatus | null {
  if (forwards.some(({ outcome }) => outcome === 'refused')) return 'refused';
  const waiting = db.all<{ rule: string }>(
    `SELECT t.event_type AS rule FROM target t
       LEFT JOIN reached r ON r.target_id = t.id AND r.webhook_id = (SELECT id FROM webhook WHERE name = ?1)
     WHERE max(t.start_seq, coalesce(r.seq, 0)) < ?2 AND t.used_ms > ?3`,
    [webhook, seq, nowMs - targetMs],
  );
  if (waiting.some(({ rule }) => isFor(readRule(rule), event))) return 'waiting';
  return forwards.length > 0 ? 'forwarded' : null;
}

/** How many deliveries of a webhook between two numbers wait for a target, one counted for each target. */
export function waitingBetween(
  db: Db,
  webhook: string,
  [first, last]: readonly [number, number],
  nowMs: number,
): number {
  return countFitting(db, 'w.name = ? AND d.seq BETWEEN ? AND ? AND t.used_ms > ?', [
    webhook,
    first,
    last,
    nowMs - targetMs,
  ]);
}
