import { closeSync, constants, fstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Libsql from 'libsql';
import { SotraError } from '../../errors.ts';
import { openStateFile } from '../../files/durable-file.ts';
import { schema, schemaVersion } from './schema.ts';

export type SqlValue = string | number | null;
type SqlRow = Record<string, SqlValue>;

/** The sandbox's database. All calls are synchronous; a write that returned survives the end of the process. */
export interface Db {
  /** Path of the file, or `:memory:`. */
  file: string;
  all: <Row = SqlRow>(sql: string, params?: readonly SqlValue[]) => Row[];
  get: <Row = SqlRow>(sql: string, params?: readonly SqlValue[]) => Row | undefined;
  /** The new row's id. */
  insert: (sql: string, params: readonly SqlValue[]) => number;
  /** Rows changed. */
  run: (sql: string, params?: readonly SqlValue[]) => number;
  /** Everything or nothing; nested calls join the outer one. */
  transaction: <T>(act: () => T) => T;
  /** The same for work that waits for other things meanwhile; only for a connection that does nothing else. */
  longTransaction: <T>(act: () => Promise<T>) => Promise<T>;
  /** Like a transaction, but `false`, with nothing done, where another process is writing just now. */
  tryTransaction: (act: () => void) => boolean;
  /** How long a write waits for that of another process, 20 s at first; nothing else happens in this process meanwhile. */
  setBusyTimeout: (ms: number) => void;
  /** Another text after every change of the database, by any process. */
  version: () => string;
  close: () => void;
}

const busyTimeoutMs = 20_000;
const cacheKib = 65_536;
/** A position with its lots fits into a page; with 4096 an import takes a seventh longer. */
const pageBytes = 16_384;
/** With more pages in the log, those that `follow bulk` writes again and again go into the database less often. */
const checkpointPages = 4000;

/** The database was written by another version of sotra, which had other tables. */
export class OtherVersion extends SotraError {
  constructor(file: string, version: number) {
    super('config', `the sandbox database ${file} is of another version of sotra (${version}, not ${schemaVersion})`, {
      hint: 'Replace it with sotra sandbox reset --yes, or choose another file with --db or SOTRA_DATA_DIR.',
    });
  }
}

/**
 * Opens a database file, made if absent (mode 0600, its folder 0700). Several processes may hold it at once. `replace`: what another version of
 * sotra wrote is dropped. Errors: `config` (exit 3) naming the file when it cannot be opened, is damaged, of another program or, as
 * OtherVersion, of another version; it stays as it is.
 */
export function openDb(file: string, { replace = false } = {}): Db {
  let raw: Libsql.Database | undefined;
  try {
    if (file !== ':memory:') makeFile(file);
    raw = new Libsql(file);
    raw.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    const db = wrap(raw, file);
    checkOwn(db, replace);
    raw.exec(`PRAGMA page_size = ${pageBytes}`);
    useWal(raw);
    raw.exec('PRAGMA synchronous = NORMAL');
    raw.exec(`PRAGMA cache_size = -${cacheKib}`);
    raw.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
    makeTables(db, raw);
    return db;
  } catch (cause) {
    raw?.close();
    if (cause instanceof SotraError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SotraError('config', `cannot open the sandbox database ${file}: ${why}`, {
      hint: 'Move the file away to begin anew, or choose another with --db or SOTRA_DATA_DIR.',
      cause,
    });
  }
}

/** It holds the secrets of webhooks: nobody else may read it, wherever it lies. SQLite gives the files beside it the same mode. */
function makeFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const handle = openStateFile(file, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
  const { size } = fstatSync(handle);
  closeSync(handle);
  // SQLite takes a file that is smaller than its smallest page for an empty one, and overwrites it.
  if (size > 0 && size < 512) throw new Error('file is not a database');
}

/** SQLite's busy timeout holds for reads and writes, and not for this change, which several processes may make at once to a new file. */
function useWal(raw: Libsql.Database): void {
  const napMs = 5;
  for (let left = busyTimeoutMs / napMs; ; left -= 1) {
    try {
      raw.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (left <= 0 || !isLocked(error)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, napMs);
    }
  }
}

/** Whether another process held the database: nothing was done. */
export function isLocked(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
}

function wrap(raw: Libsql.Database, file: string): Db {
  const statements = new Map<string, Libsql.Statement>();
  let ownChanges = 0;
  let timeoutMs = busyTimeoutMs;
  const prepare = (sql: string): Libsql.Statement => {
    const known = statements.get(sql) ?? raw.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  /** What `act` gives; its error says in which file. */
  const addFileName = <T>(act: () => T): T => {
    try {
      return act();
    } catch (error) {
      if (error instanceof Error) error.message = `${error.message} (${file})`;
      throw error;
    }
  };
  const change = (sql: string, params: readonly SqlValue[]): Libsql.RunResult => {
    const result = addFileName(() => prepare(sql).run(params));
    ownChanges += result.changes;
    return result;
  };
  const begin = () => addFileName(() => raw.exec('BEGIN IMMEDIATE'));
  const commit = () => addFileName(() => raw.exec('COMMIT'));
  const rollback = () => {
    // After an error such as a full disk SQLite has already done it.
    if (raw.inTransaction) raw.exec('ROLLBACK');
  };
  const actAndCommit = <T>(act: () => T): T => {
    try {
      const result = act();
      commit();
      return result;
    } catch (error) {
      rollback();
      throw error;
    }
  };
  return {
    file,
    all: <Row>(sql: string, params: readonly SqlValue[] = []) => prepare(sql).all(params) as Row[],
    get: <Row>(sql: string, params: readonly SqlValue[] = []) => {
      const row = prepare(sql).get(params) as (Row & { _metadata?: unknown }) | undefined;
      if (row !== undefined) delete row._metadata; // the driver's own timing, not a column
      return row;
    },
    insert: (sql, params) => Number(change(sql, params).lastInsertRowid),
    run: (sql, params = []) => change(sql, params).changes,
    transaction: (act) => {
      if (raw.inTransaction) return act();
      begin();
      return actAndCommit(act);
    },
    longTransaction: async (act) => {
      begin();
      try {
        const result = await act();
        commit();
        return result;
      } catch (error) {
        rollback();
        throw error;
      }
    },
    tryTransaction: (act) => {
      if (raw.inTransaction) return false;
      raw.exec('PRAGMA busy_timeout = 0');
      try {
        begin();
      } catch {
        return false;
      } finally {
        raw.exec(`PRAGMA busy_timeout = ${timeoutMs}`);
      }
      actAndCommit(act);
      return true;
    },
    setBusyTimeout: (ms) => {
      timeoutMs = ms;
      raw.exec(`PRAGMA busy_timeout = ${ms}`);
    },
    version: () => `${prepare('PRAGMA data_version').raw(true).get()}.${ownChanges}`,
    close: () => raw.close(),
  };
}

/** Refuses the database of another program before anything is written. One statement, as another process may be making the tables. */
function checkOwn(db: Db, replace: boolean): void {
  const found = db.get<{ version: number; tables: number; ours: number }>(
    `SELECT (SELECT user_version FROM pragma_user_version) AS version, COUNT(*) AS tables, COUNT(CASE name WHEN 'partner' THEN 1 END) AS ours
     FROM sqlite_master WHERE type = 'table'`,
  );
  const { version, tables, ours } = found ?? { version: 0, tables: 0, ours: 0 };
  if (tables === 0 && version === 0) return;
  if (version === 0 || ours === 0)
    throw new SotraError('config', `${db.file} is a database of another program`, {
      hint: 'Choose another file with --db or SOTRA_DATA_DIR.',
    });
  if (version !== schemaVersion && !replace) throw new OtherVersion(db.file, version);
}

function makeTables(db: Db, raw: Libsql.Database): void {
  if (versionOf(db) === schemaVersion) return;
  db.transaction(() => {
    if (versionOf(db) === schemaVersion) return;
    const tables = db.all<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    );
    for (const { name } of tables) db.run(`DROP TABLE ${name}`);
    raw.exec(`${schema} PRAGMA user_version = ${schemaVersion}`);
  });
}

function versionOf(db: Db): number {
  return Number(db.get('PRAGMA user_version')?.['user_version'] ?? 0);
}
