import { statSync } from 'node:fs';
import { dayMs } from '../../api/duration.ts';
import { hideUrlSecrets } from '../../client/url-secrets.ts';
import type { Db } from '../../lib/files/database.ts';
import type { FailedTry, Forward } from '../../lib/forward.ts';
import type { EventSummary } from '../event-facts.ts';
import { readAllEvents } from '../events.ts';
import type { Delivery, StoredDelivery, Target } from '../inbox.ts';
import { isFor } from '../route.ts';
import { createKeeper } from './keep.ts';
import { indexedWords, readDays } from './queries.ts';
import { readTargets, type StoredTarget, writeRule } from './rows.ts';
import { type Store, storeError } from './store.ts';

/** What one commit takes at most, so that nothing else waits for long. */
const [maxDeliveries, maxBytes] = [512, 16 * 1024 * 1024];
/** How long what may get lost waits for a commit: marks of forwards, failed tries. */
const lazyMs = 50;
/** Marks that a crash may lose: so many deliveries are then forwarded again. */
const maxUnsafeMarks = 256;

/** A delivery for a target. */
interface Place {
  targetId: number;
  webhookId: number;
  delivery: StoredDelivery;
}

/** A delivery that was just stored, and the targets that are to get it. */
export interface NewDelivery {
  webhookId: number;
  delivery: StoredDelivery;
  targets: readonly StoredTarget[];
}

interface PendingDelivery {
  delivery: Delivery;
  events: readonly EventSummary[];
  resolve: (stored: StoredDelivery | undefined) => void;
  reject: (error: unknown) => void;
}

interface WriterOptions {
  /** How long a repeat is known as one, at least. */
  repeatsMs: number;
  now: () => number;
  /** Told after each commit, before those who wait for it. */
  onStored: (stored: readonly NewDelivery[]) => void;
}

/** The one who writes: all that came while something else ran goes into one commit, synced before anybody is told. */
export type Writer = ReturnType<typeof startWriter>;

export function startWriter(store: Store, { repeatsMs, now, onStored }: WriterOptions) {
  const { db } = store;
  const own = statSync(db.file).ino;
  const keeper = createKeeper(db, now);
  let waiting: PendingDelivery[] = [];
  let marks: (Place & { forward: Omit<Forward, 'url'> })[] = [];
  const retries = new Map<string, Place & { failedTry: FailedTry }>();
  let failure: unknown;
  let soon: NodeJS.Immediate | undefined;
  let later: NodeJS.Timeout | undefined;

  const write = (taken: readonly PendingDelivery[]): (NewDelivery | undefined)[] =>
    db.transaction(() => {
      const added = addDeliveries(db, taken, repeatsMs);
      for (const mark of marks) addMark(db, mark);
      for (const retry of retries.values()) addRetry(db, retry);
      keeper.trim(taken.length);
      return added;
    });
  const commit = (): void => {
    clearTimeout(later);
    clearImmediate(soon);
    [later, soon] = [undefined, undefined];
    const taken = takeSome(waiting, keeper.batchBytes());
    waiting = waiting.slice(taken.length);
    try {
      if (taken.length > 0) keeper.makeRoom();
      const added = write(taken);
      if (statSync(db.file, { throwIfNoEntry: false })?.ino !== own)
        throw new Error('it was deleted while it was in use; the next start makes a new one');
      [marks, failure] = [[], undefined];
      retries.clear();
      onStored(added.filter((each) => each !== undefined));
      for (const [index, { resolve }] of taken.entries()) resolve(added[index]?.delivery);
    } catch (cause) {
      failure = storeError(cause, db.file);
      for (const { reject } of taken) reject(failure);
    }
    if (waiting.length > 0) soon = setImmediate(commit);
  };
  const commitLater = (): void => {
    later ??= setTimeout(commit, lazyMs).unref();
  };
  const flush = (): void => {
    while (waiting.length > 0) commit();
    if (marks.length + retries.size > 0) commit();
  };
  return {
    keeper,
    /** Resolves once it is safe; `undefined` for a repeat. Errors: `local-file`. */
    add: (delivery: Delivery): Promise<StoredDelivery | undefined> =>
      new Promise((resolve, reject) => {
        waiting.push({ delivery, events: readAllEvents(delivery.body), resolve, reject });
        // What comes in this turn of the event loop goes together.
        soon ??= setImmediate(commit);
      }),
    /** Says how a delivery ended at a target. */
    settle: (place: Place, forward: Omit<Forward, 'url'>): void => {
      marks.push({ ...place, forward });
      retries.delete(joinPlace(place));
      commitLater();
    },
    /** Errors: `local-file` where nothing can be written, or too much would be lost. */
    settled: (): void => {
      if (failure === undefined && marks.length < maxUnsafeMarks) return;
      commit();
      if (failure !== undefined) throw failure;
    },
    retry: (place: Place, failedTry: FailedTry): void => {
      retries.set(joinPlace(place), { ...place, failedTry });
      commitLater();
    },
    addTargets: (targets: readonly Target[], nowMs: number): void =>
      db.transaction(() => {
        const sql = `INSERT INTO target (url, rule, used_ms) VALUES (?, ?, ?)
          ON CONFLICT (url, rule) DO UPDATE SET used_ms = excluded.used_ms`;
        for (const target of targets) db.run(sql, [hideUrlSecrets(target.url), writeRule(target), nowMs]);
      }),
    flush,
    close: (): void => {
      flush();
      clearTimeout(later);
      if (marks.length > 0) throw failure;
    },
  };
}

