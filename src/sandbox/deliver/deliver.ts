import { Agent } from 'node:http';
import { signatureHeader } from '../../api/signature-header.ts';
import { signedHeader } from '../../api/webhook-signature.ts';
import { computeBackoff, policies } from '../../client/retry.ts';
import { hideUrlSecrets } from '../../client/secrets.ts';
import { readMessage } from '../../errors.ts';
import { type Outbox, startOutbox, stopOutbox } from '../../lib/outbox.ts';
import { type DeliveryRequest, type PostOutcome, postDelivery } from '../../lib/post-delivery.ts';
import { countRows, type Db } from '../db/store.ts';

export const maxAnswerMs = 10_000;
/** Longer than an answer may take. */
const leaseMs = 15_000;

/** Times are real, also if the sandbox's clock is frozen. */
interface DelivererOptions {
  db: Db;
  now: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  warn?: (text: string) => void;
  answerMs?: number;
}

interface Deliverer {
  outbox: Outbox;
  agent: Agent;
}

/** Delivers the events that are stored, also by other processes: in order per webhook, at least once, in up to five tries. */
export function startDeliverer({ db, now, sleep, warn = () => undefined, answerMs }: DelivererOptions): Deliverer {
  const agent = new Agent({ keepAlive: true });
  const { retries } = policies.deliver;
  let isReported = false;
  const outbox = startOutbox({
    db,
    now,
    sleep,
    leaseMs,
    commit: async (change) => db.transaction(change),
    post: async ({ item }, signal) => {
      const { body, secret, url } = readEvent(db, item);
      return sendDelivery(url, body, signedHeader(secret, body, now()), { agent, signal, answerMs });
    },
    policy: ({ tries }) => (tries > retries ? undefined : computeBackoff(policies.deliver, tries)),
    onTry: ({ row, outcome: { ok, error }, tries }, waitMs) => {
      if (ok || (waitMs !== undefined && tries > 1)) return;
      const { id, url } = readEvent(db, row.item);
      const what = `${hideUrlSecrets(url)} did not accept event ${id}`;
      if (waitMs === undefined) warn(`${what} in ${tries} tries (${error}): given up`);
      else warn(`${what} (${error}): sent again up to ${retries} times`);
    },
    onError: (error) => {
      if (!isReported) warn(`deliveries are paused: ${readMessage(error)}`);
      isReported = true;
    },
  });
  return { outbox, agent };
}

export async function stopDeliverer({ outbox, agent }: Deliverer): Promise<void> {
  await stopOutbox(outbox);
  agent.destroy();
}

/** Errors: if its webhook was deleted. */
function readEvent(db: Db, seq: number): { id: string; body: string; url: string; secret: string } {
  const found = db.get<{ id: string; event: string; url: string; secret: string }>(
    `SELECT e.id, e.body AS event, w.destination_url AS url, w.secret FROM event e JOIN webhook w ON w.id = e.webhook_id WHERE e.seq = ?`,
    [seq],
  );
  if (found === undefined) throw new Error('its webhook was deleted');
  return { ...found, body: deliveryBody(found.event) };
}

/** The body of a delivery of one event, which is given as JSON text. */
export function deliveryBody(event: string): string {
  return `{"events":[${event}]}`;
}

export function countDeliveries(db: Db, state: 'waiting' | 'failed'): number {
  return countRows(db, 'outbox WHERE state = ?', [state]);
}

/** Names and values of the headers of a delivery in turn, signed or not. */
export function deliveryHeaders(signed: string | undefined): string[] {
  const common = ['content-type', 'application/json', 'user-agent', 'sotra-sandbox'];
  return signed === undefined ? common : [...common, signatureHeader, signed];
}

/** Sends one delivery, whose answer may take 10 s unless `answerMs` says otherwise. What went wrong is in `error`. */
export async function sendDelivery(
  url: string,
  body: string,
  signed: string | undefined,
  {
    answerMs = maxAnswerMs,
    ...how
  }: Pick<DeliveryRequest, 'agent' | 'signal' | 'pause'> & { answerMs?: number | undefined } = {},
): Promise<PostOutcome> {
  return postDelivery(url, { headers: deliveryHeaders(signed), body, answerMs, ...how });
}
