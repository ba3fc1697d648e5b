import { getMeta, setMeta } from '../db/settings.ts';
import { countRows, type Db } from '../db/store.ts';
import { ensureWorld, moveWorld } from '../db/world.ts';
import { addTrades } from './add-trades.ts';
import type { ReadEvent, ReadFailure, RejectedRow } from './read-rows.ts';
import type { Trade } from './trade.ts';

export interface ImportReport {
  rows: number;
  imported: number;
  repeated: number;
  rejected: number;
  skipped: number;
  traders: number;
  tokens: number;
  oldest: string | null;
  newest: string | null;
  newestAgeMs: number | null;
  shiftMs: number;
  worldMovedBackMs: number;
  /** Positions whose figures this file leaves unavailable: it shows only a part of their trades. */
  unavailable: number;
}

export interface ImportOptions {
  db: Db;
  nowMs: number;
  events: AsyncIterable<readonly ReadEvent[]>;
  onRejected: (row: RejectedRow) => void;
  /** Called between two lots with how many of the file's trades are stored and stay, whatever happens later. */
  onStored: (trades: number) => Promise<void>;
  ownTime: boolean;
}

/** Trades that are stored at once. */
const lotSize = 50_000;
const shiftKey = 'import.shiftMs';

/**
 * Reads trades into the sandbox; bad rows are reported. All times move by one constant, which the first import sets so that its newest trade is
 * now; where a later file is newer still, the whole world moves back. Memory: the file. Gives a ReadFailure, with nothing changed, where the
 * file cannot be read or holds no rows.
 */
export async function importTrades(options: ImportOptions): Promise<ImportReport | ReadFailure> {
  const read = await readFile(options);
  if ('kind' in read) return read;
  const { db, nowMs, onStored } = options;
  const { trades, ...counts } = read;
  trades.sort((a, b) => a.atMs - b.atMs);
  const [oldest, newest] = [trades[0], trades.at(-1)];
  ensureWorld(db, nowMs, 'empty');
  const { shiftMs, movedMs } = newest === undefined ? { shiftMs: 0, movedMs: 0 } : settleShift(options, newest.atMs);
  for (const trade of trades) trade.atMs += shiftMs;
  const before = countUnavailable(db);
  const stored = db.get<{ ms: number | null }>('SELECT max(at_ms) AS ms FROM trade')?.ms ?? 0;
  // An older trade makes all that came after it in its position start over: once is enough.
  const size = oldest !== undefined && stored <= oldest.atMs ? lotSize : trades.length;
  const sum = { imported: 0, repeated: 0 };
  for (let from = 0; from < trades.length; from += size) {
    const { added, repeated } = addTrades(db, trades.slice(from, from + size));
    sum.imported += added;
    sum.repeated += repeated;
    if (from + size < trades.length) await onStored(sum.imported);
  }
  const newestMs = newest?.atMs ?? null;
  return {
    ...counts,
    ...sum,
    traders: new Set(trades.map(({ trader }) => trader)).size,
    tokens: new Set(trades.map(({ chain, token }) => `${chain} ${token}`)).size,
    oldest: oldest === undefined ? null : new Date(oldest.atMs).toISOString(),
    newest: newestMs === null ? null : new Date(newestMs).toISOString(),
    newestAgeMs: newestMs === null ? null : nowMs - newestMs,
    shiftMs,
    worldMovedBackMs: movedMs,
    unavailable: Math.max(0, countUnavailable(db) - before),
  };
}

async function readFile({ events: batches, onRejected }: ImportOptions) {
  const read = { rows: 0, rejected: 0, skipped: 0, trades: [] as Trade[] };
  let lastLine = -1;
  for await (const events of batches)
    for (const event of events) {
      if (event.kind === 'fatal') return event;
      const line = event.kind === 'rejected' ? event.row.line : event.line;
      if (line !== lastLine) read.rows += 1;
      lastLine = line;
      if (event.kind === 'trade') read.trades.push(event.trade);
      else read[event.kind] += 1;
      if (event.kind === 'rejected') onRejected(event.row);
    }
  return read.rows > 0 ? read : ({ kind: 'fatal', message: 'holds no trades', hint: rowsHint } as const);
}

const rowsHint = 'Name a file with a row for each trade: CSV below a header, or one JSON object a line.';

function countUnavailable(db: Db): number {
  return countRows(db, "position WHERE state ->> '$.unavailable'");
}

function settleShift({ db, nowMs, ownTime }: ImportOptions, newestMs: number): { shiftMs: number; movedMs: number } {
  return db.transaction(() => {
    const stored = getMeta(db, shiftKey);
    const fresh = nowMs - newestMs;
    if (stored === undefined) setMeta(db, shiftKey, String(fresh));
    if (stored === undefined || ownTime) return { shiftMs: fresh, movedMs: 0 };
    const aheadMs = newestMs + Number(stored) - nowMs;
    if (aheadMs <= 0) return { shiftMs: Number(stored), movedMs: 0 };
    moveWorld(db, -aheadMs);
    setMeta(db, shiftKey, String(Number(stored) - aheadMs));
    return { shiftMs: Number(stored) - aheadMs, movedMs: aheadMs };
  });
}