const joinPlace = ({ targetId, webhookId }: Place) => `${targetId} ${webhookId}`;

function takeSome(waiting: readonly PendingDelivery[], atMost: number): PendingDelivery[] {
  let [count, bytes] = [0, 0];
  for (const { delivery } of waiting) {
    bytes += delivery.body.length;
    if (count > 0 && (count >= maxDeliveries || bytes > Math.min(maxBytes, atMost))) break;
    count += 1;
  }
  return waiting.slice(0, count);
}

/** Adds those that have new events; in the given order, `undefined` for a repeat. To be called in a transaction. */
export function addDeliveries(
  db: Db,
  deliveries: readonly Pick<PendingDelivery, 'delivery' | 'events'>[],
  repeatsMs: number,
): (NewDelivery | undefined)[] {
  if (deliveries.length === 0) return [];
  const targets = readTargets(db, 'target t');
  const oldestDay = (atMs: number) => Math.floor((atMs - repeatsMs) / dayMs);
  const days = new Set(readDays(db, oldestDay(Math.min(...deliveries.map(({ delivery }) => delivery.atMs)))));
  let seq = newestSeq(db);
  return deliveries.map(({ delivery, events }) => {
    const { webhook, atMs, headers, body } = delivery;
    const day = Math.floor(atMs / dayMs);
    const others = [...days].filter((each) => each !== day && each >= oldestDay(atMs));
    days.add(day);
    const fresh = events.filter(
      ({ eventId }) =>
        !others.some((each) => db.get('SELECT 1 FROM event WHERE day = ? AND id = ?', [each, eventId])) &&
        db.run('INSERT INTO event (day, id, seq) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', [day, eventId, seq + 1]) > 0,
    );
    if (fresh.length === 0) return undefined;
    seq += 1;
    const webhookId = findWebhookId(db, webhook);
    const ids = JSON.stringify(fresh.map(({ eventId }) => eventId));
    db.run('INSERT INTO delivery (seq, at_ms, webhook_id, event_ids, headers, body) VALUES (?, ?, ?, ?, ?, ?)', [
      ...[seq, atMs, webhookId, ids, JSON.stringify(headers), body],
    ]);
    db.run('INSERT INTO term (rowid, terms) VALUES (?, ?)', [seq, indexedWords(webhook, fresh)]);
    const fitting = targets.filter((target) => fresh.some((event) => isFor(target, event)));
    for (const { id } of fitting)
      db.run('INSERT INTO waiting (target_id, webhook_id, seq) VALUES (?, ?, ?)', [id, webhookId, seq]);
    return { webhookId, delivery: { ...delivery, seq, events: fresh }, targets: fitting };
  });
}

function findWebhookId(db: Db, name: string): number {
  return (
    db.value<number>('SELECT id FROM webhook WHERE name = ?', [name]) ??
    db.insert('INSERT INTO webhook (name) VALUES (?)', [name])
  );
}

export function newestSeq(db: Db): number {
  return db.value<number>('SELECT max(seq) FROM delivery') ?? 0;
}

function addMark(db: Db, { targetId, webhookId, delivery, forward }: Place & { forward: Omit<Forward, 'url'> }): void {
  const { seq } = delivery;
  for (const table of ['waiting', 'retry'])
    db.run(`DELETE FROM ${table} WHERE target_id = ? AND webhook_id = ? AND seq = ?`, [targetId, webhookId, seq]);
  const { outcome, status, ms, tries, error, atMs } = forward;
  db.run(
    `INSERT OR REPLACE INTO forward (seq, target_id, outcome, status, ms, tries, error, at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [seq, targetId, outcome, status, ms, tries, error, atMs],
  );
}

function addRetry(db: Db, { targetId, webhookId, delivery, failedTry }: Place & { failedTry: FailedTry }): void {
  const values = [targetId, webhookId, delivery.seq, JSON.stringify(failedTry)];
  db.run('INSERT OR REPLACE INTO retry (target_id, webhook_id, seq, failed_try) VALUES (?, ?, ?, ?)', values);
}
