import { randomBytes, randomUUID } from 'node:crypto';
import { normalizeAddress } from '../../model/address.ts';
import type { Db } from '../db/store.ts';
import { Refusal, type SandboxCall } from '../http/service.ts';

/** A registered webhook as it is stored. */
export interface WebhookRow {
  id: number;
  uid: string;
  partnerId: string;
  destinationUrl: string;
  secret: string;
}

const columns = 'id, uid, partner_id AS partnerId, destination_url AS destinationUrl, secret';

/** The partner's webhooks, oldest first. */
export function listWebhooks(db: Db, partnerId: string): WebhookRow[] {
  return db.all<WebhookRow>(`SELECT ${columns} FROM webhook WHERE partner_id = ? ORDER BY id`, [partnerId]);
}

/** Every partner's webhooks, oldest first. */
export function allWebhooks(db: Db): WebhookRow[] {
  return db.all<WebhookRow>(`SELECT ${columns} FROM webhook ORDER BY id`);
}

/** How many deliveries of the sandbox wait for a try, or were given up after the last one. */
export function countDeliveries(db: Db, state: 'waiting' | 'failed'): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM delivery WHERE state = ?', [state])?.n ?? 0;
}

/** One webhook of the caller. Errors: Refusal 404. */
export function findWebhook({ db, partner }: SandboxCall, uid: string): WebhookRow {
  const row = db.get<WebhookRow>(`SELECT ${columns} FROM webhook WHERE uid = ? AND partner_id = ?`, [uid, partner.id]);
  if (row === undefined) throw new Refusal(404, `webhook ${uid} does not exist`);
  return row;
}

/** A new webhook with its first addresses, stored. Errors: Refusal 400 for a destination off this machine. */
export function addWebhook(
  { db, partner, nowMs }: SandboxCall,
  destinationUrl: string,
  addresses: readonly string[],
): WebhookRow {
  checkDestination(destinationUrl);
  const uid = randomUUID();
  const secret = `whsec_${randomBytes(32).toString('base64url')}`;
  return db.transaction(() => {
    const id = db.insert(
      'INSERT INTO webhook (uid, partner_id, destination_url, secret, at_ms) VALUES (?, ?, ?, ?, ?)',
      [uid, partner.id, destinationUrl, secret, nowMs],
    );
    subscribe(db, id, addresses);
    return { id, uid, partnerId: partner.id, destinationUrl, secret };
  });
}

/** Adds addresses to a webhook, those it has are left alone, and moves its destination where one is given. Errors as in addWebhook. */
export function changeWebhook(
  db: Db,
  webhook: WebhookRow,
  addresses: readonly string[],
  destinationUrl = webhook.destinationUrl,
): WebhookRow {
  if (destinationUrl !== webhook.destinationUrl) checkDestination(destinationUrl);
  return db.transaction(() => {
    subscribe(db, webhook.id, addresses);
    db.run('UPDATE webhook SET destination_url = ? WHERE id = ?', [destinationUrl, webhook.id]);
    return { ...webhook, destinationUrl };
  });
}

function subscribe(db: Db, id: number, addresses: readonly string[]): void {
  db.run('INSERT OR IGNORE INTO webhook_wallet (address, webhook_id) SELECT value, ? FROM json_each(?)', [
    id,
    JSON.stringify(addresses.map(normalizeAddress)),
  ]);
}

/** Drops a webhook with its addresses and whatever still waits to be delivered. */
export function dropWebhook(db: Db, id: number): void {
  db.transaction(() => {
    for (const table of ['webhook_wallet', 'event', 'delivery'])
      db.run(`DELETE FROM ${table} WHERE webhook_id = ?`, [id]);
    db.run('DELETE FROM webhook WHERE id = ?', [id]);
  });
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The sandbox sends nothing off this machine: section "Webhooks" of its promises. */
function checkDestination(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new Refusal(400, `destinationUrl ${JSON.stringify(text.slice(0, 200))}: must be an http or https address`);
  if (!loopback.test(url.hostname))
    throw new Refusal(
      400,
      `destinationUrl ${JSON.stringify(text.slice(0, 200))}: the sandbox delivers to this machine only (127.0.0.1, localhost)`,
    );
}
