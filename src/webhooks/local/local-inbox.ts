import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { hourMs } from '../../api/duration.ts';
import { type Db, groupCommits, takeLock } from '../../lib/files/database.ts';
import { makeFolder } from '../../lib/files/durable-file.ts';
import type { Io } from '../../lib/io.ts';
import { startOutbox, stopOutbox, wakeOutbox } from '../../lib/outbox.ts';
import { readAllEvents } from '../events.ts';
import {
  type Delivery,
  defaultRepeatsMs,
  type EventQuery,
  type Forwarding,
  type ForwardOptions,
  type Inbox,
  type KeepLimits,
  type StoredDelivery,
  type StoredEvent,
  type Target,
  targetMs,
} from '../inbox.ts';
import {
  addDelivery,
  addTargets,
  eventsIn,
  forgetTargets,
  newestSeq,
  queryDeliveries,
  queryEvents,
  readDelivery,
  readRetries,
  seqsAfter,
  targetIds,
} from './deliveries.ts';
import { damaged, keepWithin, openStore } from './store.ts';

export interface LocalOptions {
  folder: string;
  /** As messages name it. */
  name: string;
  /** The one process that stores deliveries. Errors: `locked` if another one does. */
  listens?: boolean;
  /** How long repeats are recognized. */
  repeatsMs?: number | undefined;
  /** Of the one that listens. */
  keep?: KeepLimits | undefined;
  io: Pick<Io, 'now' | 'sleep'>;
}

/** How soon a process sees what another one stored. */
const pollMs = 200;
/** How often deliveries beyond the limits are removed. */
const keepEveryMs = 10_000;

/** Opens the inbox of a folder, made if absent. Errors: `locked`; `local-file` if the store cannot be used. */
export function openLocalInbox({ folder, name, listens = false, repeatsMs, keep, io }: LocalOptions): Inbox {
  const { now, sleep } = io;
  const locks = new Map<string, () => void>();
  const lock = (file: string, what: string) => locks.has(file) || locks.set(file, takeLock(join(folder, file), what));
  const unlock = () => {
    for (const release of locks.values()) release();
  };
  if (listens) {
    makeFolder(folder);
    lock('lock', `the store ${name} (--name)`);
  }
  let db: Db;
  try {
    db = openStore(folder);
  } catch (error) {
    unlock();
    throw error;
  }
  const news = new EventEmitter<{ change: [] }>();
  news.setMaxListeners(0);
  const commitChange = groupCommits(db, () => news.emit('change'));
  let hasWritten = false;
  const commit = <T>(change: () => T): Promise<T> => {
    hasWritten = true;
    return commitChange(change);
  };
  const closing = new AbortController();
  /** What fails is done again the next time; a full disk shows when deliveries cannot be stored. */
  const repeat = async (everyMs: number, signal: AbortSignal, act: () => Promise<unknown>): Promise<void> => {
    while (!signal.aborted) {
      await act().catch(() => undefined);
      await sleep(everyMs, signal).catch(() => undefined);
    }
  };
  let watching: Promise<unknown> | undefined;
  /** Sees what other processes store. */
  const watch = (): void => {
    let seen = db.version();
    watching ??= repeat(pollMs, closing.signal, async () => {
      const version = db.version();
      if (version !== seen) news.emit('change');
      seen = version;
    });
  };
  const maintaining = listens
    ? repeat(keepEveryMs, closing.signal, async () => {
        await commit(() => forgetTargets(db, now() - targetMs));
        if (keep) await keepWithin(keep, now(), db, commit);
      })
    : undefined;

  const store = async (delivery: Delivery) => {
    const events = readAllEvents(delivery.body);
    return commit(() => addDelivery(db, { delivery, events, repeatsMs: repeatsMs ?? defaultRepeatsMs }));
  };
  /** By the one that forwards: deliveries for a target that another process adds would wait. */
  const addOwnTargets = async (targets: readonly Target[]): Promise<Target[]> => {
    if (targets.length > 0) lock('forward.lock', `forwarding from the store ${name} (--name)`);
    return commit(() => addTargets(db, targets, now()));
  };
  const forward = async ({ targets, post, policy, onTry, onError }: ForwardOptions): Promise<Forwarding> => {
    await addOwnTargets(targets);
    const ids = targetIds(db, targets);
    /** The deliveries that are being posted, by row. */
    const posting = new Map<number, StoredDelivery>();
    const outbox = startOutbox({
      db,
      commit,
      policy,
      now,
      sleep,
      onError,
      postsTo: (target) => ids.has(target),
      post: async ({ id, item, target }, signal) => {
        const delivery = readDelivery(db, item);
        const to = ids.get(target);
        if (delivery === undefined || to === undefined) throw damaged(db.file, `delivery ${item} is missing`);
        posting.set(id, delivery);
        return post(delivery, to, signal);
      },
      onTry: ({ row, ...made }, waitMs) => {
        const [delivery, target] = [posting.get(row.id), ids.get(row.target)];
        posting.delete(row.id);
        if (delivery !== undefined && target !== undefined) onTry({ ...made, delivery, target }, waitMs);
        else onError(damaged(db.file, `delivery ${row.item} cannot be read, and is set aside`));
      },
    });
    const wake = () => wakeOutbox(outbox);
    news.on('change', wake);
    watch();
    const staying = new AbortController();
    void repeat(hourMs, staying.signal, () => addOwnTargets(targets));
    return {
      broken: new Promise(() => undefined),
      stop: async () => {
        staying.abort();
        news.off('change', wake);
        await stopOutbox(outbox);
      },
    };
  };
  const follow = async function* (query: EventQuery, signal: AbortSignal): AsyncGenerator<StoredEvent> {
    watch();
    for (let last = newestSeq(db); !signal.aborted; ) {
      const changed = once(news, 'change', { signal }).catch(() => undefined);
      const seqs = seqsAfter(db, last);
      for (const seq of seqs) yield* eventsIn(db, seq, query);
      last = seqs.at(-1) ?? last;
      if (seqs.length === 0) await changed;
      else await setImmediate();
    }
  };
  const count = (sql: string) => db.value<number>(sql) ?? 0;
  return {
    name,
    summary: async () => {
      const oldestMs = db.value<number>('SELECT at_ms FROM delivery ORDER BY seq LIMIT 1');
      return { stored: count('SELECT count(*) FROM delivery'), oldestMs };
    },
    store: (deliveries) => Promise.all(deliveries.map(store)),
    addTargets: addOwnTargets,
    forward,
    retries: async () => readRetries(db),
    waiting: async (targets) => {
      const ids = JSON.stringify([...targetIds(db, targets).keys()]);
      const sql = "SELECT count(*) FROM outbox WHERE state = 'waiting' AND target IN (SELECT value FROM json_each(?))";
      return db.value<number>(sql, [ids]) ?? 0;
    },
    failed: async () => count("SELECT count(*) FROM outbox WHERE state = 'failed'"),
    events: (query) => queryEvents(db, query),
    follow,
    deliveries: (query) => queryDeliveries(db, query),
    markAccepted: ({ seq }) =>
      commit(() => void db.run("UPDATE outbox SET state = 'delivered' WHERE item = ? AND state = 'failed'", [seq])),
    close: async () => {
      closing.abort();
      await Promise.all([watching, maintaining]);
      try {
        if (hasWritten) db.get('PRAGMA wal_checkpoint(TRUNCATE)');
      } finally {
        db.close();
        unlock();
      }
    },
  };
}
