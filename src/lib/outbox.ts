import { setMaxListeners } from 'node:events';
import type { Commit, Db, SqlValue } from './files/database.ts';
import type { PostOutcome } from './post-delivery.ts';

/**
 * The table of an outbox: one row for each item and target that it is to be posted to. Whoever stores an item adds its rows in the same
 * transaction (`addToOutbox`), so that none is lost. Times are Unix milliseconds.
 */
export const outboxTable = `
CREATE TABLE outbox (
  id INTEGER PRIMARY KEY,
  target INTEGER NOT NULL,                -- the caller's number of a destination
  queue TEXT NOT NULL,                    -- rows of a target and a queue are posted one after the other, by id
  item INTEGER NOT NULL,                  -- the caller's number of an item
  state TEXT NOT NULL DEFAULT 'waiting',  -- waiting, delivered, or failed: set aside
  due_ms INTEGER NOT NULL DEFAULT 0,      -- not posted before
  since_ms INTEGER,                       -- the first try
  at_ms INTEGER,                          -- the last try, with its answer:
  status INTEGER, error TEXT, ms INTEGER,
  tries INTEGER NOT NULL DEFAULT 0,
  refusals INTEGER NOT NULL DEFAULT 0     -- tries that were answered 3xx or 4xx
);
CREATE INDEX outbox_item ON outbox (item, state);
CREATE INDEX outbox_waiting ON outbox (target, queue, id) WHERE state = 'waiting';
CREATE INDEX outbox_tried ON outbox (id) WHERE state = 'waiting' AND tries > 0;
CREATE INDEX outbox_failed ON outbox (item) WHERE state = 'failed';
`;

type OutboxState = 'waiting' | 'delivered' | 'failed';

export interface OutboxRow extends Tries {
  id: number;
  target: number;
  queue: string;
  item: number;
  dueMs: number;
}

/** The tries so far. */
export interface Tries {
  tries: number;
  /** Tries that were answered 3xx or 4xx. */
  refusals: number;
  /** The first try; `null` if there was none. */
  sinceMs: number | null;
}

/** A try that was just made, counted with those before. */
export interface Try extends Tries {
  outcome: PostOutcome;
  sinceMs: number;
  atMs: number;
  /** How long the answer took. */
  ms: number;
}

/** The pause after a failed try, in milliseconds; `undefined` sets the row aside, and the next of its queue is posted. */
export type OutboxPolicy = (failed: Try) => number | undefined;

export interface OutboxOptions {
  db: Db;
  commit: Commit;
  /** Whether rows of a target are posted by this process; absent: all are. */
  postsTo?: ((target: number) => boolean) | undefined;
  /** Posts the item of a row. A rejection sets the row aside. */
  post: (row: OutboxRow, signal: AbortSignal) => Promise<PostOutcome>;
  policy: OutboxPolicy;
  /** Called after each try; if it failed, with the pause before the next one, or without one if the row is set aside. */
  onTry?: ((made: Try & { row: OutboxRow }, waitMs: number | undefined) => void) | undefined;
  /** Called when the table cannot be read or written; both are tried again. */
  onError?: ((error: unknown) => void) | undefined;
  now: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /**
   * If several processes post: how long a row that is being posted is reserved for this process, longer than any answer takes. A row of a
   * process that died is posted again after that.
   */
  leaseMs?: number | undefined;
}

/** An outbox at work. */
export interface Outbox {
  readonly options: OutboxOptions;
  /** The posts of each queue, by target and name of the queue. */
  readonly running: Map<string, Promise<void>>;
  readonly stopping: AbortController;
  /** Ends the posts that are not answered soon after the stop. */
  readonly cutting: AbortController;
  /** Ends the wait for the next look at the table. */
  woken: AbortController;
  looping: Promise<void>;
}

const pollMs = 100;
const retryErrorMs = 1000;
const graceMs = 1000;
const maxQueues = 256;
/** Delivered rows of a queue that are not committed yet: so many are posted again after a crash. */
const maxUncommitted = 32;

/** Adds rows, in the transaction that stores their item. */
export function addToOutbox(db: Db, { item, queue }: Pick<OutboxRow, 'item' | 'queue'>, targets: Iterable<number>) {
  for (const target of targets)
    db.run('INSERT INTO outbox (target, queue, item) VALUES (?, ?, ?)', [target, queue, item]);
}

