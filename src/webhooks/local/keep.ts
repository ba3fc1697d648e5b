import { setImmediate } from 'node:timers/promises';
import { tryParseJson } from '../../api/json.ts';
import type { Commit, Db } from '../../lib/files/database.ts';
import type { KeepLimits } from '../inbox.ts';
import { blockOf } from './deliveries.ts';

/** Some milliseconds of work: deliveries are stored between two steps. */
const [rowsAtOnce, pagesAtOnce] = [500, 500];
/** Free pages that the next deliveries fill anyway. */
const minFreePages = 128;
/** The size of a delivery beside its body: headers and indexes. */
const rowBytes = 1000;

/**
 * Removes the oldest deliveries that exceed the limits, and gives their space back; never the newest, since the next gets the number after
 * it, and never those that wait to be forwarded.
 */
export async function keepWithin({ ms, bytes }: KeepLimits, nowMs: number, db: Db, commit: Commit): Promise<void> {
  const beforeMs = ms === undefined ? 0 : nowMs - ms;
  for (let after: number | undefined = 0; after !== undefined; await setImmediate()) {
    const excess = bytes === undefined ? 0 : usedBytes(db) - bytes;
    after = await commit(() => removeSome(db, { after: after ?? 0, beforeMs, excess }));
  }
  const hasFreePages = () => readPragma(db, 'freelist_count') > minFreePages;
  if (!hasFreePages()) return;
  for (; hasFreePages(); await setImmediate()) db.exec(`PRAGMA incremental_vacuum(${pagesAtOnce})`);
  // The file shrinks when the log is brought into it.
  db.get('PRAGMA wal_checkpoint(TRUNCATE)');
}

interface OldRow {
  seq: number;
  atMs: number;
  eventIds: Uint8Array;
  bytes: number;
  waits: number;
}

/** Removes some rows after one; returns the last it looked at, or `undefined` if no more exceed the limits. */
function removeSome(
  db: Db,
  { after, beforeMs, excess }: { after: number; beforeMs: number; excess: number },
): number | undefined {
  const rows = db.all<OldRow & Record<string, never>>(
    `SELECT seq, at_ms AS atMs, CAST(event_ids AS BLOB) AS eventIds, length(body) AS bytes,
       EXISTS (SELECT 1 FROM outbox WHERE item = seq AND state = 'waiting') AS waits
     FROM delivery WHERE seq > ? AND seq < (SELECT max(seq) FROM delivery) ORDER BY seq LIMIT ?`,
    [after, rowsAtOnce],
  );
  let left = excess;
  const exceeding = rows.filter(({ atMs, bytes, waits }) => {
    const isOver = left > 0 || atMs < beforeMs;
    if (isOver && waits === 0) left -= bytes + rowBytes;
    return isOver;
  });
  for (const { seq, eventIds, waits } of exceeding) if (waits === 0) remove(db, seq, eventIds);
  const oldest = db.value<number>('SELECT min(seq) FROM delivery') ?? 0;
  db.run('DELETE FROM facet WHERE block < ?', [blockOf(oldest)]);
  return exceeding.length < rowsAtOnce ? undefined : rows.at(-1)?.seq;
}

function remove(db: Db, seq: number, eventIds: Uint8Array): void {
  for (const id of (tryParseJson(Buffer.from(eventIds).toString()) ?? []) as string[])
    db.run('DELETE FROM event WHERE id = ? AND seq = ?', [id, seq]);
  db.run('DELETE FROM outbox WHERE item = ?', [seq]);
  db.run('DELETE FROM delivery WHERE seq = ?', [seq]);
}

function readPragma(db: Db, name: 'page_count' | 'freelist_count' | 'page_size'): number {
  return db.value<number>(`PRAGMA ${name}`) ?? 0;
}

function usedBytes(db: Db): number {
  return (readPragma(db, 'page_count') - readPragma(db, 'freelist_count')) * readPragma(db, 'page_size');
}
