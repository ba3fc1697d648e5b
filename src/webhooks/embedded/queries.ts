import { createHash } from 'node:crypto';
import type { Db, SqlValue } from '../../lib/files/database.ts';
import { collectNames, type EventSummary } from '../event-facts.ts';
import type { DeliveryQuery, EventQuery, StoredDelivery, StoredEvent } from '../inbox.ts';
import { stripSecret, targetMs } from '../inbox.ts';
import { askedEvents, findEventStatus } from '../query.ts';
import { isFor } from '../route.ts';
import { readDelivery, readForwards, readTargets } from './rows.ts';
import type { Store } from './store.ts';

const rowsAtOnce = 256;

/** The stored events that a query asks for, newest first; in the order of their ids where it names the start of one. */
export function* queryEvents(store: Store, query: EventQuery, nowMs: number): Generator<StoredEvent> {
  for (const seq of candidates(store.db, query, nowMs))
    yield* fittingEvents(store, readDelivery(store, seq), query, nowMs);
}

/** The next numbers after one, of all deliveries. */
export function seqsAfter(db: Db, last: number, atMost = rowsAtOnce): number[] {
  const sql = 'SELECT seq FROM delivery INDEXED BY delivery_seq WHERE seq > ? ORDER BY seq LIMIT ?';
  return db.values(sql, [last, atMost]);
}

/** The events of a delivery that a query asks for, in their order. */
export function eventsIn(store: Store, seq: number, query: EventQuery, nowMs: number): StoredEvent[] {
  return [...fittingEvents(store, readDelivery(store, seq), query, nowMs)].reverse();
}

/** Deliveries, oldest first: those of events, or those that came since a time. */
export function* queryDeliveries(store: Store, query: DeliveryQuery, nowMs: number): Generator<StoredDelivery> {
  const seqs = 'ids' in query ? findSeqs(store.db, query.ids) : candidates(store.db, query, nowMs);
  for (const seq of [...seqs].sort((a, b) => a - b)) {
    const delivery = readDelivery(store, seq);
    if (delivery !== undefined) yield delivery;
  }
}

/** The events of a delivery that a query asks for, the last one first. */
function* fittingEvents(
  { db }: Store,
  delivery: StoredDelivery | undefined,
  query: EventQuery,
  nowMs: number,
): Generator<StoredEvent> {
  const fitting = delivery === undefined ? [] : askedEvents(delivery, query);
  if (delivery === undefined || fitting.length === 0) return;
  const forwards = readForwards(db, delivery.seq);
  const from = 'waiting w JOIN target t ON t.id = w.target_id WHERE w.seq = ? AND t.used_ms > ?';
  const waiting = readTargets(db, from, [delivery.seq, nowMs - targetMs]);
  for (const event of fitting.reverse()) {
    const isWaiting = waiting.some((target) => isFor(target, event));
    const status = findEventStatus(forwards, isWaiting);
    if (query.status === undefined || status === query.status) yield { ...event, delivery, status, forwards };
  }
}

type Term = `${'type' | 'address' | 'token' | 'webhook'}:${string}`;

/** As one word of the index, whatever is in it. Two that share a word only cost a look at the delivery. */
function writeTerm(term: Term): string {
  return createHash('sha1').update(term).digest('hex').slice(0, 16);
}

/** The words that a delivery can be found by. */
export function indexedWords(webhook: string, events: readonly EventSummary[]): string {
  const terms = new Set<Term>([`webhook:${webhook}`, `webhook:${stripSecret(webhook)}`]);
  for (const { event, eventType } of events) {
    const { addresses, tokens } = collectNames(event);
    terms.add(`type:${eventType}`);
    for (const address of addresses) terms.add(`address:${address}`);
    for (const token of tokens) terms.add(`token:${token}`);
  }
  return [...terms].map(writeTerm).join(' ');
}

