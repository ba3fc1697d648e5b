import { setMaxListeners } from 'node:events';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { messageOf } from '../../../errors.ts';
import { openLog, readLog } from '../../../files/log-file.ts';
import { withoutPassword } from '../../../model/quoted.ts';
import { signatureHeader } from '../../../model/webhook-signature.ts';
import { isTaken, postDelivery } from '../../../sandbox/deliver/post.ts';
import type { Delivery, Entry, Inbox } from './inbox.ts';

/** Where deliveries are forwarded to: all, or those of one type. */
export interface Route {
  url: string;
  eventType?: string;
}

interface ForwarderOptions {
  inbox: Inbox;
  routes: readonly Route[];
  /** How often a delivery is sent again before it is skipped; `undefined`: until it is accepted. */
  retries: number | undefined;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  now: () => number;
  note: (text: string) => void;
  warn: (text: string) => void;
  onDiskError: (error: unknown) => void;
}

/** The last delivery of a lane that a route has behind it. */
interface Checkpoint {
  url: string;
  lane: string;
  seq: number;
}

const firstWaitMs = 10;
const maxWaitMs = 30_000;
/** Refusals (4xx) after which a delivery is skipped, so that it does not hold up the others. */
const maxRefusals = 10;
const forwardMs = 30_000;
const diskWaitMs = 1000;
const everyLane = '*';

/**
 * Forwards stored deliveries at least once, in order per webhook and route. The next start continues; a new route starts with the next
 * delivery.
 */
export function startForwarder(options: ForwarderOptions) {
  const { inbox, routes, retries = Number.POSITIVE_INFINITY, sleep, now, note, warn } = options;
  const file = join(inbox.folder, 'forwarded.ndjson');
  const reached = new Map<string, number>();
  for (const { url, lane, seq } of readLog<Checkpoint>(file)) reached.set(keyOf(url, lane), seq);
  const log = openLog(file);
  const save = (checkpoint: Checkpoint) => {
    log.append(checkpoint);
    reached.set(keyOf(checkpoint.url, checkpoint.lane), checkpoint.seq);
  };
  const stopping = new AbortController();
  // One listener for each webhook and route.
  setMaxListeners(0, stopping.signal);
  const agent = new Agent({ keepAlive: true });
  const queues = new Map<string, Entry[]>();
  const workers = new Set<Promise<void>>();
  const wait = (ms: number) => sleep(ms, stopping.signal).catch(() => undefined);

  /** Whether the lane may go on to its next delivery. */
  const sendEntry = async (entry: Entry, route: Route): Promise<boolean> => {
    const name = withoutPassword(route.url);
    const event = eventNames(entry.eventIds);
    const skip = (why: string) => {
      warn(`${name}: ${event} ${why}: skipped; sotra webhook replay sends it again`);
      return true;
    };
    let delivery: Delivery;
    try {
      delivery = inbox.read(entry);
    } catch (error) {
      return skip(`cannot be read (${messageOf(error)})`);
    }
    let refusals = 0;
    for (let tries = 1; !stopping.signal.aborted; tries += 1) {
      const sentMs = now();
      const outcome = await forward(route.url, delivery, { answerMs: forwardMs, agent, signal: stopping.signal });
      const line = `-> ${outcome.status || outcome.error} in ${now() - sentMs} ms ${name} ${event}`;
      if (outcome.ok) {
        note(line);
        return true;
      }
      if (stopping.signal.aborted) return false;
      if (outcome.unsendable) return skip(`cannot be sent (${outcome.error})`);
      if (tries > retries) return skip(`was not accepted (${outcome.error})`);
      if (tries === 1 || tries % 50 === 0) warn(`${line}; it is sent again until it is accepted`);
      if (outcome.status >= 400 && outcome.status < 500 && ![408, 425, 429].includes(outcome.status)) refusals += 1;
      if (refusals >= maxRefusals) return skip(`is refused (${outcome.error})`);
      await wait(Math.min(maxWaitMs, firstWaitMs * 2 ** Math.min(tries - 1, 12)));
    }
    return false;
  };
  /** On a full disk the lane waits: without its checkpoint a delivery would be sent twice after a restart. */
  const saveReached = async (checkpoint: Checkpoint): Promise<void> => {
    for (;;)
      try {
        return save(checkpoint);
      } catch (error) {
        options.onDiskError(error);
        if (stopping.signal.aborted) return;
        await wait(diskWaitMs);
      }
  };
  const work = async (entries: Entry[], lane: string, route: Route): Promise<void> => {
    for (let next = entries[0]; next !== undefined; next = entries[0]) {
      if (!(await sendEntry(next, route))) return;
      await saveReached({ url: route.url, lane, seq: next.seq });
      entries.shift();
    }
    queues.delete(queueKey(lane, route));
  };
  const queue = (entry: Entry): void => {
    for (const route of routes) {
      const { url, eventType } = route;
      if (eventType !== undefined && !entry.eventTypes.includes(eventType)) continue;
      const lastSeq = Math.max(reached.get(keyOf(url, everyLane)) ?? 0, reached.get(keyOf(url, entry.lane)) ?? 0);
      if (entry.seq <= lastSeq) continue;
      const key = queueKey(entry.lane, route);
      const known = queues.get(key);
      if (known !== undefined) {
        known.push(entry);
        continue;
      }
      const entries = [entry];
      queues.set(key, entries);
      const worker: Promise<void> = work(entries, entry.lane, route)
        .catch((error) => warn(`${withoutPassword(url)}: ${error}; the next start forwards what waits`))
        .finally(() => workers.delete(worker));
      workers.add(worker);
    }
  };
  for (const { url } of routes)
    if (!reached.has(keyOf(url, everyLane))) save({ url, lane: everyLane, seq: inbox.newest });
  if (routes.length > 0) for (const entry of inbox.entries()) queue(entry);
  return {
    queue,
    waiting: () => [...queues.values()].reduce((sum, entries) => sum + entries.length, 0),
    stop: async () => {
      stopping.abort();
      await Promise.allSettled(workers);
      agent.destroy();
      log.close();
    },
  };
}

