import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { hourMs } from '../../api/duration.ts';
import { type Db, isDamage } from '../../lib/files/database.ts';
import { makeFolder } from '../../lib/files/durable-file.ts';
import { takeLock } from '../../lib/files/lock.ts';
import type { Io } from '../../lib/io.ts';
import {
  defaultRepeatsMs,
  type EventQuery,
  type Inbox,
  type KeepLimits,
  type OnDamaged,
  type StoredEvent,
  type Target,
} from '../inbox.ts';
import { askedEvents, findEventStatus } from '../query.ts';
import { isFor } from '../route.ts';
import { countWaiting, eventsIn, queryDeliveries, queryEvents, seqsAfter } from './queries.ts';
import { findTarget, readDelivery, readRetries } from './rows.ts';
import { naming, openStore, type Store, storeError } from './store.ts';
import { awaitChange, type StoreNews, takeDeliveries } from './take.ts';
import { type NewDelivery, newestSeq, startWriter, type Writer } from './writer.ts';

interface EmbeddedOptions {
  folder: string;
  /** As messages name it. */
  name: string;
  /** The one process that stores deliveries. Errors: `locked` where another is. */
  listens?: boolean;
  /** How long a repeat is known as one, at least. */
  repeatsMs?: number | undefined;
  /** Of the one that listens. Deliveries are refused where they would take twice the size. */
  keep?: KeepLimits | undefined;
  onDamaged: OnDamaged;
  io: Pick<Io, 'now' | 'sleep' | 'pid' | 'system'>;
}

/** How soon a process sees what another one stored. */
const pollMs = 200;
/** How often the store is looked at for what it keeps too long. */
const keepEveryMs = 10_000;

