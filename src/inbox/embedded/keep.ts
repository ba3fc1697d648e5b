import type { Db } from '../../files/database.ts';
import { hourMs } from '../../model/duration.ts';
import { parseJson } from '../../model/json.ts';
import type { KeepLimits } from '../inbox.ts';
import { removeFilters, removeId } from './event-ids.ts';
import { blockSize } from './store.ts';
import { settledSeq } from './waiting.ts';

/** Some milliseconds of work: deliveries are stored between two steps. */
const [rowsAtOnce, pagesAtOnce] = [500, 2000];
/** Free pages that the next deliveries fill anyway. */
const minFreePages = 512;

export interface KeepStep {
  removed: number;
  /** Where the next step goes on; absent: all is done. */
  after?: number;
}

/** Removes some of the oldest deliveries that exceed the limits, or gives some free pages back to the disk. */
export function keepStep(db: Db, { ms, bytes }: KeepLimits, nowMs: number, after: number): KeepStep {
  const isOver = bytes !== undefined && usedBytes(db) > bytes;
  const beforeMs = isOver ? Number.MAX_SAFE_INTEGER : ms === undefined ? 0 : nowMs - ms;
  const step = db.transaction(() => removeOldest(db, { beforeMs, nowMs, after }));
  if (step.after !== undefined) return step;
  if (ms !== undefined)
    for (const table of ['hour', 'latency'])
      db.run(`DELETE FROM ${table} WHERE hour < ?`, [Math.floor((nowMs - ms) / hourMs)]);
  if (pagesOf(db).free <= minFreePages) return step;
  db.exec(`PRAGMA incremental_vacuum(${pagesAtOnce})`);
  if (pagesOf(db).free > minFreePages) return { removed: step.removed, after };
  // The file shrinks when the log is brought into it.
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  return step;
}

function pagesOf(db: Db): { all: number; free: number; bytes: number } {
  const row = db.get<{ all: number; free: number; bytes: number }>(
    `SELECT p.page_count AS "all", f.freelist_count AS free, s.page_size AS bytes
     FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s`,
  );
  return row ?? { all: 0, free: 0, bytes: 0 };
}

function usedBytes(db: Db): number {
  const { all, free, bytes } = pagesOf(db);
  return (all - free) * bytes;
}

/** Never the newest, since the next gets the number after it; never what a target waits for. */
function removeOldest(
  db: Db,
  { beforeMs, nowMs, after }: { beforeMs: number; nowMs: number; after: number },
): KeepStep {
  const rows = db.all<{ seq: number; atMs: number; webhookId: number; eventIds: string }>(
    `SELECT seq, at_ms AS atMs, webhook_id AS webhookId, event_ids AS eventIds FROM delivery
     WHERE seq > ? AND seq < (SELECT max(seq) FROM delivery) ORDER BY seq LIMIT ${rowsAtOnce}`,
    [after],
  );
  const old = rows.filter(({ atMs }) => atMs < beforeMs);
  const lastSeq = old.at(-1)?.seq;
  if (lastSeq === undefined) return { removed: 0 };
  const horizons = new Map<number, number>();
  const horizonOf = (webhookId: number): number => {
    const known = horizons.get(webhookId) ?? settledSeq(db, webhookId, nowMs);
    horizons.set(webhookId, known);
    return known;
  };
  const free = old.filter(({ seq, webhookId }) => seq <= horizonOf(webhookId));
  for (const { seq, eventIds } of free) for (const id of parseJson(eventIds) as string[]) removeId(db, id, seq);
  const seqs = JSON.stringify(free.map(({ seq }) => seq));
  for (const table of ['delivery', 'forward'])
    db.run(`DELETE FROM ${table} WHERE seq IN (SELECT value FROM json_each(?))`, [seqs]);
  db.run('UPDATE total SET deliveries = deliveries - ?', [free.length]);
  const oldest = db.get<{ seq: number }>('SELECT min(seq) AS seq FROM delivery')?.seq ?? 0;
  db.run('DELETE FROM term WHERE block < ?', [Math.floor(oldest / blockSize)]);
  removeFilters(db, oldest);
  return { removed: free.length, after: lastSeq };
}