/** Posts the oldest due row of each target and queue, at least once and in order, until it is stopped. */
export function startOutbox(options: OutboxOptions): Outbox {
  const [stopping, cutting] = [new AbortController(), new AbortController()];
  setMaxListeners(0, stopping.signal, cutting.signal);
  const woken = new AbortController();
  const outbox = { options, running: new Map(), stopping, cutting, woken, looping: Promise.resolve() };
  outbox.looping = loop(outbox);
  return outbox;
}

/** Looks for rows now: to be called after this process added some. Rows of other processes are seen within 100 ms. */
export function wakeOutbox(outbox: Outbox): void {
  outbox.woken.abort();
}

/** Resolves when no row is due, or at the signal; rows that wait for a later try may remain. */
export async function settleOutbox(outbox: Outbox, signal: AbortSignal = outbox.stopping.signal): Promise<void> {
  const { options, running } = outbox;
  const isDue = () => queueHeads(options.db).some((row) => row.dueMs <= options.now() && isOwn(outbox, row));
  while (!signal.aborted && (running.size > 0 || isDue())) await options.sleep(10, signal).catch(() => undefined);
}

/** Resolves within about a second: a post without an answer by then counts as not tried. */
export async function stopOutbox(outbox: Outbox): Promise<void> {
  const { options, stopping, cutting, looping } = outbox;
  stopping.abort();
  wakeOutbox(outbox);
  const late = new AbortController();
  await Promise.race([looping, options.sleep(graceMs, late.signal).catch(() => undefined)]);
  late.abort();
  cutting.abort();
  await looping;
}

function isOwn({ options: { postsTo } }: Outbox, { target }: OutboxRow): boolean {
  return postsTo === undefined || postsTo(target);
}

async function loop(outbox: Outbox): Promise<void> {
  const { now, sleep, onError } = outbox.options;
  while (!outbox.stopping.signal.aborted) {
    let waitMs = pollMs;
    outbox.woken = new AbortController();
    try {
      waitMs = Math.max(1, Math.min(pollMs, startQueues(outbox) - now()));
    } catch (error) {
      onError?.(error);
      waitMs = retryErrorMs;
    }
    await sleep(waitMs, outbox.woken.signal).catch(() => undefined);
  }
  await Promise.all(outbox.running.values());
}

/** Starts the queues whose first row is due; returns when the next one is. */
function startQueues(outbox: Outbox): number {
  const { options, running } = outbox;
  let nextMs = Number.POSITIVE_INFINITY;
  for (const head of queueHeads(options.db)) {
    const key = `${head.target} ${head.queue}`;
    if (running.has(key) || running.size >= maxQueues || !isOwn(outbox, head)) continue;
    if (head.dueMs > options.now()) {
      nextMs = Math.min(nextMs, head.dueMs);
      continue;
    }
    const run = runQueue(outbox, head)
      .catch((error) => options.onError?.(error))
      .finally(() => {
        running.delete(key);
        wakeOutbox(outbox);
      });
    running.set(key, run);
  }
  return nextMs;
}

async function runQueue(outbox: Outbox, { target, queue }: OutboxRow): Promise<void> {
  const { options, stopping, cutting } = outbox;
  const { db, now, leaseMs } = options;
  const commits: Promise<unknown>[] = [];
  let row = nextRow(db, target, queue, 0);
  while (row !== undefined && row.dueMs <= now() && !stopping.signal.aborted) {
    if (leaseMs !== undefined && !(await commitAtLast(outbox, claim(db, row, now(), leaseMs)))) break;
    const posted = row;
    const made = await tryOnce(row, () => options.post(posted, cutting.signal), { now, signal: cutting.signal });
    if (made === undefined) {
      if (leaseMs !== undefined) await commitAtLast(outbox, release(db, row));
      break;
    }
    const waitMs = pauseAfter(made, options.policy);
    options.onTry?.({ ...made, row }, waitMs);
    const committed = commitAtLast(outbox, record(db, row, made, waitMs));
    committed.catch(() => undefined);
    commits.push(committed);
    if (waitMs !== undefined) break;
    if (commits.length > maxUncommitted) await commits.shift();
    row = nextRow(db, target, queue, row.id);
  }
  await Promise.all(commits);
}

/** Commits a change, at last: a delivered row that is not marked would be posted again. */
function commitAtLast<T>({ options, stopping }: Outbox, change: () => T): Promise<T> {
  return recordAtLast(() => options.commit(change), { ...options, signal: stopping.signal });
}