/** What the index is asked for; empty where a query names nothing that is in it. */
function askedWords({ type, address, token, webhook }: EventQuery): string {
  const words = Object.entries({ type, address, token, webhook }).flatMap(([kind, value]) =>
    value === undefined ? [] : [writeTerm(`${kind}:${value}` as Term)],
  );
  return words.join(' AND ');
}

const maxSeq = Number.MAX_SAFE_INTEGER - 1;

/** Numbers of deliveries among which are all that a query asks for, newest first. For none of them the delivery is looked at. */
function* candidates(db: Db, query: EventQuery, nowMs: number): Generator<number> {
  const { idStart, status, sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER } = query;
  if (idStart !== undefined) return yield* seqsByIdStart(db, idStart);
  const words = askedWords(query);
  const [from, values]: [string, SqlValue[]] =
    status === 'waiting'
      ? ['waiting w JOIN target t ON t.id = w.target_id WHERE t.used_ms > ? AND w.seq', [nowMs - targetMs]]
      : status === 'refused'
        ? ["forward w WHERE w.outcome = 'refused' AND w.seq", []]
        : words === ''
          ? ['delivery w INDEXED BY delivery_seq WHERE w.at_ms BETWEEN ? AND ? AND w.seq', [sinceMs, untilMs]]
          : ['term w WHERE term MATCH ? AND w.rowid', [words]];
  const seq = words === '' || status ? 'DISTINCT w.seq' : 'w.rowid';
  const sql = `SELECT ${seq} AS seq FROM ${from} BETWEEN ? AND ? ORDER BY seq DESC LIMIT ${rowsAtOnce}`;
  const [low, high] = bounds(db, query);
  // Some at a time, so that the store is not held while they are shown.
  for (let last = high; last >= low; ) {
    const seqs = db.values<number>(sql, [...values, low, last]);
    yield* seqs;
    last = seqs.length < rowsAtOnce ? -1 : (seqs.at(-1) ?? 0) - 1;
  }
}

/** Between which numbers the deliveries are that came in a time. */
function bounds(db: Db, { sinceMs, untilMs }: EventQuery): [low: number, high: number] {
  if (sinceMs === undefined && untilMs === undefined) return [0, maxSeq];
  const found = db.get<{ low: number | null; high: number | null }>(
    'SELECT min(seq) AS low, max(seq) AS high FROM delivery INDEXED BY delivery_seq WHERE at_ms BETWEEN ? AND ?',
    [sinceMs ?? 0, untilMs ?? Number.MAX_SAFE_INTEGER],
  );
  return [found?.low ?? maxSeq, found?.high ?? 0];
}

/** In the order of the ids. */
function seqsByIdStart(db: Db, start: string): Set<number> {
  const sql = `SELECT e.seq FROM json_each(?) j CROSS JOIN event e ON e.day = j.value AND e.id >= ? AND e.id <= ? ORDER BY e.id`;
  return new Set(db.values<number>(sql, [JSON.stringify(readDays(db)), start, `${start}\u{10ffff}`]));
}

function findSeqs(db: Db, ids: readonly string[]): Set<number> {
  const sql = `SELECT e.seq FROM json_each(?) j CROSS JOIN json_each(?) i CROSS JOIN event e ON e.day = j.value AND e.id = i.value`;
  return new Set(db.values<number>(sql, [JSON.stringify(readDays(db)), JSON.stringify(ids)]));
}

/** The days that have events, from one on, each found with one look. */
export function readDays(db: Db, from = 0): number[] {
  const days: number[] = [];
  const next = (after: number) => db.value<number>('SELECT min(day) FROM event WHERE day > ?', [after]);
  for (let day = next(from - 1); day !== undefined; day = next(day)) days.push(day);
  return days;
}

/** How many deliveries wait for a target. */
export function countWaiting(db: Db, targetId: number): number {
  return db.value<number>('SELECT count(*) FROM waiting WHERE target_id = ?', [targetId]) ?? 0;
}
