import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { parseJson } from '../../api/json.ts';
import { usageError } from '../../errors.ts';
import { readAsset } from '../../lib/files/asset.ts';
import { describeDatabase } from '../../lib/files/database.ts';
import { keepTotals } from '../ledger/figures.ts';
import { freezeClock, getMeta, sandboxNow, setMeta, setWorldOffset, storedNow } from './settings.ts';
import { countRows, type Db } from './store.ts';

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

/** Replaces all data of a database with a new world; the clock is stopped at `frozenMs`, or runs without it. */
export function resetWorld(db: Db, realNowMs: number, kind: WorldKind, frozenMs?: number): void {
  withDemo(db, kind, () => {
    for (const table of describeDatabase(db).tables) db.run(`DELETE FROM ${table}`);
    if (frozenMs !== undefined) freezeClock(db, frozenMs);
    fill(db, realNowMs, kind);
  });
}

/** Runs `act` in a transaction, with the demo world attached if it needs that. */
function withDemo(db: Db, kind: WorldKind, act: () => void): void {
  if (kind === 'empty') return void db.transaction(act);
  const draft = join(tmpdir(), `sotra-demo-${randomUUID()}.tmp`);
  try {
    // In one piece: by default it would be joined from a hundred.
    const bytes = brotliDecompressSync(readAsset('demo.db.br'), { chunkSize: 4 * 1024 * 1024 });
    writeFileSync(draft, bytes, { mode: 0o600, flag: 'wx' });
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
    for (const table of describeDatabase(db).tables)
      if (!ownToWorld.includes(table)) db.run(`INSERT INTO main.${table} SELECT * FROM demo.${table}`);
    const now = sandboxNow(db, realNowMs);
    setWorldOffset(db, now - (db.value<number>('SELECT max(at_ms) FROM trade') ?? now));
  }
  keepTotals(db, storedNow(db, realNowMs));
  describeWorld(db, kind);
}

/** What `describeWorld` writes. */
const ownToWorld = ['meta', 'partner'];

/** Stores the partners with their keys, the kind of a new world, and its row counts, from which `addedTo` tells the user's own rows. */
export function describeWorld(db: Db, kind: WorldKind): void {
  for (const { id, key, suffix } of sandboxPartners)
    db.run('INSERT INTO partner (id, key, suffix) VALUES (?, ?, ?)', [id, key, suffix]);
  setMeta(db, 'world', kind);
  setMeta(db, 'world.counts', JSON.stringify(countOwn(db)));
}

/** The last moment that the sandbox's clock may show: the end of the year 9999. */
const latestMs = Date.UTC(10_000, 0, 1) - 1;

/** Moves the clock forward, frozen or not. Errors: `usage` for a time after the year 9999. */
export function advanceClock(db: Db, byMs: number, realNowMs: number): void {
  db.transaction(() => {
    const now = sandboxNow(db, realNowMs);
    if (now + byMs > latestMs)
      throw usageError(
        `${byMs} ms after ${new Date(now).toISOString()} is after the year 9999`,
        'sotra sandbox reset sets the clock right again.',
      );
    if (getMeta(db, 'clock.frozenMs') !== undefined) freezeClock(db, now + byMs);
    else setMeta(db, 'clock.offsetMs', String(now + byMs - realNowMs));
    keepTotals(db, storedNow(db, realNowMs));
  });
}

const ownTables = { trade: 'trade', comment: 'comment', follow: 'follow', partner_name: 'name', webhook: 'webhook' };

function countOwn(db: Db): Record<string, number> {
  return Object.fromEntries(Object.keys(ownTables).map((table) => [table, countRows(db, table)]));
}

/** What was added to the world since it was made, such as `2 trades`; empty if nothing was. */
export function addedTo(db: Db): string[] {
  const made = parseJson(getMeta(db, 'world.counts') ?? '{}') as Record<string, number>;
  return Object.entries(countOwn(db)).flatMap(([table, count]) => {
    const added = count - (made[table] ?? 0);
    const noun = ownTables[table as keyof typeof ownTables];
    return added > 0 ? [`${added} ${noun}${added === 1 ? '' : 's'}`] : [];
  });
}
