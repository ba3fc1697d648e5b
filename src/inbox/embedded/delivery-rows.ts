import type { Db } from '../../files/database.ts';
import { tryParseJson } from '../../model/json.ts';
import { allEventsOf } from '../events.ts';
import type { StoredDelivery } from '../inbox.ts';
import { damagedStore } from './store.ts';

interface DeliveryRow {
  seq: number;
  atMs: number;
  webhookId: number;
  webhook: string;
  eventIds: string;
  headers: string;
  body: Uint8Array;
}

const deliveryColumns = `d.seq, d.at_ms AS atMs, d.webhook_id AS webhookId, w.name AS webhook, d.event_ids AS eventIds, d.headers, d.body
  FROM delivery d JOIN webhook w ON w.id = d.webhook_id`;

export function readDelivery(db: Db, seq: number): StoredDelivery | undefined {
  const row = db.get<DeliveryRow>(`SELECT ${deliveryColumns} WHERE d.seq = ?`, [seq]);
  return row && deliveryOf(db, row);
}

/** The next delivery of a webhook, whatever its events are. */
export function nextDelivery(db: Db, webhookId: number, after: number): StoredDelivery | undefined {
  const row = db.get<DeliveryRow>(
    `SELECT ${deliveryColumns} WHERE d.seq = (SELECT min(seq) FROM delivery WHERE webhook_id = ? AND seq > ?)`,
    [webhookId, after],
  );
  return row && deliveryOf(db, row);
}

/** Errors: `local-file` for a damaged row. */
function deliveryOf(db: Db, { seq, atMs, webhook, eventIds, headers, body }: DeliveryRow): StoredDelivery {
  const [ids, names] = [tryParseJson(eventIds), tryParseJson(headers)];
  if (!areTexts(ids) || !areTexts(names)) throw damagedStore(db.file, `delivery ${seq} cannot be read`);
  const bytes = Buffer.from(body);
  const fresh = new Set(ids);
  const events = allEventsOf(bytes).filter(({ eventId }) => fresh.has(eventId));
  return { seq, atMs, webhook, headers: names, body: bytes, events };
}

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
