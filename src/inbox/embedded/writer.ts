import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { hourMs } from '../../model/duration.ts';
import { allEventsOf, type EventSummary, namesOf } from '../events.ts';
import type { Delivery, KeepLimits, StoredDelivery, Target } from '../inbox.ts';
import type { Batch, CommitResult, Mark, NewDelivery } from './batch.ts';
import { callsOf } from './checkpoints.ts';
import type { ThreadAnswer } from './inbox-thread.ts';
import { pageBytes } from './store.ts';

/** What one commit takes at most, so that the next ones need not wait for long. */
const [maxDeliveries, maxBytes] = [512, 16 * 1024 * 1024];
/** Refused signatures that a crash may lose are those of so long. */
const refusalsMs = 1000;
/** Marks that a crash may lose: so many deliveries are then forwarded again. */
const maxUnsafeMarks = 256;

interface PendingDelivery {
  delivery: Delivery;
  events: readonly EventSummary[];
  resolve: (stored: StoredDelivery | undefined) => void;
  reject: (error: unknown) => void;
}

/** Stores by way of the thread, which puts what came while a commit ran into the next one. */
export interface Writer {
  add: (delivery: Delivery) => Promise<StoredDelivery | undefined>;
  /** Resolves when not too much would be lost. Errors: `local-file` while marks cannot be stored; `settled` is then called. */
  addMark: (mark: Mark) => void;
  settled: () => Promise<void>;
  /** Resolves when what was given so far is stored, or could not be. */
  flushed: () => Promise<void>;
  countRefused: (webhook: string, atMs: number) => void;
  addTargets: (targets: readonly Target[], nowMs: number) => Promise<void>;
  keep: (limits: KeepLimits, nowMs: number) => Promise<number>;
  /** Brings what the log holds into the store. */
  checkpoint: () => Promise<void>;
  close: () => Promise<void>;
}

/** `onStored` is called after each commit that holds deliveries, with their bytes. */
export function startWriter(thread: Worker, folder: string, onStored: (bytes: number) => void): Writer {
  const call = callsOf(thread);
  const opened = call({ kind: 'open', folder });
  opened.catch(() => undefined);
  let [waiting, marks]: [PendingDelivery[], Mark[]] = [[], []];
  const refusals = new Map<string, { webhook: string; atMs: number; count: number }>();
  const addRefusals = (webhook: string, atMs: number, count: number): void => {
    const key = `${Math.floor(atMs / hourMs)} ${webhook}`;
    refusals.set(key, { webhook, atMs, count: count + (refusals.get(key)?.count ?? 0) });
  };
  let failure: unknown;
  let unsafeMarks = 0;

  let isCommitting = false;
  const commit = async (): Promise<void> => {
    isCommitting = true;
    const taken = takeSome(waiting);
    waiting = waiting.slice(taken.length);
    const [ownMarks, ownRefusals] = [marks, [...refusals.values()]];
    marks = [];
    refusals.clear();
    areRefusalsDue = false;
    const bodies = joinBodies(taken.map(({ delivery }) => delivery.body));
    const deliveries = taken.map(({ delivery, events }) => newDelivery(delivery, events));
    const storedBytes = bodies.length + taken.length * pageBytes;
    try {
      await opened;
      const batch: Batch = { deliveries, marks: ownMarks, refusals: ownRefusals };
      const { committed = [] } = await call({ kind: 'commit', batch: JSON.stringify(batch), bodies });
      failure = undefined;
      unsafeMarks -= ownMarks.length;
      // The thread has the next ones before these are answered.
      goOn();
      for (const [index, { delivery, events, resolve }] of taken.entries())
        resolve(storedOf(delivery, events, committed[index]));
      if (taken.length > 0) onStored(storedBytes);
    } catch (error) {
      failure = error;
      marks = [...ownMarks, ...marks];
      for (const { webhook, atMs, count } of ownRefusals) addRefusals(webhook, atMs, count);
      for (const { reject } of taken) reject(error);
      goOn();
    }
  };
  /** What came meanwhile goes together. */
  const goOn = (): void => {
    isCommitting = false;
    if (hasWork()) track(commit());
  };
  let refusalsTimer: NodeJS.Timeout | undefined;
  let areRefusalsDue = false;
  const hasWork = () => waiting.length > 0 || ((marks.length > 0 || areRefusalsDue) && failure === undefined);
  const inFlight = new Set<Promise<void>>();
  let isStarted = false;
  const send = async (): Promise<void> => {
    // What comes in this turn of the event loop goes together.
    await setImmediate();
    isStarted = false;
    if (!isCommitting && hasWork()) track(commit());
  };
  const track = (work: Promise<void>): void => {
    const tracked = work.then(() => void inFlight.delete(tracked));
    inFlight.add(tracked);
  };
  const start = (): void => {
    if (!isStarted) track(send());
    isStarted = true;
  };
  const flushed = async (): Promise<void> => {
    while (inFlight.size > 0) await Promise.all(inFlight);
  };
  return {
    add: (delivery) =>
      new Promise((resolve, reject) => {
        waiting.push({ delivery, events: allEventsOf(delivery.body), resolve, reject });
        start();
      }),
    addMark: (mark) => {
      marks.push(mark);
      unsafeMarks += 1;
      start();
    },
    settled: async () => {
      if (failure === undefined && unsafeMarks < maxUnsafeMarks) return;
      await flushed();
      if (failure === undefined) return;
      await commit();
      if (failure !== undefined) throw failure;
    },
    flushed,
    countRefused: (webhook, atMs) => {
      addRefusals(webhook, atMs, 1);
      refusalsTimer ??= setTimeout(() => {
        refusalsTimer = undefined;
        areRefusalsDue = refusals.size > 0;
        if (areRefusalsDue) start();
      }, refusalsMs).unref();
    },
    addTargets: async (targets, nowMs) => {
      await opened;
      await call({ kind: 'targets', targets, nowMs });
    },
    keep: async (limits, nowMs) => {
      await opened;
      let removed = 0;
      for (let after: number | undefined = 0; after !== undefined; ) {
        const { kept }: ThreadAnswer = await call({ kind: 'keep', limits, nowMs, after });
        removed += kept?.removed ?? 0;
        after = kept?.after;
      }
      return removed;
    },
    checkpoint: async () => void (await call({ kind: 'checkpoint' })),
    close: async () => {
      clearTimeout(refusalsTimer);
      await flushed();
      if (marks.length > 0 || refusals.size > 0) await commit();
      const ended = once(thread, 'exit');
      await call({ kind: 'close' }).catch(() => thread.terminate());
      await ended;
      if (marks.length > 0) throw failure;
    },
  };
}

