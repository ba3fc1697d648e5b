import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readMessage, SotraError } from '../../errors.ts';
import {
  type Db,
  describeDatabase,
  isDamage,
  isFull,
  openDatabase,
  openReadOnly,
  readSqlCode,
} from '../../lib/files/database.ts';
import type { OnDamaged } from '../inbox.ts';

/** Of the tables below, as SQLite's user_version holds it. */
const schemaVersion = 5;

/** Times are Unix milliseconds, days their number since 1970. */
const schema = `
CREATE TABLE webhook (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

CREATE TABLE delivery (
  seq INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  webhook_id INTEGER NOT NULL,
  event_ids TEXT NOT NULL,   -- JSON: the events that no earlier delivery had
  headers TEXT NOT NULL,     -- JSON: names and values in turn
  body BLOB NOT NULL
);
-- Says what there is without a look at the deliveries: a damaged page costs only those on it.
CREATE INDEX delivery_seq ON delivery (seq, at_ms);

-- By day, so that new ids go to the pages of one day: over all ids, each would change a page somewhere.
CREATE TABLE event (day INTEGER NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (day, id)) WITHOUT ROWID;

-- What deliveries can be found by, see indexedWords; the rowid is the number of the delivery.
CREATE VIRTUAL TABLE term USING fts5 (terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');

CREATE TABLE target (
  id INTEGER PRIMARY KEY,
  url TEXT NOT NULL,
  rule TEXT NOT NULL,        -- JSON: which events it is sent
  used_ms INTEGER NOT NULL,
  UNIQUE (url, rule)
);
CREATE TABLE waiting (
  target_id INTEGER NOT NULL, webhook_id INTEGER NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (target_id, webhook_id, seq)
) WITHOUT ROWID;
CREATE INDEX waiting_seq ON waiting (seq);
CREATE TABLE retry (
  target_id INTEGER NOT NULL, webhook_id INTEGER NOT NULL, seq INTEGER NOT NULL,
  failed_try TEXT NOT NULL,  -- JSON
  PRIMARY KEY (target_id, webhook_id)
) WITHOUT ROWID;
CREATE TABLE forward (
  seq INTEGER NOT NULL, target_id INTEGER NOT NULL, outcome TEXT NOT NULL,
  status INTEGER, ms INTEGER NOT NULL, tries INTEGER NOT NULL, error TEXT, at_ms INTEGER NOT NULL,
  PRIMARY KEY (seq, target_id)
) WITHOUT ROWID;
CREATE INDEX forward_refused ON forward (seq) WHERE outcome = 'refused';
`;

const options = {
  pageBytes: 8192,
  cacheKib: 16_384,
  checkpointPages: 500,
  shrinks: true,
  isSynced: true,
} as const;

export interface Store {
  db: Db;
  onDamaged: OnDamaged;
}

const storeFile = (folder: string) => join(folder, 'inbox.db');

/**
 * Opens the store of a folder, made if absent; one that lies where nothing can be written can be read. Errors: `local-file` where it is
 * damaged, of another version or cannot be opened.
 */
export function openStore(folder: string, { mayWrite }: { mayWrite: boolean }): Db {
  const file = storeFile(folder);
  let db: Db | undefined;
  try {
    db = openDatabase(file, { ...options, check: checkOwn });
    makeTables(db);
    return db;
  } catch (cause) {
    db?.close();
    if (!mayWrite && existsSync(file) && isUnwritable(cause)) return readOnly(file);
    throw storeError(cause, file);
  }
}

function readOnly(file: string): Db {
  try {
    return openReadOnly(file, checkOwn);
  } catch (cause) {
    throw storeError(cause, file);
  }
}

function isUnwritable(cause: unknown): boolean {
  return /^(?:EROFS|EACCES|EPERM|SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_IOERR)/.test(readSqlCode(cause));
}

/** What `act` gives; what SQLite throws becomes an error that names the store. */
export function naming<T>({ file }: Db, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    throw storeError(cause, file);
  }
}

/** The error for a store that cannot be used, by what SQLite says of it. */
export function storeError(cause: unknown, file: string): SotraError {
  if (cause instanceof SotraError) return cause;
  const why = readMessage(cause).replace(` (${file})`, '');
  if (isDamage(cause))
    return new SotraError('local-file', `the store ${file} is damaged: ${why}`, {
      hint: 'Move its folder away, or listen into another store with --name.',
      cause,
    });
  const hint = isFull(cause)
    ? 'Free some disk space, or listen into a store on another disk: SOTRA_DATA_DIR.'
    : 'See that its folder can be written, or choose another with --name or SOTRA_DATA_DIR.';
  return new SotraError('local-file', `cannot use the store ${file}: ${why}`, { hint, cause });
}

function checkOwn(db: Db): void {
  const { version, tables } = describeDatabase(db);
  if (tables.length === 0 && version === 0) return;
  if (version === 0 || !tables.includes('delivery'))
    throw new SotraError('local-file', `${db.file} is a database of another program`, {
      hint: 'Move it away, or listen into another store with --name.',
    });
  if (version === schemaVersion) return;
  const [age, fix] =
    version > schemaVersion
      ? ['a newer', 'Update sotra']
      : ['an older', 'Move its folder away (the version that wrote it reads it)'];
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
