import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { isObject, tryParseJson } from '../../api/json.ts';
import { hideUrlSecrets } from '../../client/secrets.ts';
import type { Db, SqlValue } from '../../lib/files/database.ts';
import { addToOutbox } from '../../lib/outbox.ts';
import { collectNames, type EventSummary, readAllEvents } from '../events.ts';
import {
  askedEvents,
  type Delivery,
  type DeliveryQuery,
  type EventQuery,
  type EventStatus,
  type Forward,
  type Retry,
  type StoredDelivery,
  type StoredEvent,
  stripSecret,
  type Target,
  targetMs,
} from '../inbox.ts';
import { isFor } from '../route.ts';
import { blockOf, blockSize, damaged } from './store.ts';

/** What a delivery can be found by. */
interface Facet {
  kind: 'type' | 'wallet' | 'token' | 'path';
  value: string;
}

/**
 * Stores a delivery with its new events, its facets and a row of the outbox for each target; `undefined` if all events are repeats. To be
 * called in a transaction.
 */
export function addDelivery(
  db: Db,
  { delivery, events, repeatsMs }: { delivery: Delivery; events: readonly EventSummary[]; repeatsMs: number },
): StoredDelivery | undefined {
  const { webhook, atMs, headers, body } = delivery;
  const seq = newestSeq(db) + 1;
  const fresh = events.filter(
    ({ eventId }) =>
      db.run(
        `INSERT INTO event (id, seq, at_ms) VALUES (?, ?, ?) ON CONFLICT (id)
         DO UPDATE SET seq = excluded.seq, at_ms = excluded.at_ms WHERE event.at_ms < excluded.at_ms - ?`,
        [eventId, seq, atMs, repeatsMs],
      ) > 0,
  );
  if (fresh.length === 0) return undefined;
  const ids = JSON.stringify(fresh.map(({ eventId }) => eventId));
  const row = [seq, atMs, webhook, ids, JSON.stringify(headers), body];
  db.run('INSERT INTO delivery (seq, at_ms, webhook, event_ids, headers, body) VALUES (?, ?, ?, ?, ?, ?)', row);
  const addFacet = 'INSERT OR IGNORE INTO facet (block, kind, value, seq) VALUES (?, ?, ?, ?)';
  for (const { kind, value } of facetsOf(webhook, fresh)) db.run(addFacet, [blockOf(seq), kind, value, seq]);
  const targets = readTargets(db, atMs - targetMs).filter((target) => fresh.some((event) => isFor(target, event)));
  const numbers = targets.map(({ id }) => id);
  addToOutbox(db, { item: seq, queue: webhook }, numbers);
  return { ...delivery, seq, events: fresh, isWaiting: targets.length > 0 };
}

function* facetsOf(webhook: string, events: readonly EventSummary[]): Generator<Facet> {
  yield { kind: 'path', value: stripSecret(webhook) };
  for (const { event, eventType } of events) {
    yield { kind: 'type', value: eventType };
    const { addresses, tokens } = collectNames(event);
    for (const value of addresses) yield { kind: 'wallet', value };
    for (const value of tokens) yield { kind: 'token', value };
  }
}

export function newestSeq(db: Db): number {
  return db.value<number>('SELECT max(seq) FROM delivery') ?? 0;
}

interface DeliveryRow {
  atMs: number;
  webhook: string;
  eventIds: string;
  headers: string;
  body: Uint8Array;
}

/** A column with text as bytes, which `readRows` makes text: libsql ends the process for text that is not UTF-8. */
const text = (column: string, name: string) => `CAST(${column} AS BLOB) AS ${name}`;

/** Rows of a statement; bytes become text, except a `body`. */
function readRows<Row>(db: Db, sql: string, values: readonly SqlValue[] = []): Row[] {
  const read = (key: string, value: SqlValue) =>
    typeof value === 'object' && value !== null && key !== 'body' ? Buffer.from(value).toString() : value;
  return db
    .all(sql, values)
    .map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, read(key, value)])) as Row);
}

const texts = z.array(z.string());

