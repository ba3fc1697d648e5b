import { createRequire } from 'node:module';
import type Libsql from 'libsql';

const load = createRequire(import.meta.url);

export type SqlValue = string | number | null | Uint8Array;
export type SqlRow = Record<string, SqlValue>;
/** Values of a statement: in order for `?`, by name for `:name`. Each name of the statement must be given: libsql takes NULL for a missing one. */
export type SqlParams = readonly SqlValue[] | Readonly<Record<string, SqlValue>>;

interface Statement {
  all: (params: SqlParams) => unknown[];
  get: (params: SqlParams) => unknown;
  run: (params: SqlParams) => { changes: number; lastInsertRowid: number };
}

/** A connection to SQLite. An error has its name as `code`, such as `SQLITE_BUSY`. */
export interface Connection {
  exec: (sql: string) => void;
  prepare: (sql: string) => Statement;
  close: () => void;
}

/** Opens a file, `:memory:` or a `file:` URL: with Node's own SQLite if it has one (since 22.13), else with libsql. */
export function connect(file: string): Connection {
  const own = loadOwn();
  return own === undefined ? connectLibsql(file) : connectOwn(file, own);
}

type OwnParams = readonly SqlValue[] | readonly [Readonly<Record<string, SqlValue>>];

/** The part of `node:sqlite` in use, which Node 20 lacks. */
interface OwnSqlite {
  DatabaseSync: new (
    file: string,
  ) => {
    exec: (sql: string) => void;
    prepare: (sql: string) => {
      all: (...params: OwnParams) => unknown[];
      get: (...params: OwnParams) => unknown;
      run: (...params: OwnParams) => { changes: number | bigint; lastInsertRowid: number | bigint };
    };
    close: () => void;
  };
}

function loadOwn(): OwnSqlite | undefined {
  try {
    return load('node:sqlite');
  } catch {
    return undefined;
  }
}

function connectOwn(file: string, { DatabaseSync }: OwnSqlite): Connection {
  const opened = named(() => new DatabaseSync(file));
  return {
    exec: (sql) => named(() => opened.exec(sql)),
    prepare: (sql) => {
      const statement = named(() => opened.prepare(sql));
      return {
        all: (params) => named(() => statement.all(...spread(params))),
        get: (params) => named(() => statement.get(...spread(params))),
        run: (params) => {
          const { changes, lastInsertRowid } = named(() => statement.run(...spread(params)));
          return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) };
        },
      };
    },
    close: () => opened.close(),
  };
}

function spread(params: SqlParams): OwnParams {
  return Array.isArray(params) ? params : [params as Readonly<Record<string, SqlValue>>];
}

/** The names of result codes that callers check. Source: sqlite.org/rescode.html */
const codeNames: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  26: 'SQLITE_NOTADB',
  778: 'SQLITE_IOERR_WRITE',
};

/** The result of `act`; an error of SQLite gets the name of its code. */
function named<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    const { errcode } = error as { errcode?: number };
    // The lowest byte is the kind, the others say more of it.
    if (errcode !== undefined)
      Object.assign(error as Error, { code: codeNames[errcode] ?? codeNames[errcode & 0xff] ?? 'SQLITE_ERROR' });
    throw error;
  }
}

function connectLibsql(file: string): Connection {
  const Driver: typeof Libsql = load('libsql');
  const opened = new Driver(file);
  return {
    exec: (sql) => void opened.exec(sql),
    prepare: (sql) => {
      const statement = opened.prepare(sql);
      return {
        all: (params) => statement.all(params),
        get: (params) => {
          const row = statement.get(params) as { _metadata?: unknown } | undefined;
          if (row !== undefined) delete row._metadata; // the driver's own timing, not a column
          return row;
        },
        run: (params) => {
          const { changes, lastInsertRowid } = statement.run(params);
          return { changes, lastInsertRowid: Number(lastInsertRowid) };
        },
      };
    },
    close: () => void opened.close(),
  };
}