function eventNames(ids: readonly string[]): string {
  const more = ids.length > 3 ? ` and ${ids.length - 3} more` : '';
  return `event ${ids.slice(0, 3).join(', ')}${more}`;
}

const keyOf = (url: string, lane: string) => `${url} ${lane}`;
const queueKey = (lane: string, { url, eventType = '' }: Route) => `${url} ${eventType} ${lane}`;

/** Headers of a connection, not of the delivery (RFC 9110 7.6.1), and those that a new request sets itself. */
const connectionHeaders = [
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'host', 'content-length', 'expect'],
];

/** The headers to forward, names and values in turn: without those of the connection and those that its `Connection` names. */
export function forwardedHeaders(headers: readonly string[]): string[] {
  const pairs = Array.from({ length: headers.length >> 1 }, (_, pair) => {
    const [name = '', value = ''] = headers.slice(2 * pair, 2 * pair + 2);
    return { key: name.toLowerCase(), name, value };
  });
  const named = pairs.filter(({ key }) => key === 'connection').flatMap(({ value }) => value.toLowerCase().split(','));
  const dropped = new Set([...connectionHeaders, ...named.map((each) => each.trim())]);
  // Without its signature every receiver would refuse it.
  dropped.delete(signatureHeader);
  return pairs.flatMap(({ key, name, value }) => (dropped.has(key) ? [] : [name, value]));
}

export interface Outcome {
  ok: boolean;
  /** 0 where there was no answer. */
  status: number;
  error: string;
  late: boolean;
  /** No request can carry it. */
  unsendable?: boolean;
}

/** Sends one delivery, bytes and headers as they came. */
export async function forward(
  url: string,
  { headers, body }: Delivery,
  { answerMs, agent, signal }: { answerMs: number; agent?: Agent; signal?: AbortSignal },
): Promise<Outcome> {
  const posted = await postDelivery(url, { headers: forwardedHeaders(headers), body, answerMs, agent, signal });
  if ('error' in posted) {
    const { error, late, unsendable } = posted;
    return { ok: false, status: 0, error: error.message || 'the connection broke', late, unsendable };
  }
  const { status } = posted;
  return { ok: isTaken(status), status, error: `HTTP ${status}`, late: false };
}
