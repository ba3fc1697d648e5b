import { setImmediate } from 'node:timers/promises';
import type { Db, SqlValue } from '../../lib/files/database.ts';
import type { Forward } from '../../lib/outbox.ts';
import {
  type DeliveryQuery,
  type EventQuery,
  type EventStatus,
  type StoredDelivery,
  type StoredEvent,
  stripSecret,
} from '../inbox.ts';
import { askedEvents } from '../query.ts';
import { blockOf, blockSize, type Facet, newestSeq, readDelivery, readForwards } from './deliveries.ts';

const rowsAtOnce = 256;

/** The stored events that a query asks for, newest first; by id if the query has the start of one. */
export async function* queryEvents(db: Db, query: EventQuery): AsyncGenerator<StoredEvent> {
  for await (const seqs of candidates(db, query)) for (const seq of seqs) yield* eventsIn(db, seq, query).reverse();
}

/** The events of a delivery that a query asks for, in their order. */
export function eventsIn(db: Db, seq: number, query: EventQuery): StoredEvent[] {
  const delivery = readDelivery(db, seq);
  const asked = delivery === undefined ? [] : askedEvents(delivery, query);
  if (delivery === undefined || asked.length === 0) return [];
  const { forwards, isWaiting } = readForwards(db, seq);
  const status = findEventStatus(forwards, isWaiting);
  if (query.status !== undefined && status !== query.status) return [];
  return asked.map((event) => ({ ...event, delivery, status, forwards }));
}

/** The status of an event at its targets so far. */
function findEventStatus(forwards: readonly Forward[], isWaiting: boolean): EventStatus | null {
  if (forwards.some(({ outcome }) => outcome === 'failed')) return 'failed';
  if (isWaiting) return 'waiting';
  return forwards.length > 0 ? 'forwarded' : null;
}

/** Deliveries, oldest first. */
export async function* queryDeliveries(db: Db, query: DeliveryQuery): AsyncGenerator<StoredDelivery> {
  for (const seq of findSeqs(db, query)) {
    const delivery = readDelivery(db, seq);
    if (delivery !== undefined) yield delivery;
    await setImmediate();
  }
}

function findSeqs(db: Db, query: DeliveryQuery): number[] {
  if ('failed' in query) return db.values("SELECT DISTINCT item FROM outbox WHERE state = 'failed' ORDER BY item");
  if ('ids' in query)
    return db.values('SELECT DISTINCT seq FROM event WHERE id IN (SELECT value FROM json_each(?)) ORDER BY seq', [
      JSON.stringify(query.ids),
    ]);
  return db.values('SELECT seq FROM delivery WHERE at_ms >= ? ORDER BY seq', [query.sinceMs ?? 0]);
}

/** The next numbers after one, of all deliveries. */
export function seqsAfter(db: Db, last: number): number[] {
  return db.values('SELECT seq FROM delivery WHERE seq > ? ORDER BY seq LIMIT ?', [last, rowsAtOnce]);
}

/** Numbers of deliveries among which are all that a query asks for, newest first; deliveries are stored between two batches. */
async function* candidates(db: Db, query: EventQuery): AsyncGenerator<number[]> {
  if (query.idStart !== undefined) return yield findByIdStart(db, query.idStart);
  const conditions = facetsIn(query).map(
    () => 'AND seq IN (SELECT seq FROM facet WHERE block = ? AND kind = ? AND value = ?)',
  );
  if (query.status !== undefined)
    conditions.push('AND seq IN (SELECT item FROM outbox WHERE item BETWEEN ? AND ? AND state = ?)');
  const sql = `SELECT seq FROM delivery WHERE seq BETWEEN ? AND ? ${conditions.join(' ')} ORDER BY seq DESC LIMIT ${rowsAtOnce}`;
  const [oldest, newest] = readBounds(db, query);
  for (let last = newest; last >= oldest; ) {
    await setImmediate();
    const block = blockOf(last);
    const first = Math.max(oldest, block * blockSize);
    const values: SqlValue[] = facetsIn(query).flatMap(({ kind, value }) => [block, kind, value]);
    if (query.status !== undefined) values.push(first, last, outboxStates[query.status]);
    const seqs = db.values<number>(sql, [first, last, ...values]);
    yield seqs;
    last = (seqs.length < rowsAtOnce ? first : (seqs.at(-1) ?? first)) - 1;
  }
}

const outboxStates = { forwarded: 'delivered', waiting: 'waiting', failed: 'failed' } satisfies Record<
  EventStatus,
  string
>;

function facetsIn({ type, address, token, webhook }: EventQuery): Facet[] {
  const given = { type, wallet: address, token, path: webhook && stripSecret(webhook) };
  return Object.entries(given).flatMap(([kind, value]) =>
    value === undefined ? [] : [{ kind: kind as Facet['kind'], value }],
  );
}

/** Between which numbers the deliveries are that came in a time. */
function readBounds(db: Db, { sinceMs, untilMs }: EventQuery): [oldest: number, newest: number] {
  if (sinceMs === undefined && untilMs === undefined)
    return [db.value<number>('SELECT min(seq) FROM delivery') ?? 1, newestSeq(db)];
  const found = db.get<{ oldest: number | null; newest: number | null }>(
    'SELECT min(seq) AS oldest, max(seq) AS newest FROM delivery WHERE at_ms BETWEEN ? AND ?',
    [sinceMs ?? 0, untilMs ?? Number.MAX_SAFE_INTEGER],
  );
  return [found?.oldest ?? 1, found?.newest ?? 0];
}

/** In the order of the ids: one of exactly that id is the first. */
function findByIdStart(db: Db, start: string): number[] {
  const sql = 'SELECT seq FROM event WHERE id >= ? AND id <= ? ORDER BY id LIMIT ?';
  return [...new Set(db.values<number>(sql, [start, `${start}\u{10ffff}`, rowsAtOnce]))];
}
