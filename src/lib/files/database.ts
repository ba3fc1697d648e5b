import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseJson } from '../../api/json.ts';
import { type ErrorCode, readMessage, SotraError } from '../../errors.ts';
import type { Io } from '../io.ts';
import { makeFolder, refuseOther } from './durable-file.ts';
import { type Connection, connect, type SqlParams, type SqlRow, type SqlValue } from './sqlite.ts';

export type { SqlValue };

/** A database. All calls are synchronous; a write that returned survives the end of the process. */
export interface Db {
  file: string;
  all: <Row = SqlRow>(sql: string, params?: SqlParams) => Row[];
  get: <Row = SqlRow>(sql: string, params?: SqlParams) => Row | undefined;
  /** The first column of all rows. */
  values: <Value extends SqlValue>(sql: string, params?: SqlParams) => Value[];
  /** The first column of the first row; `undefined` also for NULL. */
  value: <Value extends SqlValue>(sql: string, params?: SqlParams) => Value | undefined;
  insert: (sql: string, params: SqlParams) => number;
  run: (sql: string, params?: SqlParams) => number;
  /** Statements without parameters, several at once. */
  exec: (sql: string) => void;
  /** Everything or nothing; nested calls join the outer one. */
  transaction: <T>(act: () => T) => T;
  /** Another text after every change of the database, by any process. */
  version: () => string;
  close: () => void;
}

const busyTimeoutMs = 20_000;

interface DatabaseOptions {
  pageBytes: number;
  cacheKib: number;
  /** With more pages in the log they go into the database. */
  checkpointPages: number;
  /** Free pages can be given back to the disk. */
  shrinks?: boolean;
  /** A commit that returned survives the end of the machine too. */
  isSynced?: boolean;
  /** Checks an existing database before anything is written; throws to refuse it. */
  check: (db: Db) => void;
  /** The error that callers get for one of SQLite. Default: the same. */
  toError?: (cause: unknown, file: string) => unknown;
}

/**
 * Opens a database file, made if absent (mode 0600, its folder 0700). Several processes may hold it at once. Errors: those of the file
 * system, of SQLite, and of `check`.
 */
export function openDatabase(file: string, options: DatabaseOptions): Db {
  let raw: Connection | undefined;
  try {
    if (file !== ':memory:') makeDatabaseFile(file);
    raw = connect(file);
    raw.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    const db = wrap(raw, file, options.toError);
    options.check(db);
    raw.exec(`PRAGMA page_size = ${options.pageBytes}`);
    // In a database that has tables this would write.
    if (options.shrinks && describeDatabase(db).tables.length === 0) raw.exec('PRAGMA auto_vacuum = INCREMENTAL');
    useWal(raw);
    // With NORMAL a crash of the machine may take the last commits.
    raw.exec(`PRAGMA synchronous = ${options.isSynced ? 'FULL' : 'NORMAL'}`);
    raw.exec(`PRAGMA cache_size = -${options.cacheKib}`);
    raw.exec(`PRAGMA wal_autocheckpoint = ${options.checkpointPages}`);
    return db;
  } catch (error) {
    raw?.close();
    throw error;
  }
}

