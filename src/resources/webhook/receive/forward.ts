import { setMaxListeners } from 'node:events';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { openLog, readLog } from '../../../files/log-file.ts';
import { withoutPassword } from '../../../model/quoted.ts';
import { signatureHeader } from '../../../model/webhook-signature.ts';
import { isTaken, postDelivery } from '../../../sandbox/social/post.ts';
import type { Entry, Inbox, Received } from './inbox.ts';

/** Where deliveries go on to: those of a type, or all. */
export interface Route {
  url: string;
  eventType?: string;
}

export interface Forwarder {
  /** Queues a stored delivery for every route that wants it. */
  queue: (entry: Entry) => void;
  /** Deliveries that have not reached a route yet. */
  waiting: () => number;
  stop: () => Promise<void>;
}

export interface Forwarding {
  inbox: Inbox;
  routes: readonly Route[];
  /** How often a delivery is sent again before it is left behind; `undefined`: until it is taken. */
  retries: number | undefined;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  now: () => number;
  note: (text: string) => void;
  warn: (text: string) => void;
  /** Told when how far it came cannot be stored. */
  onDiskError: (error: unknown) => void;
}

/** How far a route has come with one webhook's deliveries: it takes them in order. */
interface Mark {
  url: string;
  lane: string;
  seq: number;
}

const firstWaitMs = 10;
const longestWaitMs = 30_000;
/** Refusals (4xx) of one delivery after which it is left behind, so that it does not hold up all others; `replay` sends it again. */
const maxRefusals = 10;
const forwardMs = 30_000;
const markWaitMs = 1000;
const everyLane = '*';

/**
 * Sends stored deliveries on, bytes and headers unchanged: at least once, in order per webhook and route, with retries for as long as it
 * runs. How far it came is on disk: what waits at the end goes on at the next start. A route that is new starts with what comes from now on.
 */
export function startForwarder(options: Forwarding): Forwarder {
  const { inbox, routes, retries = Number.POSITIVE_INFINITY, sleep, now, note, warn } = options;
  const file = join(inbox.folder, 'forwarded.ndjson');
  const marks = new Map<string, number>();
  for (const mark of readLog<Mark>(file)) marks.set(keyOf(mark.url, mark.lane), mark.seq);
  const log = openLog(file);
  const mark = (reached: Mark) => {
    log.append(reached);
    marks.set(keyOf(reached.url, reached.lane), reached.seq);
  };
  const stopping = new AbortController();
  // One listener for each webhook and route whose delivery is on its way or waits.
  setMaxListeners(0, stopping.signal);
  const agent = new Agent({ keepAlive: true });
  const queues = new Map<string, Entry[]>();
  const workers = new Set<Promise<void>>();
  const wait = (ms: number) => sleep(ms, stopping.signal).catch(() => undefined);

  const sendOn = async (entry: Entry, route: Route): Promise<boolean> => {
    const name = withoutPassword(route.url);
    const event = eventNames(entry.eventIds);
    const leaveBehind = (why: string) => {
      warn(`${name}: ${event} ${why}: left behind; sotra webhook replay sends it again`);
      return true;
    };
    const received = readOr(inbox, entry);
    if (received instanceof Error) return leaveBehind(`cannot be read (${received.message})`);
    let refusals = 0;
    for (let tries = 1; !stopping.signal.aborted; tries += 1) {
      const sentMs = now();
      const outcome = await forward(route.url, received, { answerMs: forwardMs, agent, signal: stopping.signal });
      const line = `-> ${outcome.status || outcome.error} in ${now() - sentMs} ms ${name} ${event}`;
      if (outcome.ok) {
        note(line);
        return true;
      }
      if (stopping.signal.aborted) return false;
      if (outcome.unsendable) return leaveBehind(`cannot be sent (${outcome.error})`);
      if (tries > retries) return leaveBehind(`was not taken (${outcome.error})`);
      if (tries === 1 || tries % 50 === 0) warn(`${line}; it is sent again until it is taken`);
      if (outcome.status >= 400 && outcome.status < 500 && ![408, 425, 429].includes(outcome.status)) refusals += 1;
      if (refusals >= maxRefusals) return leaveBehind(`is refused (${outcome.error})`);
      await wait(Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(tries - 1, 12)));
    }
    return false;
  };
  /** On a full disk the lane waits: what is sent on without a mark would be sent twice after a restart. */
  const markReached = async (reached: Mark): Promise<void> => {
    for (;;)
      try {
        return mark(reached);
      } catch (error) {
        options.onDiskError(error);
        if (stopping.signal.aborted) return;
        await wait(markWaitMs);
      }
  };
  const work = async (entries: Entry[], lane: string, route: Route): Promise<void> => {
    for (let next = entries[0]; next !== undefined; next = entries[0]) {
      if (!(await sendOn(next, route))) return;
      await markReached({ url: route.url, lane, seq: next.seq });
      entries.shift();
    }
    queues.delete(queueKey(lane, route));
  };
  const queue = (entry: Entry): void => {
    for (const route of routes) {
      const { url, eventType } = route;
      if (eventType !== undefined && !entry.eventTypes.includes(eventType)) continue;
      if (entry.seq <= Math.max(marks.get(keyOf(url, everyLane)) ?? 0, marks.get(keyOf(url, entry.lane)) ?? 0))
        continue;
      const key = queueKey(entry.lane, route);
      const known = queues.get(key);
      if (known !== undefined) {
        known.push(entry);
        continue;
      }
      const entries = [entry];
      queues.set(key, entries);
      const worker: Promise<void> = work(entries, entry.lane, route)
        .catch((error) => warn(`${withoutPassword(url)}: ${error}; what waits is sent on by the next start`))
        .finally(() => workers.delete(worker));
      workers.add(worker);
    }
  };
  for (const { url } of routes)
    if (!marks.has(keyOf(url, everyLane))) mark({ url, lane: everyLane, seq: inbox.newest });
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