/** Opens the inbox of a folder, made if absent. Errors: `locked`; `local-file` where the store cannot be used. */
export function openEmbedded({
  folder,
  name,
  listens = false,
  repeatsMs,
  keep,
  onDamaged,
  io,
}: EmbeddedOptions): Inbox {
  const { now, sleep } = io;
  const locks: (() => void)[] = [];
  const lock = (file: string, what: string) => void locks.push(takeLock(join(folder, file), what));
  const unlock = () => {
    for (const release of locks) release();
  };
  if (listens) {
    makeFolder(folder);
    lock('lock', `the store ${name} (--name)`);
  }
  let db: Db;
  try {
    db = openStore(folder, { mayWrite: listens });
  } catch (error) {
    unlock();
    throw error;
  }
  const store: Store = { db, onDamaged };
  const news: StoreNews = new EventEmitter();
  news.setMaxListeners(0);
  const closing = new AbortController();
  let writer: Writer | undefined;
  const openWriter = (): Writer => {
    writer ??= startWriter(store, {
      repeatsMs: repeatsMs ?? defaultRepeatsMs,
      now,
      onStored: (stored) => {
        for (const each of stored) news.emit('stored', each);
        news.emit('change');
      },
    });
    return writer;
  };
  let forwards = false;
  const lockForwarding = (): void => {
    if (!forwards) lock('forward.lock', `forwarding from the store ${name} (--name)`);
    forwards = true;
  };
  let watches = listens;
  /** Sees what other processes store; the one that listens is told by its own commits. */
  const watchOthers = async (): Promise<void> => {
    if (watches) return;
    watches = true;
    try {
      for (let seen = db.version(); ; await sleep(pollMs, closing.signal)) {
        await setImmediate();
        if (closing.signal.aborted) return;
        if (db.version() === seen) continue;
        seen = db.version();
        news.emit('others');
        news.emit('change');
      }
    } finally {
      watches = false;
    }
  };
  /** Says that a target is used, for as long as it is. */
  const keepUsed = async (target: Target, signal: AbortSignal): Promise<void> => {
    for (;;) {
      await sleep(hourMs, signal);
      openWriter().addTargets([target], now());
    }
  };
  const take = async function* (target: Target, signal: AbortSignal) {
    lockForwarding();
    keepUsed(target, AbortSignal.any([signal, closing.signal])).catch(() => undefined);
    watchOthers().catch(() => undefined);
    yield* takeDeliveries(findTarget(store, target), { store, writer: openWriter(), news, now, signal });
  };
  const followOwn = async function* (query: EventQuery, signal: AbortSignal): AsyncGenerator<StoredEvent> {
    const queue: StoredEvent[] = [];
    const add = ({ delivery, targets }: NewDelivery) => {
      for (const event of askedEvents(delivery, query)) {
        const isWaiting = targets.some((target) => isFor(target, event));
        queue.push({ ...event, delivery, status: findEventStatus([], isWaiting), forwards: [] });
      }
    };
    news.on('stored', add);
    try {
      while (!signal.aborted) {
        const changed = awaitChange(news, signal);
        yield* queue.splice(0);
        await changed;
      }
    } finally {
      news.off('stored', add);
    }
  };
  const followOthers = async function* (query: EventQuery, signal: AbortSignal): AsyncGenerator<StoredEvent> {
    watchOthers().catch(() => undefined);
    for (let last = newestSeq(db); !signal.aborted; ) {
      const changed = awaitChange(news, signal);
      const seqs = seqsAfter(db, last);
      for (const seq of seqs) yield* eventsIn(store, seq, query, now());
      last = seqs.at(-1) ?? last;
      if (seqs.length === 0) await changed;
    }
  };
  const keepLimits = async (limits: KeepLimits): Promise<void> => {
    // What cannot be removed now is looked at again; a full disk is told by what cannot be stored.
    for (; ; await sleep(keepEveryMs, closing.signal))
      await openWriter()
        .keeper.keep(limits, now())
        .catch(() => undefined);
  };
  if (listens) checkStored(store, io, closing.signal).catch(() => undefined);
  const keeping = listens && keep !== undefined ? keepLimits(keep).catch(() => undefined) : undefined;
  return {
    name,
    count: async () => naming(db, () => db.value<number>('SELECT count(*) FROM delivery') ?? 0),
    store: (deliveries) => Promise.all(deliveries.map(openWriter().add)),
    addTargets: async (targets) => naming(db, () => openWriter().addTargets(targets, now())),
    take: (target, signal) => namingAll(db, take(target, signal)),
    retries: async () => naming(db, () => readRetries(db)),
    waiting: async (targets) => {
      writer?.flush();
      return naming(db, () => targets.reduce((sum, target) => sum + countWaiting(db, findTarget(store, target)), 0));
    },
    events: (query) => namingAll(db, queryEvents(store, query, now())),
    follow: (query, signal) => namingAll(db, (listens ? followOwn : followOthers)(query, signal)),
    deliveries: (query) => namingAll(db, queryDeliveries(store, query, now())),
    close: async () => {
      closing.abort();
      await keeping;
      try {
        writer?.close();
        if (writer !== undefined) db.get('PRAGMA wal_checkpoint(TRUNCATE)');
      } finally {
        db.close();
        unlock();
      }
    },
  };
}

/** A few megabytes a second. */
const [checkedAtOnce, checkEveryMs] = [100, 100];

/** Reads all that is stored once, slowly: damage is told while the rest can still be saved, not when somebody asks for an old event. */
async function checkStored(store: Store, { sleep }: Pick<Io, 'sleep'>, signal: AbortSignal): Promise<void> {
  try {
    for (let last: number | undefined = 0; last !== undefined; await sleep(checkEveryMs, signal)) {
      const seqs: number[] = seqsAfter(store.db, last, checkedAtOnce);
      for (const seq of seqs) readDelivery(store, seq);
      last = seqs.at(-1);
    }
  } catch (error) {
    if (isDamage(error)) store.onDamaged(storeError(error, store.db.file).message);
  }
}

/** As `naming`, of items that are read one after the other. */
async function* namingAll<Item>({ file }: Db, items: Iterable<Item> | AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (cause) {
    throw storeError(cause, file);
  }
}
