import { closeSync, fdatasync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, SotraError } from '../../errors.ts';
import { codeOf, type Db, describeDatabase, isFull, openDatabase } from '../../files/database.ts';

/** Of the tables below, as SQLite's user_version holds it. */
const schemaVersion = 3;

/** Deliveries of one block of the index of terms. */
export const blockSize = 1024;

/** Times are Unix milliseconds, hours their number since 1970. */
const schema = `
CREATE TABLE webhook (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

CREATE TABLE delivery (
  seq INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  webhook_id INTEGER NOT NULL,
  event_ids TEXT NOT NULL,   -- JSON: the events that no earlier delivery had
  terms TEXT NOT NULL,       -- JSON: what may be asked for, as term holds it
  headers TEXT NOT NULL,     -- JSON: names and values in turn
  body BLOB NOT NULL
);
CREATE INDEX delivery_webhook ON delivery (webhook_id);

CREATE TABLE total (deliveries INTEGER NOT NULL);
INSERT INTO total VALUES (0);

-- In segments of so many deliveries: new ids change the pages of the last one alone, and the filters of the others say of most ids that they
-- are not there.
CREATE TABLE event (segment INTEGER NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (segment, id)) WITHOUT ROWID;
CREATE TABLE event_filter (segment INTEGER PRIMARY KEY, filter BLOB NOT NULL);

-- Which deliveries name an address, a token or a type. Whole blocks of deliveries are added, so that it grows at its end alone: an index
-- over all of it would write a page for every address. What is not in a block yet is looked up in delivery.terms.
CREATE TABLE term (
  block INTEGER NOT NULL, term TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (block, term, seq)
) WITHOUT ROWID;

CREATE TABLE target (
  id INTEGER PRIMARY KEY, url TEXT NOT NULL, event_type TEXT NOT NULL,  -- see rule.ts; '': every event
  start_seq INTEGER NOT NULL,      -- it gets what comes after
  used_ms INTEGER NOT NULL,
  UNIQUE (url, event_type)
);
CREATE TABLE reached (
  target_id INTEGER NOT NULL, webhook_id INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (target_id, webhook_id)
) WITHOUT ROWID;
CREATE TABLE forward (
  seq INTEGER NOT NULL, target_id INTEGER NOT NULL, outcome TEXT NOT NULL,
  status INTEGER, ms INTEGER NOT NULL, tries INTEGER NOT NULL, error TEXT, at_ms INTEGER NOT NULL,
  PRIMARY KEY (seq, target_id)
) WITHOUT ROWID;
CREATE INDEX forward_refused ON forward (seq) WHERE outcome = 'refused';

CREATE TABLE hour (
  hour INTEGER NOT NULL, webhook TEXT NOT NULL,
  received INTEGER NOT NULL, refused_signatures INTEGER NOT NULL, forwarded INTEGER NOT NULL, refused INTEGER NOT NULL,
  first_seq INTEGER, last_seq INTEGER,   -- of what was received in it
  PRIMARY KEY (hour, webhook)
) WITHOUT ROWID;
CREATE TABLE latency (
  hour INTEGER NOT NULL, webhook TEXT NOT NULL, bucket INTEGER NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (hour, webhook, bucket)
) WITHOUT ROWID;
`;

/** Each new id changes a page of its segment, which is written whole: of larger ones fewer come in a second. */
export const pageBytes = 2048;

const options = {
  pageBytes,
  cacheKib: 16_384,
  /** 512 MB: where checkpoints.ts has not done it before. */
  checkpointPages: 262_144,
  shrinks: true,
} as const;

/**
 * Makes safe what was committed: SQLite writes it to its log and syncs that when it is full, so that a commit need not wait for the sync of
 * the one before.
 */
export function startLogSync(file: string) {
  const log = openSync(`${file}-wal`, 'r+');
  let failure: unknown;
  return {
    /** Errors: `local-file`; then for ever, as a disk may say only once what it could not write. */
    sync: async (): Promise<void> => {
      try {
        if (failure === undefined) await promisify(fdatasync)(log);
        if (fstatSync(log).nlink === 0)
          throw new Error('it was deleted while it was in use; the next start makes a new one');
      } catch (cause) {
        failure ??= storeError(cause, file);
      }
      if (failure !== undefined) throw failure;
    },
    close: () => closeSync(log),
  };
}

export const storeFile = (folder: string) => join(folder, 'inbox.db');

/** Opens the store of a folder, made if absent. Errors: `local-file` where it is damaged, of another version or cannot be opened. */
export function openStore(folder: string): Db {
  const file = storeFile(folder);
  let db: Db | undefined;
  try {
    db = openDatabase(file, { ...options, check: checkOwn });
    makeTables(db);
    return db;
  } catch (cause) {
    db?.close();
    throw storeError(cause, file);
  }
}

/** The error for a store that cannot be used, by what SQLite says of it. */
export function storeError(cause: unknown, file: string): SotraError {
  if (cause instanceof SotraError) return cause;
  const code = codeOf(cause);
  const why = messageOf(cause).replace(` (${file})`, '');
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return damagedStore(file, why, cause);
  const hint = isFull(cause)
    ? 'Free some disk space, or listen into a store on another disk: SOTRA_DATA_DIR.'
    : 'See that its folder can be written, or choose another with --name or SOTRA_DATA_DIR.';
  return new SotraError('local-file', `cannot use the store ${file}: ${why}`, { hint, cause });
}

const moveAwayHint = 'Move its folder away, or listen into another store with --name.';

export function damagedStore(file: string, why: string, cause?: unknown): SotraError {
  return new SotraError('local-file', `the store ${file} is damaged: ${why}`, {
    hint: moveAwayHint,
    cause,
  });
}

function checkOwn(db: Db): void {
  const { version, tables } = describeDatabase(db);
  if (tables.length === 0 && version === 0) return;
  if (version === 0 || !tables.includes('delivery'))
    throw new SotraError('local-file', `${db.file} is a database of another program`, {
      hint: 'Move it away, or listen into another store with --name.',
    });
  if (version === schemaVersion) return;
  const [age, fix] = version > schemaVersion ? ['a newer', 'Update sotra'] : ['an older', 'Move its folder away'];
  throw new SotraError(
    'local-file',
    `the store ${db.file} is of ${age} version of sotra (${version}, not ${schemaVersion})`,
    { hint: `${fix}, or listen into another store with --name.` },
  );
}

function makeTables(db: Db): void {
  if (describeDatabase(db).version === schemaVersion) return;
  db.transaction(() => {
    if (describeDatabase(db).version !== schemaVersion) db.exec(`${schema} PRAGMA user_version = ${schemaVersion}`);
  });
}
