import { statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { dayMs } from '../../api/duration.ts';
import { tryParseJson } from '../../api/json.ts';
import { SotraError } from '../../errors.ts';
import type { Db } from '../../lib/files/database.ts';
import { type KeepLimits, targetMs } from '../inbox.ts';
import { readRows, text } from './rows.ts';

/** Some milliseconds of work: deliveries are stored between two steps. */
const [rowsAtOnce, pagesAtOnce] = [500, 500];
/** Free pages that the next deliveries fill anyway. */
const minFreePages = 128;

/** Removes the oldest deliveries: never the newest, since the next gets the number after it, and never what a target waits for. */
export interface Keeper {
  /** Removes what exceeds the limits and gives its space back; keeps the size from then on. */
  keep: (limits: KeepLimits, nowMs: number) => Promise<void>;
  /** To be called in a transaction that added deliveries: removes more than those where all take too much space. */
  trim: (added: number) => void;
  /** What may be added at once. */
  batchBytes: () => number;
  /** Errors: `local-file` where the store takes twice the limit. */
  makeRoom: () => void;
}

export function createKeeper(db: Db, now: () => number): Keeper {
  let limit = Number.POSITIVE_INFINITY;
  /** What is before it and still there waits. */
  let passed = 0;
  /** Of those that are too old, or else as many as take too much space; whether that was all. */
  const removeSome = (beforeMs: number, nowMs: number, atMost: number): boolean => {
    let excess = usedBytes(db) - limit;
    const rows = oldest(db, { after: passed, atMost, usedMs: nowMs - targetMs });
    const free: OldRow[] = [];
    let isOver = false;
    for (const row of rows) {
      if (excess <= 0 && row.atMs >= beforeMs) continue;
      isOver = true;
      passed = row.seq;
      if (row.waits === 1) continue;
      free.push(row);
      excess -= row.bytes;
    }
    remove(db, free);
    return !isOver || rows.length < atMost;
  };
  const setLimit = (bytes: number | undefined): void => {
    if (bytes === undefined || bytes === limit) return;
    limit = bytes;
    const logBytes = Math.floor(limit / 8);
    db.exec(`PRAGMA journal_size_limit = ${logBytes}`);
    db.exec(
      `PRAGMA wal_autocheckpoint = ${Math.max(16, Math.min(500, Math.floor(logBytes / readPragma(db, 'page_size'))))}`,
    );
  };
  return {
    keep: async ({ ms, bytes }, nowMs) => {
      setLimit(bytes);
      passed = 0;
      const oldMs = ms === undefined ? 0 : nowMs - ms;
      for (let isDone = false; !isDone; await setImmediate())
        isDone = db.transaction(() => removeSome(oldMs, nowMs, rowsAtOnce));
      const hasFreePages = () => readPragma(db, 'freelist_count') > minFreePages;
      if (!hasFreePages()) return;
      for (; hasFreePages(); await setImmediate()) db.exec(`PRAGMA incremental_vacuum(${pagesAtOnce})`);
      // The file shrinks when the log is brought into it.
      db.get('PRAGMA wal_checkpoint(TRUNCATE)');
    },
    trim: (added) => {
      if (limit < Number.POSITIVE_INFINITY) removeSome(0, now(), 2 * added + 10);
    },
    batchBytes: () => limit / 8,
    makeRoom: () => {
      if (diskBytes(db) <= 2 * limit) return;
      db.transaction(() => removeSome(0, now(), rowsAtOnce));
      db.exec(`PRAGMA incremental_vacuum(${pagesAtOnce})`);
      db.get('PRAGMA wal_checkpoint(TRUNCATE)');
      if (diskBytes(db) <= 2 * limit) return;
      throw new SotraError('local-file', `the store ${db.file} takes more than twice the ${limit} bytes of --keep`, {
        hint: 'What waits to be forwarded is not removed: see that its target takes it, or give a larger --keep.',
      });
    },
  };
}

function readPragma(db: Db, name: 'page_count' | 'freelist_count' | 'page_size'): number {
  return db.value<number>(`PRAGMA ${name}`) ?? 0;
}

function usedBytes(db: Db): number {
  return (readPragma(db, 'page_count') - readPragma(db, 'freelist_count')) * readPragma(db, 'page_size');
}

function diskBytes({ file }: Db): number {
  return [file, `${file}-wal`].reduce((sum, each) => sum + (statSync(each, { throwIfNoEntry: false })?.size ?? 0), 0);
}

interface OldRow {
  seq: number;
  atMs: number;
  eventIds: string;
  bytes: number;
  waits: number;
}

function oldest(db: Db, { after, atMost, usedMs }: { after: number; atMost: number; usedMs: number }): OldRow[] {
  return readRows(
    db,
    `SELECT d.seq, d.at_ms AS atMs, ${text('d.event_ids', 'eventIds')}, length(d.body) AS bytes,
       EXISTS (SELECT 1 FROM waiting w JOIN target t ON t.id = w.target_id WHERE w.seq = d.seq AND t.used_ms > ?) AS waits
     FROM delivery d WHERE d.seq > ? AND d.seq < (SELECT max(seq) FROM delivery) ORDER BY d.seq LIMIT ?`,
    [usedMs, after, atMost],
  );
}

function remove(db: Db, rows: readonly OldRow[]): void {
  if (rows.length === 0) return;
  for (const { atMs, eventIds } of rows)
    for (const id of (tryParseJson(eventIds) ?? []) as string[])
      db.run('DELETE FROM event WHERE day = ? AND id = ?', [Math.floor(atMs / dayMs), id]);
  const seqs = JSON.stringify(rows.map(({ seq }) => seq));
  for (const [table, key] of [
    ['term', 'rowid'],
    ['forward', 'seq'],
    ['waiting', 'seq'],
    ['delivery', 'seq'],
  ])
    db.run(`DELETE FROM ${table} WHERE ${key} IN (SELECT value FROM json_each(?))`, [seqs]);
}
