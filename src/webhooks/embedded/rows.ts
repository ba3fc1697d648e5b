import { z } from 'zod';
import { isObject, tryParseJson } from '../../api/json.ts';
import { hideUrlSecrets } from '../../client/url-secrets.ts';
import { SotraError } from '../../errors.ts';
import { type Db, isDamage, type SqlValue } from '../../lib/files/database.ts';
import type { Forward, Retry } from '../../lib/forward.ts';
import { readAllEvents } from '../events.ts';
import type { StoredDelivery, Target } from '../inbox.ts';
import type { Store } from './store.ts';

/** A column with text as bytes, which `readRows` makes text: the driver ends the process where it is no UTF-8. */
export const text = (column: string, name: string) => `CAST(${column} AS BLOB) AS ${name}`;

/** Rows of a statement; bytes become text, but those of a `body`. */
export function readRows<Row>(db: Db, sql: string, values: readonly SqlValue[] = []): Row[] {
  const read = (key: string, value: SqlValue) =>
    typeof value === 'object' && value !== null && key !== 'body' ? Buffer.from(value).toString() : value;
  return db
    .all(sql, values)
    .map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, read(key, value)])) as Row);
}

interface DeliveryRow {
  atMs: number;
  webhook: string | null;
  eventIds: string;
  headers: string;
  body: Uint8Array;
}

const deliverySql = `SELECT CAST(d.at_ms AS INTEGER) AS atMs, ${text('w.name', 'webhook')}, ${text('d.event_ids', 'eventIds')},
  ${text('d.headers', 'headers')}, ${text('d.body', 'body')}
  FROM delivery d LEFT JOIN webhook w ON w.id = d.webhook_id WHERE d.seq = ?`;

/** A delivery; `undefined` where it is gone, or damaged, which is told. */
export function readDelivery(store: Store, seq: number): StoredDelivery | undefined {
  try {
    const [row] = readRows<DeliveryRow>(store.db, deliverySql, [seq]);
    if (row === undefined) return undefined;
    const delivery = parseDeliveryRow(seq, row);
    if (delivery !== undefined) return delivery;
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  store.onDamaged(`the store ${store.db.file} is damaged: delivery ${seq} cannot be read, and is left out`);
  return undefined;
}

function parseDeliveryRow(seq: number, row: DeliveryRow): StoredDelivery | undefined {
  const { webhook, atMs } = row;
  const [ids, headers] = [row.eventIds, row.headers].map((text) => texts.safeParse(tryParseJson(text)).data);
  if (webhook === null || ids === undefined || headers === undefined) return undefined;
  const [body, fresh] = [Buffer.from(row.body), new Set(ids)];
  const events = readAllEvents(body).filter(({ eventId }) => fresh.has(eventId));
  return events.length < fresh.size ? undefined : { seq, atMs, webhook, headers, body, events };
}

const texts = z.array(z.string());

export function readWebhooks(db: Db): { id: number; name: string }[] {
  return readRows(db, `SELECT id, ${text('name', 'name')} FROM webhook ORDER BY id`);
}

export interface StoredTarget extends Target {
  id: number;
}

/** What a target is sent, as the store holds it. */
export const writeRule = ({ eventType, where }: Target) => JSON.stringify({ eventType, where });

/** The targets `t` of the rest of a statement. */
export function readTargets(db: Db, from: string, values: readonly number[] = []): StoredTarget[] {
  const sql = `SELECT t.id, ${text('t.url', 'url')}, ${text('t.rule', 'rule')} FROM ${from}`;
  return readRows<{ id: number; url: string; rule: string }>(db, sql, values).map(({ id, url, rule }) => {
    const read = tryParseJson(rule);
    return { ...(isObject(read) && read), id, url };
  });
}

export function findTarget({ db }: Store, target: Target): number {
  const place = [hideUrlSecrets(target.url), writeRule(target)];
  const id = db.value<number>('SELECT id FROM target WHERE url = ? AND rule = ?', place);
  if (id === undefined) throw new SotraError('internal', `${place[0]} was not added to the targets`);
  return id;
}

/** How a delivery ended at its targets. */
export function readForwards(db: Db, seq: number): Forward[] {
  return readRows(
    db,
    `SELECT ${text('t.url', 'url')}, ${text('f.outcome', 'outcome')}, f.status, f.ms, f.tries, ${text('f.error', 'error')}, f.at_ms AS atMs
     FROM forward f JOIN target t ON t.id = f.target_id WHERE f.seq = ? ORDER BY f.at_ms, t.id`,
    [seq],
  );
}

export function readRetries(db: Db): Retry[] {
  return readRows<Pick<Retry, 'url' | 'webhook' | 'seq' | 'arrivedMs'> & { failed?: string }>(
    db,
    `SELECT ${text('t.url', 'url')}, ${text('w.name', 'webhook')}, r.seq, d.at_ms AS arrivedMs, ${text('r.failed_try', 'failed')}
     FROM retry r JOIN target t ON t.id = r.target_id JOIN webhook w ON w.id = r.webhook_id JOIN delivery d ON d.seq = r.seq
     ORDER BY t.id, w.id`,
  ).flatMap(({ failed = '', ...row }) => {
    const read = tryParseJson(failed);
    return isObject(read) ? [{ ...(read as unknown as Retry), ...row }] : [];
  });
}