function takeSome(waiting: readonly PendingDelivery[]): PendingDelivery[] {
  let [count, bytes] = [0, 0];
  for (const { delivery } of waiting) {
    bytes += delivery.body.length;
    if (count > 0 && (count >= maxDeliveries || bytes > maxBytes)) break;
    count += 1;
  }
  return waiting.slice(0, count);
}

/** In memory of its own, which is handed over and not copied. */
function joinBodies(bodies: readonly Buffer[]): Uint8Array {
  const all = new Uint8Array(bodies.reduce((sum, { length }) => sum + length, 0));
  let start = 0;
  for (const body of bodies) {
    all.set(body, start);
    start += body.length;
  }
  return all;
}

function newDelivery({ webhook, atMs, headers, body }: Delivery, events: readonly EventSummary[]): NewDelivery {
  return {
    webhook,
    atMs,
    eventIds: events.map(({ eventId }) => eventId),
    terms: [...termsOf(events)],
    headers: JSON.stringify(headers),
    bodyBytes: body.length,
  };
}

/** What the events of a delivery can be found by. */
function termsOf(events: readonly EventSummary[]): Set<string> {
  const terms = new Set<string>();
  for (const { event, eventType } of events) {
    const { addresses, tokens } = namesOf(event);
    terms.add(`type:${eventType}`);
    for (const address of addresses) terms.add(`address:${address}`);
    for (const token of tokens) terms.add(`token:${token}`);
  }
  return terms;
}

function storedOf(
  delivery: Delivery,
  events: readonly EventSummary[],
  committed: CommitResult[number] | undefined,
): StoredDelivery | undefined {
  if (committed === undefined || committed === null) return undefined;
  const { seq, newIds } = committed;
  if (newIds.length === events.length) return { ...delivery, seq, events };
  const ids = new Set(newIds);
  return { ...delivery, seq, events: events.filter(({ eventId }) => ids.has(eventId)) };
}