/** The version (SQLite's user_version) and the tables of a database. One statement, as another process may be making the tables. */
export function describeDatabase(db: Db): { version: number; tables: readonly string[] } {
  const found = db.get<{ version: number; tables: string }>(
    `SELECT (SELECT user_version FROM pragma_user_version) AS version, json_group_array(name) AS tables
     FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
  );
  return { version: found?.version ?? 0, tables: parseJson(found?.tables ?? '[]') as string[] };
}

/** The tables of a database, and the errors for a file with other tables. */
export interface Schema {
  /** SQLite's user_version; each change of the tables needs another. */
  version: number;
  sql: string;
  /** One of the tables: a database without it is another program's. */
  ownTable: string;
  /** Such as `the store`. */
  name: string;
  code: ErrorCode;
  hints: { otherProgram: string; otherVersion: string };
}

/** Refuses a database of another program or, unless it is replaced, of another version of sotra. */
export function checkSchema(db: Db, schema: Schema, { replace = false } = {}): void {
  const { version, tables } = describeDatabase(db);
  if (tables.length === 0 && version === 0) return;
  if (version === 0 || !tables.includes(schema.ownTable))
    throw new SotraError(schema.code, `${db.file} belongs to another program`, {
      hint: schema.hints.otherProgram,
    });
  if (version === schema.version || replace) return;
  const found = `written by another version of sotra (${version}, not ${schema.version})`;
  throw new SotraError(schema.code, `${schema.name} ${db.file} was ${found}`, { hint: schema.hints.otherVersion });
}

/** Makes the tables of a new database, and of one that is replaced. */
export function makeTables(db: Db, schema: Schema): void {
  if (describeDatabase(db).version === schema.version) return;
  db.transaction(() => {
    const { version, tables } = describeDatabase(db);
    if (version === schema.version) return;
    for (const table of tables) db.run(`DROP TABLE ${table}`);
    db.exec(`${schema.sql} PRAGMA user_version = ${schema.version}`);
  });
}

/**
 * Makes the file of a database if it is absent, mode 0600, in any folder: it may hold secrets of webhooks. SQLite gives the files beside it the
 * same mode. An existing file is not opened: closing it would drop the locks of other connections of this process, and the next one to close
 * would remove the log.
 */
function makeDatabaseFile(file: string): void {
  makeFolder(dirname(file));
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) throw error;
    refuseOther(file, found);
    accessSync(file, constants.R_OK | constants.W_OK);
    const { size } = found;
    // SQLite takes a file that is smaller than its smallest page for an empty one, and overwrites it.
    if (size > 0 && size < 512) throw Object.assign(new Error('file is not a database'), { code: 'SQLITE_NOTADB' });
  }
}

/** SQLite's busy timeout holds for reads and writes, and not for this change, which several processes may make at once to a new file. */
function useWal(raw: Connection): void {
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

/** Whether another process had locked the database: nothing was done. */
export function isLocked(error: unknown): boolean {
  return readSqlCode(error).startsWith('SQLITE_BUSY');
}

/** Whether the disk, or the database's share of it, is full: nothing was done. */
export function isFull(error: unknown): boolean {
  return /^SQLITE_(?:FULL|IOERR_(?:WRITE|SHMSIZE))$/.test(readSqlCode(error));
}

/** Whether bytes of the database are not as they were written. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(readSqlCode(error));
}

/** The code of an error of SQLite, such as `SQLITE_BUSY`, or of the system, such as `EACCES`; empty for others. */
function readSqlCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

const readFirst = (row: unknown) => Object.values(row ?? {})[0];

function wrap(opened: Connection, file: string, toError: DatabaseOptions['toError'] = (cause) => cause): Db {
  const statements = new Map<string, ReturnType<Connection['prepare']>>();
  let isOpen = true;
  let isInTransaction = false;
  const use = () => {
    if (!isOpen) throw new Error(`the database is closed (${file})`);
    return opened;
  };
  let ownChanges = 0;
  const rollBack = () => {
    try {
      use().exec('ROLLBACK');
    } catch {
      // After an error such as a full disk SQLite has already done so.
    }
  };
  const prepare = (sql: string) => {
    const known = statements.get(sql) ?? use().prepare(sql);
    statements.set(sql, known);
    return known;
  };
  const guard = <T>(act: () => T): T => {
    try {
      return act();
    } catch (cause) {
      throw toError(cause, file);
    }
  };
  const change = (sql: string, params: SqlParams) => {
    const result = guard(() => prepare(sql).run(params));
    ownChanges += result.changes;
    return result;
  };
  return {
    file,
    all: <Row>(sql: string, params: SqlParams = []) => guard(() => prepare(sql).all(params)) as Row[],
    get: <Row>(sql: string, params: SqlParams = []) => guard(() => prepare(sql).get(params)) as Row | undefined,
    values: (sql, params = []) => guard(() => prepare(sql).all(params)).map(readFirst),
    value: (sql, params = []) => readFirst(guard(() => prepare(sql).get(params))) ?? undefined,
    insert: (sql, params) => change(sql, params).lastInsertRowid,
    run: (sql, params = []) => change(sql, params).changes,
    exec: (sql) => guard(() => void use().exec(sql)),
    transaction: (act) => {
      if (isInTransaction) return act();
      guard(() => use().exec('BEGIN IMMEDIATE'));
      isInTransaction = true;
      try {
        const result = act();
        guard(() => use().exec('COMMIT'));
        return result;
      } catch (error) {
        rollBack();
        throw error;
      } finally {
        isInTransaction = false;
      }
    },
    version: () => `${JSON.stringify(prepare('PRAGMA data_version').get([]))}.${ownChanges}`,
    close: () => {
      if (isOpen) opened.close();
      isOpen = false;
      statements.clear();
    },
  };
}

/** Runs a change in the next transaction; resolves with its result once that is committed. */
export type Commit = <T>(change: () => T) => Promise<T>;

/** The most changes of one transaction, so that nothing else waits for long. */
const maxChanges = 256;

interface Pending {
  run: () => unknown;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * Commits changes that come together in one transaction: they share its sync to disk. If the transaction fails, each of its changes is
 * rejected with that error and none is stored. `onCommit` is called after each commit, before those who wait for it.
 */
export function groupCommits(db: Db, onCommit: () => void = () => undefined): Commit {
  let waiting: Pending[] = [];
  let isScheduled = false;
  const commitNext = (): void => {
    const changes = waiting.slice(0, maxChanges);
    waiting = waiting.slice(changes.length);
    isScheduled = waiting.length > 0;
    if (isScheduled) setImmediate(commitNext);
    let results: unknown[];
    try {
      results = db.transaction(() => changes.map(({ run }) => run()));
    } catch (error) {
      for (const { reject } of changes) reject(error);
      return;
    }
    onCommit();
    for (const [index, { resolve }] of changes.entries()) resolve(results[index]);
  };
  return (run) =>
    new Promise((resolve, reject) => {
      waiting.push({ run, resolve: resolve as Pending['resolve'], reject });
      // Whatever comes in this turn of the event loop is committed together.
      if (!isScheduled) setImmediate(commitNext);
      isScheduled = true;
    });
}

export type LockIo = Pick<Io, 'random' | 'sleep' | 'signal'>;

/**
 * Takes a lock, and returns the function that releases it; the system releases it if the process dies. Errors: `locked` naming `what`;
 * `local-file`.
 */
export function takeLock(file: string, what: string): () => void {
  const release = tryLock(file);
  if (release !== undefined) return release;
  throw locked(`${what} is in use by another process`);
}

// Some 10 s: locks last for milliseconds.
const maxTries = 600;
const minWaitMs = 5;
const waitSpreadMs = 25;

/** The result of `act`, under a lock that it waits for. Errors: `locked` naming the file; `interrupted`; those of `act` and of `takeLock`. */
export async function withLock<T>(file: string, io: LockIo, act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const release = tryLock(file);
    if (release !== undefined)
      try {
        return await act();
      } finally {
        release();
      }
    if (tries === maxTries) throw locked(`another process holds ${file}`);
    await io.sleep(minWaitMs + io.random() * waitSpreadMs, io.signal);
  }
}

/** The function that releases the lock; `undefined` if it is taken. SQLite locks an empty database, which stays: removing it would be a race. */
export function tryLock(file: string): (() => void) | undefined {
  let connection: ReturnType<typeof connect> | undefined;
  try {
    makeDatabaseFile(file);
    connection = connect(file);
    connection.exec('PRAGMA busy_timeout = 0');
    // Nothing is written, so no journal is needed, which would be one more file.
    connection.exec('PRAGMA journal_mode = OFF');
    connection.exec('BEGIN EXCLUSIVE');
    return connection.close;
  } catch (cause) {
    connection?.close();
    if (isLocked(cause)) return undefined;
    if (cause instanceof SotraError) throw cause;
    throw new SotraError('local-file', `cannot lock ${file}: ${readMessage(cause)}`, {
      hint: 'Correct the permissions of its folder, or remove it if it is not a lock of sotra.',
      cause,
    });
  }
}

function locked(message: string): SotraError {
  return new SotraError('locked', message, { hint: 'Wait until it has ended, or end it.' });
}
