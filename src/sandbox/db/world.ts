import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { parseJson } from '../../model/json.ts';
import { dropFigures } from '../trades/figures.ts';
import { freezeClock, getMeta, sandboxNow, setMeta } from './clock.ts';
import { worldTables } from './schema.ts';
import type { Db } from './store.ts';

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

/** The demo world, which the build writes packed to dist/; sources that a test runs lie elsewhere. */
const demoUrl = new URL(import.meta.url.endsWith('.ts') ? '../../../dist/demo.db.br' : 'demo.db.br', import.meta.url);

/** Runs `act` in a transaction, where it may attach the demo world, unpacked beside the database. */
function withDemo(db: Db, act: (attach: () => void) => void): void {
  const start = `${db.file === ':memory:' ? join(tmpdir(), 'sotra') : db.file}-demo-`;
  const file = `${start}${crypto.randomUUID()}.tmp`;
  let isAttached = false;
  const attach = () => {
    // The database is ours: what lies there was left by a process that was killed.
    if (db.file !== ':memory:')
      for (const name of readdirSync(dirname(file)))
        if (name.startsWith(basename(start)) && name.endsWith('.tmp')) rmSync(join(dirname(file), name));
    writeFileSync(file, brotliDecompressSync(readFileSync(demoUrl)), { mode: 0o600 });
    db.run('ATTACH ? AS demo', [`${pathToFileURL(file).href}?mode=ro&immutable=1`]);
    isAttached = true;
    removeOpen(file);
  };
  try {
    db.transaction(() => act(attach));
  } finally {
    if (isAttached) db.run('DETACH demo');
    rmSync(file, { force: true });
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
  for (const { id, key, suffix } of sandboxPartners)
    db.run('INSERT INTO partner (id, key, suffix) VALUES (?, ?, ?)', [id, key, suffix]);
  setMeta(db, 'world', kind);
  if (kind === 'demo') {
    attachDemo();
    copyDemo(db, sandboxNow(db, realNowMs));
  }
  setMeta(db, 'world.counts', JSON.stringify(countOwn(db)));
}

/** Copies the demo world, its newest trade at `nowMs`. Making the indexes at the end is quicker than keeping them up to date. */
function copyDemo(db: Db, nowMs: number): void {
  const indexes = dropIndexes(db, worldTables);
  for (const table of worldTables) db.run(`INSERT INTO main.${table} SELECT * FROM demo.${table}`);
  const newestMs = db.get<{ ms: number }>('SELECT max(at_ms) AS ms FROM trade')?.ms ?? nowMs;
  moveWorld(db, nowMs - newestMs);
  for (const sql of indexes) db.run(sql);
}

/** Drops the indexes of some tables, for a change of most of their rows; gives the SQL that makes them again. */
export function dropIndexes(db: Db, tables: readonly string[]): string[] {
  const indexes = db.all<{ name: string; sql: string }>(
    `SELECT name, sql FROM sqlite_master
     WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(tables)],
  );
  for (const { name } of indexes) db.run(`DROP INDEX ${name}`);
  return indexes.map(({ sql }) => sql);
}

const ownTables = { trade: 'trade', comment: 'comment', follow: 'follow', partner_name: 'name', webhook: 'webhook' };

function countOwn(db: Db): Record<string, number> {
  const count = (table: string) => Number(db.get(`SELECT count(*) AS n FROM ${table}`)?.['n'] ?? 0);
  return Object.fromEntries(Object.keys(ownTables).map((table) => [table, count(table)]));
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
    dropFigures(db);
    for (const [table, column] of moments)
      db.run(`UPDATE ${table} SET ${column} = ${column} + ? WHERE ${column} > 0`, [byMs]);
    db.run(
      `WITH moved AS (SELECT cast(? AS INTEGER) AS ms)
       UPDATE position SET state = json_set(state,
         '$.openedAtMs', (state ->> '$.openedAtMs') + ms,
         '$.latestAtMs', (state ->> '$.latestAtMs') + ms,
         '$.lots', (SELECT json_group_array(json_set(value, '$.atMs', (value ->> '$.atMs') + ms)) FROM json_each(state, '$.lots')))
       FROM moved`,
      [byMs],
    );
  });
}
