import { setMaxListeners } from 'node:events';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { openLog, readLog } from '../../log-file.ts';
import { withoutPassword } from '../../model/quoted.ts';
import { isTaken, postDelivery } from '../../sandbox/post.ts';
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
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  warn: (text: string) => void;
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
const mostRefusals = 10;
const forwardMs = 30_000;
const everyLane = '*';

/**
 * Sends stored deliveries on, bytes and headers unchanged: at least once, in order per webhook and route, with retries for as long as it
 * runs. How far it came is on disk: what waits at the end goes on at the next start. A route that is new starts with what comes from now on.
 */
export function startForwarder({ inbox, routes, sleep, warn }: Forwarding): Forwarder {
  const file = join(inbox.folder, 'forwarded.ndjson');
  const marks = new Map<string, number>();
  for (const mark of readLog<Mark>(file)) marks.set(keyOf(mark.url, mark.lane), mark.seq);
  const log = openLog(file);
  const note = (mark: Mark) => {
    marks.set(keyOf(mark.url, mark.lane), mark.seq);
    log.append(mark);
  };
  const stopping = new AbortController();
  // One listener for each webhook and route whose delivery is on its way or waits.
  setMaxListeners(0, stopping.signal);
  const agent = new Agent({ keepAlive: true });
  const queues = new Map<string, Entry[]>();
  const workers = new Set<Promise<void>>();
  const wait = (ms: number) => sleep(ms, stopping.signal).catch(() => undefined);

  const sendOn = async (entry: Entry, route: Route): Promise<boolean> => {
    const received = inbox.read(entry);
    const name = withoutPassword(route.url);
    let refusals = 0;
    for (let tries = 1; !stopping.signal.aborted; tries += 1) {
      const outcome = await forward(route.url, received, { answerMs: forwardMs, agent, signal: stopping.signal });
      if (outcome.ok) return true;
      if (stopping.signal.aborted) return false;
      if (tries === 1 || tries % 50 === 0) warn(`${name}: ${outcome.error}; it is sent again until it is taken`);
      if (outcome.status >= 400 && outcome.status < 500 && ![408, 425, 429].includes(outcome.status)) refusals += 1;
      if (refusals >= mostRefusals) {
        warn(`${name} refuses event ${entry.eventIds.join(', ')}: left behind; sotra webhook replay sends it again`);
        return true;
      }
      await wait(Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(tries - 1, 12)));
    }
    return false;
  };
  const work = async (entries: Entry[], lane: string, route: Route): Promise<void> => {
    for (let next = entries[0]; next !== undefined; next = entries[0]) {
      if (!(await sendOn(next, route))) return;
      note({ url: route.url, lane, seq: next.seq });
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
      const worker: Promise<void> = work(entries, entry.lane, route).finally(() => workers.delete(worker));
      workers.add(worker);
    }
  };
  const newest = inbox.entries.at(-1)?.seq ?? 0;
  for (const { url } of routes) if (!marks.has(keyOf(url, everyLane))) note({ url, lane: everyLane, seq: newest });
  for (const entry of inbox.entries) queue(entry);
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

const keyOf = (url: string, lane: string) => `${url} ${lane}`;
const queueKey = (lane: string, { url, eventType = '' }: Route) => `${url} ${eventType} ${lane}`;

/** Headers that belong to one connection, not to the delivery. */
const ofConnection = ['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'expect', 'upgrade'];

/** What became of one request. */
export interface Outcome {
  ok: boolean;
  /** 0 where there was no answer. */
  status: number;
  error: string;
  /** No answer came in time. */
  late: boolean;
}

/** Sends one delivery, bytes and headers as they came; the answer may take `answerMs`. Never throws. */
export async function forward(
  url: string,
  { headers, body }: Pick<Received, 'headers' | 'body'>,
  { answerMs, agent, signal }: { answerMs: number; agent?: Agent; signal?: AbortSignal },
): Promise<Outcome> {
  const kept: Record<string, string[]> = {};
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const [name = '', value = ''] = [headers[index], headers[index + 1]];
    if (!ofConnection.includes(name.toLowerCase())) kept[name] = [...(kept[name] ?? []), value];
  }
  const posted = await postDelivery(url, { headers: kept, body, answerMs, agent, signal });
  if ('error' in posted)
    return { ok: false, status: 0, error: posted.error.message || 'the connection broke', late: posted.late };
  const { status } = posted;
  return { ok: isTaken(status), status, error: `HTTP ${status}`, late: false };
}