/** A delivery; `undefined` if it was removed. Errors: `local-file` if it is damaged. */
export function readDelivery(db: Db, seq: number): StoredDelivery | undefined {
  const [row] = readRows<DeliveryRow>(
    db,
    `SELECT CAST(at_ms AS INTEGER) AS atMs, ${text('webhook', 'webhook')}, ${text('event_ids', 'eventIds')},
       ${text('headers', 'headers')}, ${text('body', 'body')} FROM delivery WHERE seq = ?`,
    [seq],
  );
  if (row === undefined) return undefined;
  const { webhook, atMs } = row;
  const [ids, headers] = [row.eventIds, row.headers].map((json) => texts.safeParse(tryParseJson(json)).data);
  if (ids === undefined || headers === undefined) throw damaged(db.file, `delivery ${seq} cannot be read`);
  const [body, fresh] = [Buffer.from(row.body), new Set(ids)];
  const events = readAllEvents(body).filter(({ eventId }) => fresh.has(eventId));
  return { seq, atMs, webhook, headers, body, events };
}

/** Adds targets, or marks them as used; returns the new ones. */
export function addTargets(db: Db, targets: readonly Target[], nowMs: number): Target[] {
  return targets.filter((target) => {
    const place = [hideUrlSecrets(target.url), writeRule(target)];
    if (db.run('UPDATE target SET used_ms = ? WHERE url = ? AND rule = ?', [nowMs, ...place]) > 0) return false;
    db.run('INSERT INTO target (url, rule, used_ms) VALUES (?, ?, ?)', [...place, nowMs]);
    return true;
  });
}

/** Which events a target is sent, as a column of the store. */
const writeRule = ({ eventType, where }: Target) => JSON.stringify({ eventType, where });

/** The targets that were used since a time. */
function readTargets(db: Db, sinceMs: number): (Target & { id: number })[] {
  const sql = `SELECT id, ${text('url', 'url')}, ${text('rule', 'rule')} FROM target WHERE used_ms > ?`;
  return readRows<{ id: number; url: string; rule: string }>(db, sql, [sinceMs]).map(({ id, url, rule }) => {
    const read = tryParseJson(rule);
    return { ...(isObject(read) && read), id, url };
  });
}

/** The numbers of targets that were added. */
export function targetIds(db: Db, targets: readonly Target[]): Map<number, Target> {
  const sql = 'SELECT id FROM target WHERE url = ? AND rule = ?';
  return new Map(
    targets.flatMap((target) => {
      const id = db.value<number>(sql, [hideUrlSecrets(target.url), writeRule(target)]);
      return id === undefined ? [] : [[id, target] as const];
    }),
  );
}

/** Removes the waiting rows of targets that were not used since a time. */
export function forgetTargets(db: Db, sinceMs: number): void {
  const sql = "DELETE FROM outbox WHERE state = 'waiting' AND target IN (SELECT id FROM target WHERE used_ms <= ?)";
  db.run(sql, [sinceMs]);
}

/** How a delivery ended at its targets, and its status so far. */
function readForwards(db: Db, seq: number): { forwards: Forward[]; status: EventStatus | null } {
  const rows = readRows<Omit<Forward, 'outcome'> & { state: string }>(
    db,
    `SELECT ${text('t.url', 'url')}, ${text('o.state', 'state')}, o.status, o.ms, o.tries, ${text('o.error', 'error')}, o.at_ms AS atMs
     FROM outbox o JOIN target t ON t.id = o.target WHERE o.item = ? ORDER BY o.at_ms, t.id`,
    [seq],
  );
  const forwards = rows.flatMap(({ state, ...row }) =>
    state === 'waiting' ? [] : [{ ...row, outcome: state === 'failed' ? ('failed' as const) : ('forwarded' as const) }],
  );
  const isFailed = forwards.some(({ outcome }) => outcome === 'failed');
  const ended = forwards.length < rows.length ? 'waiting' : forwards.length > 0 ? 'forwarded' : null;
  return { forwards, status: isFailed ? 'failed' : ended };
}

export function readRetries(db: Db): Retry[] {
  return readRows(
    db,
    `SELECT ${text('t.url', 'url')}, ${text('o.queue', 'webhook')}, o.item AS seq, d.at_ms AS arrivedMs, o.status,
       ${text('o.error', 'error')}, o.tries, o.at_ms AS atMs, o.due_ms AS nextMs
     FROM outbox o JOIN target t ON t.id = o.target JOIN delivery d ON d.seq = o.item
     WHERE o.state = 'waiting' AND o.tries > 0 ORDER BY o.target, o.queue`,
  );
}

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
  const { forwards, status } = readForwards(db, seq);
  if (query.status !== undefined && status !== query.status) return [];
  return asked.map((event) => ({ ...event, delivery, status, forwards }));
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