/** Events as a line may name them. */
function eventNames(ids: readonly string[]): string {
  const more = ids.length > 3 ? ` and ${ids.length - 3} more` : '';
  return `event ${ids.slice(0, 3).join(', ')}${more}`;
}

function readOr(inbox: Inbox, entry: Entry): Received | Error {
  try {
    return inbox.read(entry);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const keyOf = (url: string, lane: string) => `${url} ${lane}`;
const queueKey = (lane: string, { url, eventType = '' }: Route) => `${url} ${eventType} ${lane}`;

/** Headers that belong to one connection, not to the delivery. Source: RFC 9110 7.6.1, and those that a new request has of its own. */
const ofConnection = [
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'host', 'content-length', 'expect'],
];

/** The headers that go on: names and values in turn, without those of the connection and those that its `Connection` names. */
export function forwarded(headers: readonly string[]): string[] {
  const pairs = Array.from({ length: headers.length >> 1 }, (_, pair) => {
    const [name = '', value = ''] = headers.slice(2 * pair, 2 * pair + 2);
    return { key: name.toLowerCase(), name, value };
  });
  const named = pairs.filter(({ key }) => key === 'connection').flatMap(({ value }) => value.toLowerCase().split(','));
  const dropped = new Set([...ofConnection, ...named.map((each) => each.trim())]);
  // Without its signature no receiver could take it.
  dropped.delete(signatureHeader);
  return pairs.flatMap(({ key, name, value }) => (dropped.has(key) ? [] : [name, value]));
}

/** What became of one request. */
export interface Outcome {
  ok: boolean;
  /** 0 where there was no answer. */
  status: number;
  error: string;
  /** No answer came in time. */
  late: boolean;
  /** It cannot be sent, however often it is tried. */
  unsendable?: boolean;
}

/** Sends one delivery, bytes and headers as they came; the answer may take `answerMs`. */
export async function forward(
  url: string,
  { headers, body }: Pick<Received, 'headers' | 'body'>,
  { answerMs, agent, signal }: { answerMs: number; agent?: Agent; signal?: AbortSignal },
): Promise<Outcome> {
  const posted = await postDelivery(url, { headers: forwarded(headers), body, answerMs, agent, signal });
  if ('error' in posted) {
    const { error, late, unsendable } = posted;
    return { ok: false, status: 0, error: error.message || 'the connection broke', late, unsendable };
  }
  const { status } = posted;
  return { ok: isTaken(status), status, error: `HTTP ${status}`, late: false };
}
