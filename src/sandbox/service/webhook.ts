import { randomBytes, randomUUID } from 'node:crypto';
import { normalizeAddress } from '../../api/address.ts';
import { isHttpAddress, isLoopback } from '../../api/http-address.ts';
import type * as endpoints from '../../api/webhook.ts';
import { exampleEventId, signedHeader } from '../../api/webhook-signature.ts';
import type { Db } from '../db/store.ts';
import { eventParts, findEventSource, makeEvent } from '../deliver/events.ts';
import { type Handler, type SandboxCall, ServiceRefusal } from './handler.ts';

export interface WebhookRow {
  id: number;
  uid: string;
  partnerId: string;
  destinationUrl: string;
  secret: string;
}

const columns = 'id, uid, partner_id AS partnerId, destination_url AS destinationUrl, secret';

export function allWebhooks(db: Db): WebhookRow[] {
  return db.all<WebhookRow>(`SELECT ${columns} FROM webhook ORDER BY id`);
}

/** One webhook of the caller. Errors: ServiceRefusal 404. */
function findWebhook({ db, partner }: SandboxCall, uid: string): WebhookRow {
  const row = db.get<WebhookRow>(`SELECT ${columns} FROM webhook WHERE uid = ? AND partner_id = ?`, [uid, partner.id]);
  if (row === undefined) throw new ServiceRefusal(404, `webhook ${uid} does not exist`);
  return row;
}

/** POST /v1/webhooks/feed: a new webhook at every call; 400 for a destination that is not local. */
export const register: Handler<typeof endpoints.register> = ({ walletAddresses, destinationUrl }, call) => {
  const { db, partner, nowMs } = call;
  checkDestination(destinationUrl);
  const uid = randomUUID();
  const secret = `whsec_${randomBytes(32).toString('base64url')}`;
  db.transaction(() => {
    const id = db.insert(
      'INSERT INTO webhook (uid, partner_id, destination_url, secret, at_ms) VALUES (?, ?, ?, ?, ?)',
      [uid, partner.id, destinationUrl, secret, nowMs],
    );
    subscribe(db, id, walletAddresses);
  });
  return { destinationUrl, uid, secret };
};

/** GET /v1/webhooks/feed: oldest first, with `secret` as the interface's shape says. */
export const list: Handler<typeof endpoints.list> = (_, { db, partner }) =>
  allWebhooks(db).flatMap(({ partnerId, destinationUrl, uid, secret }) =>
    partnerId === partner.id ? [{ destinationUrl, uid, secret }] : [],
  );

/** PUT /v1/webhooks/feed/{uid}: set union; a given destination replaces the old one; 404 for an unknown uid. */
export const addAddresses: Handler<typeof endpoints.addAddresses> = (input, call) => {
  const { uid, walletAddresses, destinationUrl: newUrl } = input;
  const webhook = findWebhook(call, uid);
  const destinationUrl = newUrl ?? webhook.destinationUrl;
  if (destinationUrl !== webhook.destinationUrl) checkDestination(destinationUrl);
  call.db.transaction(() => {
    subscribe(call.db, webhook.id, walletAddresses);
    call.db.run('UPDATE webhook SET destination_url = ? WHERE id = ?', [destinationUrl, webhook.id]);
  });
  return { destinationUrl, uid };
};

/** DELETE /v1/webhooks/feed/{uid}: `{}`, and deletes its waiting deliveries; 404 for an unknown uid. */
export const remove: Handler<typeof endpoints.remove> = ({ uid }, call) => {
  const { db } = call;
  const { id } = findWebhook(call, uid);
  db.transaction(() => {
    for (const table of ['webhook_wallet', 'event']) db.run(`DELETE FROM ${table} WHERE webhook_id = ?`, [id]);
    db.run('DELETE FROM outbox WHERE target = ?', [id]);
    db.run('DELETE FROM webhook WHERE id = ?', [id]);
  });
  return {};
};

/**
 * POST /v1/webhooks/feed/{uid}/validate: an example event unsigned, which must not be answered 2xx, then signed, which must be; `error` says
 * which went wrong. Source: wire-facts 3.18.
 */
export const validate: Handler<typeof endpoints.validate> = async ({ uid }, call) => {
  const { destinationUrl, secret } = findWebhook(call, uid);
  const body = JSON.stringify({ events: [exampleEvent(call)] });
  const { sendDelivery } = await import('../deliver/deliver.ts');
  const unsigned = await sendDelivery(destinationUrl, body, undefined);
  const signed = await sendDelivery(destinationUrl, body, signedHeader(secret, body, Date.now()));
  const wrong = [
    ...(unsigned.ok ? [`the unsigned probe was answered ${unsigned.status} and must be refused`] : []),
    ...(signed.ok ? [] : [`the signed probe must be answered 2xx: ${signed.error}`]),
  ];
  return wrong.length === 0 ? { success: true } : { success: false, error: wrong.join('; ') };
};

/** A feed item of the newest buy in the world; in an empty world an item without a card. */
function exampleEvent({ db, partner, nowMs }: SandboxCall): Record<string, unknown> {
  const source = findEventSource(db, 'new-feed-item');
  const parts = source === undefined ? { reason: 'first-buy', feedItem: {} } : eventParts(db, source, partner, nowMs);
  const event = makeEvent('new-feed-item', parts, []);
  return { ...event, eventId: exampleEventId };
}

function subscribe(db: Db, id: number, addresses: readonly string[]): void {
  db.run('INSERT OR IGNORE INTO webhook_wallet (address, webhook_id) SELECT value, ? FROM json_each(?)', [
    id,
    JSON.stringify(addresses.map(normalizeAddress)),
  ]);
}

/** The sandbox delivers to local addresses only. Errors: ServiceRefusal 400. */
function checkDestination(text: string): void {
  const name = `destinationUrl ${JSON.stringify(text.slice(0, 200))}`;
  if (!isHttpAddress(text)) throw new ServiceRefusal(400, `${name}: must be an http or https address`);
  if (!isLoopback(new URL(text).hostname))
    throw new ServiceRefusal(
      400,
      `${name}: the sandbox delivers to local addresses only; use http://127.0.0.1:<port>/<path>, such as sotra webhook listen shows`,
    );
}
