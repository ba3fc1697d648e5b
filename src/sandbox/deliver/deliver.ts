import { setMaxListeners } from 'node:events';
import { Agent } from 'node:http';
import { signatureHeader } from '../../api/signature-header.ts';
import { signedHeader } from '../../api/webhook-signature.ts';
import { computeBackoff, policies } from '../../client/retry.ts';
import { hideUrlSecrets } from '../../client/url-secrets.ts';
import { readMessage } from '../../errors.ts';
import { type DeliveryRequest, type PostOutcome, postDelivery } from '../../lib/post-delivery.ts';
import { countRows, type Db, type SqlValue, whenFree } from '../db/store.ts';

export const maxAnswerMs = 10_000;
/** So long a delivery is its process's own: more than an answer may take. */
const claimMs = 15_000;
const pollMs = 100;
const maxLanes = 32;
/** What is on its way when a deliverer stops has so long to be answered; what is not is sent again later. */
const graceMs = 1000;

/** Times are real, also where the sandbox's clock is frozen. */
interface DelivererOptions {
  db: Db;
  now: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  warn?: (text: string) => void;
  answerMs?: number;
}

export interface Deliverer {
  /** Resolves when nothing is due now, or at the signal; what waits for a later try may remain. */
  settled: (signal?: AbortSignal) => Promise<void>;
  /** Resolves within about a second: what is not answered by then counts as not tried. */
  stop: () => Promise<void>;
}

/**
 * Delivers what is stored, also by other processes: in order per webhook, at least once, up to five tries. What a process that died was
 * sending is sent again once its claim is over.
 */
export function startDeliverer(options: DelivererOptions): Deliverer {
  const { db, now, sleep } = options;
  const [stopping, cutting] = [new AbortController(), new AbortController()];
  setMaxListeners(maxLanes, cutting.signal);
  const agent = new Agent({ keepAlive: true });
  const lanes = new Map<number, Promise<void>>();
  // A statement alone that meets another process's write stays open, and with it what it has read: no other statement could write then.
  const write = (sql: string, params: SqlValue[]) =>
    whenFree(
      () => db.transaction(() => db.run(sql, params)),
      (ms) => sleep(ms, cutting.signal),
    );
  const runLane = async (id: number): Promise<void> => {
    while (!stopping.signal.aborted) {
      const next = nextDelivery(db, id, now());
      if (next === undefined) return;
      const claim = [now() + claimMs, next.seq, now()];
      if ((await write(claimSql, claim)) === 0) return;
      await deliver(next, options, { agent, signal: cutting.signal, write });
    }
  };
  let isReported = false;
  const report = (error: unknown): void => {
    if (!isReported && !cutting.signal.aborted) options.warn?.(`deliveries stop for now: ${readMessage(error)}`);
    isReported = true;
  };
  const startLanes = (): void => {
    for (const id of dueWebhooks(db, now())) {
      if (lanes.has(id) || lanes.size >= maxLanes) continue;
      const lane = runLane(id)
        .catch(report)
        .finally(() => lanes.delete(id));
      lanes.set(id, lane);
    }
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        startLanes();
      } catch (error) {
        report(error);
      }
      await sleep(pollMs, stopping.signal).catch(() => undefined);
    }
    await Promise.allSettled(lanes.values());
  };
  const running = run();
  return {
    settled: async (signal = stopping.signal) => {
      while (!signal.aborted && (lanes.size > 0 || dueWebhooks(db, now()).length > 0)) {
        startLanes();
        await sleep(10, signal).catch(() => undefined);
      }
    },
    stop: async () => {
      stopping.abort();
      await Promise.race([running, sleep(graceMs, cutting.signal).catch(() => undefined)]);
      cutting.abort();
      await running;
      agent.destroy();
    },
  };
}

const claimSql =
  "UPDATE delivery SET claimed_until_real_ms = ? WHERE seq = ? AND state = 'waiting' AND claimed_until_real_ms < ?";

export function countDeliveries(db: Db, state: 'waiting' | 'failed'): number {
  return countRows(db, 'delivery WHERE state = ?', [state]);
}

function dueWebhooks(db: Db, nowMs: number): number[] {
  return db.values(
    `SELECT d.webhook_id FROM delivery d
     WHERE d.seq IN (SELECT min(seq) FROM delivery WHERE state = 'waiting' GROUP BY webhook_id) AND d.due_real_ms <= ?`,
    [nowMs],
  );
}

interface DueDelivery {
  seq: number;
  webhookId: number;
  eventId: string;
  tries: number;
  dueMs: number;
  body: string;
  destinationUrl: string;
  secret: string;
}

/** The oldest waiting delivery of a webhook, where it is due: none overtakes it. */
function nextDelivery(db: Db, webhookId: number, nowMs: number): DueDelivery | undefined {
  const next = db.get<DueDelivery>(
    `SELECT d.seq, d.webhook_id AS webhookId, d.event_id AS eventId, d.tries, d.due_real_ms AS dueMs, e.body, w.destination_url AS destinationUrl, w.secret
     FROM delivery d JOIN event e ON e.id = d.event_id JOIN webhook w ON w.id = d.webhook_id
     WHERE d.webhook_id = ? AND d.state = 'waiting' ORDER BY d.seq LIMIT 1`,
    [webhookId],
  );
  return next !== undefined && next.dueMs <= nowMs ? next : undefined;
}

async function deliver(
  next: DueDelivery,
  { db, now, warn, answerMs }: DelivererOptions,
  {
    agent,
    signal,
    write,
  }: { agent: Agent; signal: AbortSignal; write: (sql: string, params: SqlValue[]) => Promise<number> },
): Promise<void> {
  const body = `{"events":[${next.body}]}`;
  const signed = signedHeader(next.secret, body, now());
  const outcome = await sendDelivery(next.destinationUrl, body, signed, { agent, signal, answerMs });
  // Whether it arrived is not known: it is as if it had not been tried.
  if (signal.aborted && outcome.status === null)
    return void db.run('UPDATE delivery SET claimed_until_real_ms = 0 WHERE seq = ?', [next.seq]);
  const tries = next.tries + 1;
  const { retries } = policies.deliver;
  const waitMs = outcome.ok || tries > retries ? undefined : computeBackoff(policies.deliver, tries);
  const ended = outcome.ok ? 'delivered' : 'failed';
  const state = waitMs === undefined ? ended : 'waiting';
  const dueMs = waitMs === undefined ? next.dueMs : now() + waitMs;
  await write(
    'UPDATE delivery SET state = ?, tries = ?, due_real_ms = ?, status = ?, error = ?, claimed_until_real_ms = 0 WHERE seq = ?',
    [state, tries, dueMs, outcome.status, outcome.error, next.seq],
  );
  const name = `${hideUrlSecrets(next.destinationUrl)} did not accept event ${next.eventId}`;
  if (state === 'failed') warn?.(`${name} in ${tries} tries (${outcome.error}): given up`);
  else if (state === 'waiting' && tries === 1) warn?.(`${name} (${outcome.error}): sent again up to ${retries} times`);
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
