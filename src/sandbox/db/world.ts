import { existsSync, linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { finishDraft } from '../../files/database.ts';
import { makeFolder } from '../../files/durable-file.ts';
import { parseJson } from '../../model/json.ts';
import { freezeClock, getMeta, sandboxNow, setMeta } from './settings.ts';
import { countRows, type Db, openDb, schema, worldTables } from './store.ts';

export const sandboxPartners = [
  { id: 'a', key: 'sandbox-key-a', suffix: '.alpha.test' },
  { id: 'b', key: 'sandbox-key-b', suffix: '.beta.test' },
] as const;

export type WorldKind = 'demo' | 'empty';

/** Fills a new database with a world, once; a database that has one is left alone. Safe with several processes. */
export function ensureWorld(db: Db, realNowMs: number, kind: WorldKind): void {
  if (getMeta(db, 'world') !== undefined) return;
  withDemo(db, kind, () => {
    if (getMeta(db, 'world') === undefined) fill(db, realNowMs, kind);
  });
}

/** Replaces all that a database holds by a new world; the clock is stopped at `frozenMs`, or runs where it is absent. */
export function resetWorld(db: Db, realNowMs: number, kind: WorldKind, frozenMs?: number): void {
  withDemo(db, kind, () => {
    for (const table of ['meta', 'partner', ...worldTables]) db.run(`DELETE FROM ${table}`);
    if (frozenMs !== undefined) freezeClock(db, frozenMs);
    fill(db, realNowMs, kind);
  });
}

/**
 * Makes a new database with the demo world and puts it in its place whole, which takes less than half as long as filling one that others may
 * open. Where one is there already, or the file system has no links, it does nothing.
 */
export function placeDemo(file: string, nowMs: number): void {
  // SQLite would take the log of a database that was removed for this one's.
  if (file === ':memory:' || existsSync(`${file}-wal`)) return;
  const folder = dirname(file);
  const start = `${basename(file)}-demo-`;
  const draft = join(folder, randomName(start));
  try {
    makeFolder(folder);
    writeDemo(draft);
    const db = openDb(draft, { isDraft: true });
    db.transaction(() => {
      moveNewest(db, nowMs);
      db.exec(schema);
    });
    db.close();
    finishDraft(draft);
    if (isLinked(draft, file))
      // Also what processes that were killed have left.
      for (const name of readdirSync(folder))
        if (name.startsWith(start) && name.endsWith('.tmp')) rmSync(join(folder, name), { force: true });
  } catch (error) {
    // Who was sooner removes the drafts of the others.
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** It is no secret, and `crypto` takes 4 ms to load. */
const randomName = (start: string) => `${start}${Math.random().toString(36).slice(2)}.tmp`;

/** The database of a demo sandbox, which the build writes packed to dist/; sources that a test runs lie elsewhere. */
const demoUrl = new URL(import.meta.url.endsWith('.ts') ? '../../../dist/demo.db.br' : 'demo.db.br', import.meta.url);

function writeDemo(file: string): void {
  // In one piece: by default it would be put together from a hundred.
  const bytes = brotliDecompressSync(readFileSync(demoUrl), { chunkSize: 4 * 1024 * 1024 });
  writeFileSync(file, bytes, { mode: 0o600, flag: 'wx' });
}

function isLinked(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch {
    return false;
  }
}

/** Runs `act` in a transaction, beside the demo world where that is what it needs. */
function withDemo(db: Db, kind: WorldKind, act: () => void): void {
  if (kind === 'empty') return void db.transaction(act);
  const draft = join(tmpdir(), randomName('sotra-demo-'));
  try {
    writeDemo(draft);
    db.run('ATTACH ? AS demo', [`${pathToFileURL(draft).href}?mode=ro&immutable=1`]);
    try {
      db.transaction(act);
    } finally {
      db.run('DETACH demo');
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

function fill(db: Db, realNowMs: number, kind: WorldKind): void {
  if (kind === 'demo') {
    for (const table of worldTables) db.run(`INSERT INTO main.${table} SELECT * FROM demo.${table}`);
    moveNewest(db, sandboxNow(db, realNowMs));
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
