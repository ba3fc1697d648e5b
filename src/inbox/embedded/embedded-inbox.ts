import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Db } from '../../files/database.ts';
import { makeFolder } from '../../files/folder.ts';
import { takeLock } from '../../files/lock.ts';
import { hourMs } from '../../model/duration.ts';
import type { World } from '../../world.ts';
import type { Claim, EventQuery, Inbox, StoredEvent, Target } from '../inbox.ts';
import { webhookAt } from '../query.ts';
import { startCheckpoints } from './checkpoints.ts';
import { hourStats } from './hours.ts';
import { queryDeliveries, queryEvents, queryNew } from './queries.ts';
import { openStore, storeError, storeFile } from './store.ts';
import { type Bell, takeDeliveries } from './take.ts';
import { countWaiting, newestSeq } from './waiting.ts';
import { startWriter, type Writer } from './writer.ts';

interface EmbeddedOptions {
  folder: string;
  /** As messages name it. */
  name: string;
  /** The one process that stores deliveries. Errors: `locked` where another is. */
  listens?: boolean;
  logBytes?: number;
  world: Pick<World, 'startThread' | 'now' | 'sleep' | 'pid' | 'system'>;
}

/** A page of the index of ids is then written into the store less often than once an event. */
const maxLogBytes = 128 * 1024 * 1024;
/** How soon a process sees what another one stored. */
const pollMs = 200;

/** Opens the inbox of a folder, made if absent. Errors: `locked`; `local-file` where the store cannot be used. */
export async function openEmbedded({
  folder,
  name,
  listens = false,
  logBytes = maxLogBytes,
  world,
}: EmbeddedOptions): Promise<Inbox> {
  makeFolder(folder);
  const locks: (() => void)[] = [];
  const lock = (file: string, what: string) => void locks.push(takeLock(join(folder, file), what, world));
  if (listens) lock('lock', `the store ${name} (--name)`);
  let db: Db;
  try {
    db = openStore(folder);
  } catch (error) {
    for (const release of locks) release();
    throw error;
  }
  const bell = createBell();
  let writer: Writer | undefined;
  const openWriter = async (): Promise<Writer> => {
    writer ??= startWriter(await world.startThread('inbox-thread'), folder, (bytes) => {
      checkpoints.wrote(bytes);
      bell.ring();
    });
    return writer;
  };
  const finish = async () => (await openWriter()).checkpoint();
  const checkpoints = startCheckpoints({ folder, logBytes, startThread: world.startThread, finish });
  if (listens) await openWriter();
  let forwards = false;
  const lockForwarding = () => {
    if (!forwards) lock('forward.lock', `forwarding from the store ${name} (--name)`);
    forwards = true;
  };
  /** Rings where another process stored something; the one that listens is told by its own commits. */
  const watchOthers = async (signal: AbortSignal): Promise<void> => {
    for (let seen = db.version(); !signal.aborted && !listens; ) {
      await world.sleep(pollMs, signal);
      await setImmediate();
      if (db.version() === seen) continue;
      seen = db.version();
      bell.ring();
    }
  };
  /** Says that a target is used, for as long as it is. */
  const keepUsed = async (target: Target, signal: AbortSignal): Promise<void> => {
    const { addTargets } = await openWriter();
    while (!signal.aborted) {
      await world.sleep(hourMs, signal);
      await setImmediate();
      if (!signal.aborted) await addTargets([target], world.now()).catch(() => undefined);
    }
  };
  const watched = async function* <Item>(signal: AbortSignal, items: () => AsyncIterable<Item>): AsyncGenerator<Item> {
    const ended = new AbortController();
    signal.addEventListener('abort', bell.ring);
    watchOthers(AbortSignal.any([signal, ended.signal])).catch(() => undefined);
    try {
      yield* items();
    } catch (cause) {
      throw storeError(cause, storeFile(folder));
    } finally {
      ended.abort();
      signal.removeEventListener('abort', bell.ring);
    }
  };
  const read = <T>(act: () => T): T => {
    try {
      return act();
    } catch (cause) {
      throw storeError(cause, storeFile(folder));
    }
  };
  return {
    name,
    counts: 'deliveries',
    count: async () => read(() => db.get<{ n: number }>('SELECT deliveries AS n FROM total')?.n ?? 0),
    store: async (deliveries) => {
      const { add } = await openWriter();
      return Promise.all(deliveries.map(add));
    },
    countRefused: (path, atMs) => writer?.countRefused(webhookAt(path, webhookNames(db)), atMs),
    addTargets: async (targets) => (await openWriter()).addTargets(targets, world.now()),
    take: (target, signal) =>
      watched(signal, async function* (): AsyncGenerator<Claim> {
        lockForwarding();
        keepUsed(target, signal).catch(() => undefined);
        yield* takeDeliveries(target, { db, writer: await openWriter(), bell, signal });
      }),
    waiting: async (targets: readonly Target[]) => {
      await writer?.flushed();
      return read(() => targets.reduce((sum, target) => sum + countWaiting(db, target), 0));
    },
    events: (query: EventQuery) => iterate(() => queryEvents(db, query, world.now()), read),
    follow: (query, signal) =>
      watched(signal, async function* (): AsyncGenerator<StoredEvent> {
        for (let lastSeq = newestSeq(db); !signal.aborted; ) {
          const rung = bell.next();
          for (const { delivery, events } of queryNew(db, query, lastSeq, world.now())) {
            lastSeq = delivery.seq;
            yield* events;
          }
          await rung;
        }
      }),
    deliveries: (query) => iterate(() => queryDeliveries(db, query, world.now()), read),
    stats: async (query) => read(() => hourStats(db, query, world.now())),
    keep: async (limits, nowMs) => (await openWriter()).keep(limits, nowMs),
    close: async () => {
      try {
        await checkpoints.close().catch(() => undefined);
        await writer?.close();
      } finally {
        db.close();
        for (const release of locks) release();
      }
    },
  };
}

function webhookNames(db: Db): string[] {
  return db.all<{ name: string }>('SELECT name FROM webhook').map(({ name }) => name);
}

function createBell(): Bell {
  let wake = () => {};
  const wait = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  let rung = wait();
  return {
    ring: () => {
      const waiting = wake;
      rung = wait();
      waiting();
    },
    next: () => rung,
  };
}

async function* iterate<Item>(items: () => Iterable<Item>, read: <T>(act: () => T) => T): AsyncGenerator<Item> {
  const iterator = items()[Symbol.iterator]();
  for (;;) {
    const { done, value } = read(() => iterator.next());
    if (done) return;
    yield value;
  }
}
