import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { tryParseJson } from '../../api/json.ts';
import { readMessage, SotraError } from '../../errors.ts';
import {
  type Commit,
  checkSchema,
  type Db,
  isDamage,
  isFull,
  makeTables,
  openDatabase,
  type Schema,
} from '../../lib/files/database.ts';
import { outboxTable } from '../../lib/outbox.ts';
import type { KeepLimits } from '../inbox.ts';

/** How many deliveries share a block of facets. */
export const blockSize = 4096;
export const blockOf = (seq: number) => Math.floor(seq / blockSize);

/** Times are Unix milliseconds. */
const tables = `
CREATE TABLE delivery (
  seq INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  webhook TEXT NOT NULL,
  event_ids TEXT NOT NULL,   -- JSON: the events that no earlier delivery had
  headers TEXT NOT NULL,     -- JSON: names and values in turn
  body BLOB NOT NULL
);
CREATE INDEX delivery_at ON delivery (at_ms);

-- The delivery that an event came in last, and when.
CREATE TABLE event (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, at_ms INTEGER NOT NULL) WITHOUT ROWID;

-- What deliveries can be found by. In blocks of some thousand deliveries: over all of them, each would change pages everywhere.
CREATE TABLE facet (
  block INTEGER NOT NULL,
  kind TEXT NOT NULL,        -- type, wallet, token or path
  value TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (block, kind, value, seq)
) WITHOUT ROWID;

CREATE TABLE target (
  id INTEGER PRIMARY KEY,
  url TEXT NOT NULL,
  rule TEXT NOT NULL,        -- JSON: which events it is sent
  used_ms INTEGER NOT NULL,
  UNIQUE (url, rule)
);
${outboxTable}`;

const schema: Schema = {
  version: 6,
  sql: tables,
  ownTable: 'delivery',
  name: 'the store',
  code: 'local-file',
  hints: {
    otherProgram: 'Move it away, or listen into another store with --name.',
    otherVersion: 'Use the version that wrote it, or listen into another store with --name.',
  },
};

const options = {
  pageBytes: 4096,
  cacheKib: 16_384,
  checkpointPages: 1000,
  shrinks: true,
  isSynced: true,
} as const;

/** The database of a store, in its folder. */
export const storeFile = 'inbox.db';

/** Opens the store of a folder, made if absent. Errors: `local-file` if it is damaged, of another version or cannot be opened. */
export function openStore(folder: string): Db {
  const file = join(folder, storeFile);
  let db: Db | undefined;
  try {
    db = openDatabase(file, { ...options, check: (found) => checkSchema(found, schema), toError: storeError });
    makeTables(db, schema);
    return db;
  } catch (cause) {
    db?.close();
    throw storeError(cause, file);
  }
}

/** The error for a store that cannot be used, by the error of SQLite. */
function storeError(cause: unknown, file: string): SotraError {
  if (cause instanceof SotraError) return cause;
  const why = readMessage(cause);
  if (isDamage(cause)) return damaged(file, why, cause);
  const hint = isFull(cause)
    ? 'Free some disk space, or listen into a store on another disk: SOTRA_DATA_DIR.'
    : 'See that its folder can be written, or choose another with --name or SOTRA_DATA_DIR.';
  return new SotraError('local-file', `cannot use the store ${file}: ${why}`, { hint, cause });
}

export function damaged(file: string, why: string, cause?: unknown): SotraError {
  return new SotraError('local-file', `the store ${file} is damaged: ${why}`, {
    hint: 'Move its folder away (sqlite3 inbox.db .recover saves what can be read), or listen into another store with --name.',
    cause,
  });
}

/** Some milliseconds of work: deliveries are stored between two steps. */
const [rowsAtOnce, pagesAtOnce] = [500, 500];
/** Free pages that the next deliveries fill anyway. */
const minFreePages = 128;
/** The size of a delivery beside its body: headers and indexes. */
const rowBytes = 1000;

/**
 * Removes the oldest deliveries that exceed the limits, and gives their space back; never the newest, since the next gets the number after
 * it, and never those that wait to be forwarded.
 */
export async function keepWithin({ ms, bytes }: KeepLimits, nowMs: number, db: Db, commit: Commit): Promise<void> {
  const beforeMs = ms === undefined ? 0 : nowMs - ms;
  for (let after: number | undefined = 0; after !== undefined; await setImmediate()) {
    const excess = bytes === undefined ? 0 : usedBytes(db) - bytes;
    after = await commit(() => removeSome(db, { after: after ?? 0, beforeMs, excess }));
  }
  const hasFreePages = () => readPragma(db, 'freelist_count') > minFreePages;
  if (!hasFreePages()) return;
  for (; hasFreePages(); await setImmediate()) db.exec(`PRAGMA incremental_vacuum(${pagesAtOnce})`);
  // The file shrinks when the log is brought into it.
  db.get('PRAGMA wal_checkpoint(TRUNCATE)');
}

interface OldRow {
  seq: number;
  atMs: number;
  eventIds: Uint8Array;
  bytes: number;
  waits: number;
}

/** Removes some rows after one; returns the last it looked at, or `undefined` if no more exceed the limits. */
function removeSome(
  db: Db,
  { after, beforeMs, excess }: { after: number; beforeMs: number; excess: number },
): number | undefined {
  const rows = db.all<OldRow & Record<string, never>>(
    `SELECT seq, at_ms AS atMs, CAST(event_ids AS BLOB) AS eventIds, length(body) AS bytes,
       EXISTS (SELECT 1 FROM outbox WHERE item = seq AND state = 'waiting') AS waits
     FROM delivery WHERE seq > ? AND seq < (SELECT max(seq) FROM delivery) ORDER BY seq LIMIT ?`,
    [after, rowsAtOnce],
  );
  let left = excess;
  const exceeding = rows.filter(({ atMs, bytes, waits }) => {
    const isOver = left > 0 || atMs < beforeMs;
    if (isOver && waits === 0) left -= bytes + rowBytes;
    return isOver;
  });
  for (const { seq, eventIds, waits } of exceeding) if (waits === 0) remove(db, seq, eventIds);
  const oldest = db.value<number>('SELECT min(seq) FROM delivery') ?? 0;
  db.run('DELETE FROM facet WHERE block < ?', [blockOf(oldest)]);
  return exceeding.length < rowsAtOnce ? undefined : rows.at(-1)?.seq;
}

function remove(db: Db, seq: number, eventIds: Uint8Array): void {
  for (const id of (tryParseJson(Buffer.from(eventIds).toString()) ?? []) as string[])
    db.run('DELETE FROM event WHERE id = ? AND seq = ?', [id, seq]);
  db.run('DELETE FROM outbox WHERE item = ?', [seq]);
  db.run('DELETE FROM delivery WHERE seq = ?', [seq]);
}

function readPragma(db: Db, name: 'page_count' | 'freelist_count' | 'page_size'): number {
  return db.value<number>(`PRAGMA ${name}`) ?? 0;
}

function usedBytes(db: Db): number {
  return (readPragma(db, 'page_count') - readPragma(db, 'freelist_count')) * readPragma(db, 'page_size');
}
