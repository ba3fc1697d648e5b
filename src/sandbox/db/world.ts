import { existsSync, linkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { finishDraft } from '../../files/database.ts';
import { makeFolder } from '../../files/folder.ts';
import { parseJson } from '../../model/json.ts';
import { freezeClock, getMeta, sandboxNow, setMeta } from './clock.ts';
import { readDemo } from './demo-file.ts';
import { schema, worldTables } from './schema.ts';
import { countRows, type Db, draftOf, openDb, removeDrafts } from './store.ts';

export const sandboxPartners = [
  { id: 'a', key: 'sandbox-key-a', suffix: '.alpha.test' },
  { id: 'b', key: 'sandbox-key-b', suffix: '.beta.test' },
] as const;

export type WorldKind = 'demo' | 'empty';

/** Fills a new database with a world, once; a database that has one is left alone. Safe with several processes. */
export function ensureWorld(db: Db, realNowMs: number, kind: WorldKind): void {
  if (getMeta(db, 'world') !== undefined) return;
  withDemo(db, (attach) => {
    if (getMeta(db, 'world') === undefined) fill(db, realNowMs, kind, attach);
  });
}

/** Replaces all that a database holds by a new world; the clock is stopped at `frozenMs`, or runs where it is absent. */
export function resetWorld(db: Db, realNowMs: number, kind: WorldKind, frozenMs?: number): void {
  withDemo(db, (attach) => {
    for (const table of ['meta', 'partner', ...worldTables]) db.run(`DELETE FROM ${table}`);
    if (frozenMs !== undefined) freezeClock(db, frozenMs);
    fill(db, realNowMs, kind, attach);
  });
}

/**
 * Makes a new database with the demo world and puts it in its place whole, which takes half as long as filling one that others may open.
 * Where one is there already, or the file system has no links, it does nothing.
 */
export function placeDemo(file: string, nowMs: number, demo = readDemo()): void {
  // SQLite would take the log of a database that was removed for this one's.
  if (file === ':memory:' || existsSync(`${file}-wal`)) return;
  const draft = draftOf(file);
  try {
    makeFolder(dirname(file));
    writeDraft(draft, demo);
    const db = openDb(draft, { isDraft: true });
    db.transaction(() => {
      moveNewest(db, nowMs);
      db.exec(schema);
    });
    db.close();
    finishDraft(draft);
    if (isLinked(draft, file)) removeDrafts(file);
  } catch (error) {
    // Who was sooner removes the drafts of the others.
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

const writeDraft = (file: string, bytes: Buffer) => writeFileSync(file, bytes, { mode: 0o600, flag: 'wx' });

function isLinked(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch {
    return false;
  }
}

/** Runs `act` in a transaction, where it may attach the demo world, unpacked beside the database. */
function withDemo(db: Db, act: (attach: () => void) => void): void {
  const draft = draftOf(db.file === ':memory:' ? join(tmpdir(), 'sotra') : db.file);
  let isAttached = false;
  const attach = () => {
    if (db.file !== ':memory:') removeDrafts(db.file);
    writeDraft(draft, readDemo());
    db.run('ATTACH ? AS demo', [`${pathToFileURL(draft).href}?mode=ro&immutable=1`]);
    isAttached = true;
    removeOpen(draft);
  };
  try {
    db.transaction(() => act(attach));
  } finally {
    if (isAttached) db.run('DETACH demo');
    rmSync(draft, { force: true });
  }
}

/** Removes a file that is still read, so that a kill leaves nothing behind; Windows refuses. */
function removeOpen(file: string): void {
  try {
    rmSync(file);
  } catch {
    // It is removed once it is closed.
  }
}

function fill(db: Db, realNowMs: number, kind: WorldKind, attachDemo: () => void): void {
  if (kind === 'demo') {
    attachDemo();
    // Making the indexes at the end is quicker than keeping them up to date.
    const indexes = dropIndexes(db, worldTables);
    for (const table of worldTables) db.run(`INSERT INTO main.${table} SELECT * FROM demo.${table}`);
    moveNewest(db, sandboxNow(db, realNowMs));
    for (const sql of indexes) db.run(sql);
  }
  describeWorld(db, kind);
}

/** Moves all times so that the newest trade is at `nowMs`. */
function moveNewest(db: Db, nowMs: number): void {
  moveWorld(db, nowMs - (db.get<{ ms: number | null }>('SELECT max(at_ms) AS ms FROM trade')?.ms ?? nowMs));
}

/** Notes whose keys a new world takes, which world it is, and how much of it is not the user's own. */
export function describeWorld(db: Db, kind: WorldKind): void {
  for (const { id, key, suffix } of sandboxPartners)
    db.run('INSERT INTO partner (id, key, suffix) VALUES (?, ?, ?)', [id, key, suffix]);
  setMeta(db, 'world', kind);
  setMeta(db, 'world.counts', JSON.stringify(countOwn(db)));
}

/** Drops those indexes of some tables whose SQL contains a text, for a change of most rows; gives the SQL that makes them again. */
export function dropIndexes(db: Db, tables: readonly string[], containing = ''): string[] {
  const indexes = db.all<{ name: string; sql: string }>(
    `SELECT name, sql FROM sqlite_master
     WHERE type = 'index' AND instr(sql, ?) AND tbl_name IN (SELECT value FROM json_each(?))`,
    [containing, JSON.stringify(tables)],
  );
  for (const { name } of indexes) db.run(`DROP INDEX ${name}`);
  return indexes.map(({ sql }) => sql);
}

const ownTables = { trade: 'trade', comment: 'comment', follow: 'follow', partner_name: 'name', webhook: 'webhook' };

function countOwn(db: Db): Record<string, number> {
  return Object.fromEntries(Object.keys(ownTables).map((table) => [table, countRows(db, table)]));
}

/** What the sandbox holds beyond the world it was made with, such as `2 trades`; empty where nothing was added. */
export function addedTo(db: Db): string[] {
  const made = parseJson(getMeta(db, 'world.counts') ?? '{}') as Record<string, number>;
  return Object.entries(countOwn(db)).flatMap(([table, count]) => {
    const added = count - (made[table] ?? 0);
    const noun = ownTables[table as keyof typeof ownTables];
    return added > 0 ? [`${added} ${noun}${added === 1 ? '' : 's'}`] : [];
  });
}

const moments: readonly (readonly [string, string])[] = [
  ['wallet', 'ready_ms'],
  ['token', 'price_ms'],
  ['trade', 'at_ms'],
  ['position', 'opened_ms'],
  ['position', 'latest_ms'],
  ['follow', 'at_ms'],
  ['comment', 'at_ms'],
  ['reply', 'at_ms'],
  ['copy', 'at_ms'],
  ['intent', 'at_ms'],
  ['intent', 'track_exit_ms'],
  ['webhook', 'at_ms'],
  ['event', 'at_ms'],
];

/** Moves every moment in the world by some milliseconds (negative: into the past); a wallet that was always tracked stays so. */
export function moveWorld(db: Db, byMs: number): void {
  db.transaction(() => {
    for (const [table, column] of moments)
      db.run(`UPDATE ${table} SET ${column} = ${column} + ? WHERE ${column} > 0`, [byMs]);
  });
}
