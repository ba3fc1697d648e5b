import type { Db, SqlValue } from '../../files/database.ts';
import { hourMs } from '../../model/duration.ts';
import type { EventQuery, Forward, StoredDelivery, StoredEvent } from '../inbox.ts';
import { askedEvents, isWebhook } from '../query.ts';
import { readDelivery } from './delivery-rows.ts';
import { seqsByIdStart, seqsOf } from './event-ids.ts';
import { blockSize } from './store.ts';
import { firstWaiting, statusOf } from './waiting.ts';

const rowsAtOnce = 256;

/** The stored events that a query asks for, newest first; in the order of their ids where it names the start of one. */
export function* queryEvents(db: Db, query: EventQuery, nowMs: number): Generator<StoredEvent> {
  for (const seq of candidates(db, query)) {
    const delivery = readDelivery(db, seq);
    // What was removed meanwhile is skipped.
    if (delivery !== undefined) yield* fittingEvents(db, delivery, query, nowMs);
  }
}

/** Deliveries after a number with the events that a query asks for, oldest first; none of the events may fit. */
export function* queryNew(
  db: Db,
  query: EventQuery,
  after: number,
  nowMs: number,
): Generator<{ delivery: StoredDelivery; events: StoredEvent[] }> {
  for (let last: number | undefined = after; last !== undefined; ) {
    const rows: { seq: number }[] = db.all<{ seq: number }>(
      `SELECT seq FROM delivery WHERE seq > ? ORDER BY seq LIMIT ${rowsAtOnce}`,
      [last],
    );
    for (const { seq } of rows) {
      const delivery = readDelivery(db, seq);
      if (delivery !== undefined) yield { delivery, events: [...fittingEvents(db, delivery, query, nowMs)].reverse() };
    }
    last = rows.at(-1)?.seq;
  }
}

/** The deliveries that hold such events, oldest first. */
export function* queryDeliveries(
  db: Db,
  query: EventQuery | { ids: readonly string[] },
  nowMs: number,
): Generator<StoredDelivery> {
  if ('ids' in query) {
    for (const seq of seqsOf(db, query.ids)) {
      const delivery = readDelivery(db, seq);
      if (delivery !== undefined) yield delivery;
    }
    return;
  }
  for (const { delivery, events } of queryNew(db, query, boundsOf(db, query)[0] - 1, nowMs))
    if (events.length > 0) yield { ...delivery, events };
}

/** The events of a delivery that a query asks for, the last one first. */
function* fittingEvents(db: Db, delivery: StoredDelivery, query: EventQuery, nowMs: number): Generator<StoredEvent> {
  const fitting = askedEvents(delivery, query);
  if (fitting.length === 0) return;
  const forwards = forwardsOf(db, delivery.seq);
  for (const event of fitting.reverse()) {
    const status = statusOf(db, delivery, event, forwards, nowMs);
    if (query.status === undefined || status === query.status) yield { ...event, delivery, status, forwards };
  }
}

/** Numbers of deliveries among which are all that a query asks for, newest first. */
function* candidates(db: Db, query: EventQuery): Generator<number> {
  const { idStart, address, token, type } = query;
  if (idStart !== undefined) return yield* seqsByIdStart(db, idStart);
  const [low, high] = boundsOf(db, query);
  if (query.status === 'refused') return yield* pages(db, 'forward', "outcome = 'refused'", [], low, high);
  const term = [address && `address:${address}`, token && `token:${token}`, type && `type:${type}`].find(Boolean);
  if (term !== undefined) return yield* byTerm(db, term, low, high);
  const ids = query.webhook === undefined ? [] : webhookIds(db, query.webhook);
  if (query.webhook === undefined) return yield* pages(db, 'delivery', 'true', [], low, high);
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) return yield* pages(db, 'delivery', 'webhook_id = ?', [only], low, high);
  if (ids.length > 1)
    yield* pages(db, 'delivery', '+webhook_id IN (SELECT value FROM json_each(?))', [JSON.stringify(ids)], low, high);
}

function* byTerm(db: Db, term: string, low: number, high: number): Generator<number> {
  const indexed = db.get<{ block: number | null }>('SELECT max(block) AS block FROM term')?.block ?? -1;
  const tail = '+seq IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(terms) WHERE value = ?)';
  yield* pages(db, 'delivery', tail, [term], Math.max(low, (indexed + 1) * blockSize), high);
  const last = Math.min(indexed, Math.floor(high / blockSize));
  const oldest = db.get<{ block: number | null }>('SELECT min(block) AS block FROM term')?.block ?? 0;
  for (let block = last; block >= Math.max(oldest, Math.floor(low / blockSize)); block -= 1)
    for (const { seq } of db.all<{ seq: number }>(
      'SELECT seq FROM term WHERE block = ? AND term = ? AND seq BETWEEN ? AND ? ORDER BY seq DESC',
      [block, term, low, high],
    ))
      yield seq;
}

/** Numbers of rows from the newest down, some at a time, so that the store is not held while they are shown. */
function* pages(
  db: Db,
  table: 'delivery' | 'forward',
  where: string,
  values: readonly SqlValue[],
  low: number,
  high: number,
): Generator<number> {
  const sql = `SELECT DISTINCT seq FROM ${table} WHERE ${where} AND seq BETWEEN ? AND ? ORDER BY seq DESC LIMIT ${rowsAtOnce}`;
  for (let last: number | undefined = high + 1; last !== undefined; ) {
    const rows: { seq: number }[] = db.all<{ seq: number }>(sql, [...values, low, last - 1]);
    for (const { seq } of rows) yield seq;
    last = rows.at(-1)?.seq;
  }
}

/** Between which numbers the deliveries are that came in a time, by whole hours, and that wait where those are asked for. */
function boundsOf(db: Db, { sinceMs, untilMs, status }: EventQuery): [low: number, high: number] {
  let [low, high] = [0, Number.MAX_SAFE_INTEGER - 1];
  if (sinceMs !== undefined) low = bound(db, 'min(first_seq)', '>=', sinceMs) ?? high;
  if (untilMs !== undefined) high = bound(db, 'max(last_seq)', '<=', untilMs) ?? 0;
  return [status === 'waiting' ? Math.max(low, firstWaiting(db)) : low, high];
}

function bound(db: Db, what: string, compare: '>=' | '<=', atMs: number): number | undefined {
  const hour = Math.floor(atMs / hourMs);
  return (
    db.get<{ seq: number | null }>(`SELECT ${what} AS seq FROM hour WHERE hour ${compare} ?`, [hour])?.seq ?? undefined
  );
}

function webhookIds(db: Db, asked: string): number[] {
  const rows = db.all<{ id: number; name: string }>('SELECT id, name FROM webhook ORDER BY id');
  return rows.filter(({ name }) => isWebhook(name, asked)).map(({ id }) => id);
}

function forwardsOf(db: Db, seq: number): Forward[] {
  return db.all<Forward & Record<string, never>>(
    `SELECT t.url, f.outcome, f.status, f.ms, f.tries, f.error, f.at_ms AS atMs FROM forward f JOIN target t ON t.id = f.target_id
     WHERE f.seq = ? ORDER BY f.at_ms, t.id`,
    [seq],
  );
}