/** Records how an item was answered, as often as that fails. Rejects with the error at the signal. */
export async function recordAtLast<T>(
  record: () => Promise<T>,
  { onError, sleep, signal }: Pick<OutboxOptions, 'onError' | 'sleep'> & { signal: AbortSignal },
): Promise<T> {
  for (;;)
    try {
      return await record();
    } catch (error) {
      onError?.(error);
      if (signal.aborted) throw error;
      await sleep(retryErrorMs, signal).catch(() => undefined);
    }
}

/** Posts once; `undefined` if it was cut off without an answer, which counts as not tried. A rejection can never be posted. */
export async function tryOnce(
  before: Tries,
  post: () => Promise<PostOutcome>,
  { now, signal }: { now: () => number; signal: AbortSignal },
): Promise<Try | undefined> {
  const startedMs = now();
  const outcome = await post().catch(
    (error: Error): PostOutcome => ({ ok: false, status: null, error: error.message, late: false, unsendable: true }),
  );
  if (signal.aborted && outcome.status === null) return undefined;
  const atMs = now();
  const refusals = before.refusals + (isRefusal(outcome.status) ? 1 : 0);
  return {
    outcome,
    tries: before.tries + 1,
    refusals,
    sinceMs: before.sinceMs ?? startedMs,
    atMs,
    ms: atMs - startedMs,
  };
}

/** The pause before the next try; `undefined` if there is none. */
export function pauseAfter(made: Try, policy: OutboxPolicy): number | undefined {
  return made.outcome.ok || made.outcome.unsendable ? undefined : policy(made);
}

/** A redirect, or a client error that is not about the moment. */
function isRefusal(status: number | null): boolean {
  return status !== null && status >= 300 && status < 500 && ![408, 425, 429].includes(status);
}

const columns = `id, target, CAST(queue AS BLOB) AS queue, item, due_ms AS dueMs, since_ms AS sinceMs, tries, refusals`;

/** libsql ends the process for text that is not UTF-8, so it is read as bytes. */
function readRow(row: OutboxRow & { queue: unknown }): OutboxRow {
  return { ...row, queue: Buffer.from(row.queue as unknown as Uint8Array).toString() };
}

function nextRow(db: Db, target: number, queue: string, after: number): OutboxRow | undefined {
  const sql = `SELECT ${columns} FROM outbox WHERE state = 'waiting' AND target = ? AND queue = ? AND id > ? ORDER BY id LIMIT 1`;
  const row = db.get<OutboxRow>(sql, [target, queue, after]);
  return row && readRow(row);
}

/** The oldest waiting row of each target and queue: each is found with one look at the index, however many wait behind it. */
function queueHeads(db: Db): OutboxRow[] {
  const oldest = (after: string) =>
    `SELECT id FROM outbox WHERE state = 'waiting' ${after} ORDER BY target, queue, id LIMIT 1`;
  const nextQueue = oldest('AND target = h.target AND queue > h.queue');
  const nextTarget = oldest('AND target > h.target');
  return db
    .all<OutboxRow>(
      `WITH RECURSIVE head (id, target, queue) AS (
         SELECT id, target, queue FROM outbox WHERE id = (${oldest('')})
         UNION ALL
         SELECT o.id, o.target, o.queue FROM head h JOIN outbox o ON o.id = coalesce((${nextQueue}), (${nextTarget}))
       )
       SELECT ${columns} FROM outbox WHERE id IN (SELECT id FROM head)`,
    )
    .map(readRow);
}

function claim(db: Db, { id }: OutboxRow, nowMs: number, leaseMs: number): () => boolean {
  const sql = "UPDATE outbox SET due_ms = ? WHERE id = ? AND state = 'waiting' AND due_ms <= ?";
  return () => db.run(sql, [nowMs + leaseMs, id, nowMs]) > 0;
}

function release(db: Db, { id, dueMs }: OutboxRow): () => void {
  return () => void db.run('UPDATE outbox SET due_ms = ? WHERE id = ?', [dueMs, id]);
}

function record(db: Db, row: OutboxRow, made: Try, waitMs: number | undefined): () => void {
  const { outcome, tries, refusals, sinceMs, atMs, ms } = made;
  const { ok, status, error } = outcome;
  const state: OutboxState = ok ? 'delivered' : waitMs === undefined ? 'failed' : 'waiting';
  const dueMs = atMs + (waitMs ?? 0);
  const values: SqlValue[] = [state, dueMs, sinceMs, atMs, status, error, ms, tries, refusals, row.id];
  return () =>
    void db.run(
      `UPDATE outbox SET state = ?, due_ms = ?, since_ms = ?, at_ms = ?, status = ?, error = ?, ms = ?, tries = ?, refusals = ? WHERE id = ?`,
      values,
    );
}
