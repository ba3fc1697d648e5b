import { readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { messageOf, SotraError } from '../../errors.ts';
import { type Db, describeDatabase, openDatabase, type SqlValue } from '../../files/database.ts';
import { schema, schemaVersion } from './schema.ts';

export type { Db, SqlValue } from '../../files/database.ts';

const options = {
  cacheKib: 131_072,
  /** Each commit writes whole pages, and `follow bulk` changes one for each new wallet and follow; imports would be a tenth faster with 16384. */
  pageBytes: 4096,
  /** 128 MB. Those that are written again and again go into the database less often. */
  checkpointPages: 32_000,
} as const;

/** The database was written by another version of sotra, which had other tables. */
export class OtherVersion extends SotraError {
  constructor(file: string, version: number) {
    super('config', `the sandbox database ${file} is of another version of sotra (${version}, not ${schemaVersion})`, {
      hint: 'Replace it with sotra sandbox reset --yes, or choose another file with --db or SOTRA_DATA_DIR.',
    });
  }
}

/**
 * Opens a database file, made if absent (mode 0600, its folder 0700). Several processes may hold it at once, unless it `isDraft`. `replace`: what another
 * version of sotra wrote is dropped. Errors: `config` (exit 3) naming the file when it cannot be opened, is damaged, of another program or, as
 * OtherVersion, of another version; it stays as it is.
 */
export function openDb(file: string, { replace = false, isDraft = false } = {}): Db {
  let db: Db | undefined;
  try {
    db = openDatabase(file, { ...options, isDraft, check: (found) => checkOwn(found, replace) });
    makeTables(db);
    // The second name is that of a draft whose process was killed when it had just given it this one.
    if ((statSync(file, { throwIfNoEntry: false })?.nlink ?? 1) > 1) removeDrafts(file);
    return db;
  } catch (cause) {
    db?.close();
    if (cause instanceof SotraError) throw cause;
    throw new SotraError('config', `cannot open the sandbox database ${file}: ${messageOf(cause)}`, {
      hint: 'Move the file away to start over, or choose another with --db or SOTRA_DATA_DIR.',
      cause,
    });
  }
}

/** Where a process makes a demo world, before it puts it in the place of a database. The name is no secret, and `crypto` takes 4 ms to load. */
export const draftOf = (file: string) => `${file}-demo-${Math.random().toString(36).slice(2)}.tmp`;

/** Removes what processes that were killed have left, and what those that came too late would not use. */
export function removeDrafts(file: string): void {
  for (const name of readdirSync(dirname(file)))
    if (name.startsWith(`${basename(file)}-demo-`) && name.endsWith('.tmp'))
      rmSync(join(dirname(file), name), { force: true });
}

/** The id of the newest trade stored; 0 when there is none. */
export function newestTradeId(db: Db): number {
  return db.get<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM trade')?.id ?? 0;
}

/** How many rows `from` has: a table, with conditions on it. */
export function countRows(db: Db, from: string, params: readonly SqlValue[] = []): number {
  return Number(db.get(`SELECT count(*) AS n FROM ${from}`, params)?.['n'] ?? 0);
}

/** Refuses the database of another program before anything is written. */
function checkOwn(db: Db, replace: boolean): void {
  const { version, tables } = describeDatabase(db);
  if (tables.length === 0 && version === 0) return;
  if (version === 0 || !tables.includes('partner'))
    throw new SotraError('config', `${db.file} is a database of another program`, {
      hint: 'Choose another file with --db or SOTRA_DATA_DIR.',
    });
  if (version !== schemaVersion && !replace) throw new OtherVersion(db.file, version);
}

function makeTables(db: Db): void {
  if (describeDatabase(db).version === schemaVersion) return;
  db.transaction(() => {
    const { version, tables } = describeDatabase(db);
    if (version === schemaVersion) return;
    for (const name of tables) db.run(`DROP TABLE ${name}`);
    db.exec(`${schema} PRAGMA user_version = ${schemaVersion}`);
  });
}
