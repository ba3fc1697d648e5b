import { parseJson } from '../../api/json.ts';
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
  /** Trades that are stored at once. */
  lotSize?: number;
}

const shiftKey = 'import.shiftMs';

/**
 * Reads trades into the sandbox, by way of a temporary table; bad rows are reported. All times move by one constant, which the first import sets
 * so that its newest trade is now; where a later file is newer still, the whole world moves back. Memory: a lot, or the file where older trades
 * come after newer ones. Gives a ReadFailure, with nothing changed, where the file cannot be read or holds no rows.
 */
export async function importTrades(options: ImportOptions): Promise<ImportReport | ReadFailure> {
  const { db, nowMs, onRejected, onStored, lotSize = 50_000 } = options;
  db.exec(`
    -- Else libsql holds the whole file in memory.
    PRAGMA temp_store = FILE;
    CREATE TEMP TABLE incoming (at_ms INTEGER, trade TEXT);
    CREATE INDEX temp.incoming_time ON incoming (at_ms)`);
  const onTrades = (trades: readonly Trade[]): void => {
    db.run("INSERT INTO incoming SELECT value ->> 'atMs', value FROM json_each(?)", [JSON.stringify(trades)]);
  };
  const counts = await readTradeRows(options.events, { onTrades, onRejected });
  if ('kind' in counts) return counts;
  const { trades, starts, oldestMs, newestMs, ...found } = db.get<Found>(surveySql) as Found;
  ensureWorld(db, nowMs, 'empty');
  const { shiftMs, movedMs } = newestMs === null ? { shiftMs: 0, movedMs: 0 } : settleShift(options, newestMs);
  // Only files that say what was held before show positions in part.
  const countUnavailable = () => (starts > 0 ? countRows(db, "position WHERE state ->> '$.unavailable'") : 0);
  const before = countUnavailable();
  const stored = db.value<number>('SELECT max(at_ms) FROM trade') ?? 0;
  // An older trade makes all that came after it in its position start over: once is enough.
  const size = stored <= (oldestMs ?? 0) + shiftMs ? lotSize : trades;
  const sum = { imported: 0, repeated: 0 };
  for (let from = 0; from < trades; from += size) {
    const lot = db
      .values<string>('SELECT trade FROM incoming ORDER BY at_ms, rowid LIMIT ? OFFSET ?', [size, from])
      .map((trade) => parseJson(trade) as Trade);
    for (const trade of lot) trade.atMs += shiftMs;
    const { added, repeated } = addTrades(db, lot);
    sum.imported += added;
    sum.repeated += repeated;
    if (from + size < trades) await onStored(sum.imported);
  }
  const formatTime = (ms: number | null) => (ms === null ? null : new Date(ms + shiftMs).toISOString());
  return {
    ...counts,
    ...sum,
    ...found,
    oldest: formatTime(oldestMs),
    newest: formatTime(newestMs),
    newestAgeMs: newestMs === null ? null : nowMs - newestMs - shiftMs,
    shiftMs,
    worldMovedBackMs: movedMs,
    unavailable: Math.max(0, countUnavailable() - before),
  };
}

interface Found {
  trades: number;
  traders: number;
  tokens: number;
  /** Trades that say what was held before. */
  starts: number;
  oldestMs: number | null;
  newestMs: number | null;
}

const surveySql = `SELECT count(*) AS trades, count(DISTINCT trade ->> 'trader') AS traders,
    count(DISTINCT (trade ->> 'chain') || ' ' || (trade ->> 'token')) AS tokens, count(trade ->> 'startAmount') AS starts,
    min(at_ms) AS oldestMs, max(at_ms) AS newestMs FROM incoming`;

/** Reads a file to its end; gives how many rows there were of each kind, or a ReadFailure where it cannot be read or holds none. */
export async function readTradeRows(
  batches: AsyncIterable<readonly ReadEvent[]>,
  {
    onTrades,
    onRejected = () => undefined,
  }: { onTrades: (trades: readonly Trade[]) => void; onRejected?: (row: RejectedRow) => void },
) {
  const counts = { rows: 0, rejected: 0, skipped: 0 };
  let lastLine = -1;
  for await (const events of batches) {
    const trades: Trade[] = [];
    for (const event of events) {
      if (event.kind === 'fatal') return event;
      const line = event.kind === 'rejected' ? event.row.line : event.line;
      if (line !== lastLine) counts.rows += 1;
      lastLine = line;
      if (event.kind === 'trade') trades.push(event.trade);
      else counts[event.kind] += 1;
      if (event.kind === 'rejected') onRejected(event.row);
    }
    onTrades(trades);
  }
  return counts.rows > 0 ? counts : ({ kind: 'fatal', message: 'holds no trades', hint: rowsHint } as const);
}

const rowsHint = 'Name a file with a row for each trade: CSV below a header, or one JSON object a line.';

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
