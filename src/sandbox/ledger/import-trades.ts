import { usageError } from '../../errors.ts';
import { getMeta, offsetKey, setMeta, setWorldOffset, worldOffset } from '../db/settings.ts';
import { countRows, type Db } from '../db/store.ts';
import { ensureWorld } from '../db/world.ts';
import { addTrades } from './add-trades.ts';
import { keepTotals } from './figures.ts';
import type { ReadEvent, RejectedRow } from './read-rows.ts';
import type { Trade } from './trade.ts';

export type ImportReport = Awaited<ReturnType<typeof importTrades>>;

/** A file of trades as `readTrades` reads it. */
interface TradeFile {
  /** For errors. */
  name: string;
  events: AsyncIterable<readonly ReadEvent[]>;
  onRejected?: (row: RejectedRow) => void;
}

interface ImportOptions extends TradeFile {
  db: Db;
  /** By the sandbox's clock. */
  nowMs: number;
  /** Called after each batch with how many of the file's trades are stored and stay, whatever happens later. */
  onStored: (trades: number) => Promise<void>;
  /** The newest trade of this file is now, whatever an earlier import set. */
  ownTime: boolean;
  batchSize?: number;
}

/** The constant that is added to the times of files, in milliseconds; the first import sets it. */
const shiftKey = 'import.shiftMs';

/**
 * Streams a file into the sandbox, a transaction for each batch; bad rows are reported. All times of files move by one constant, so that
 * the newest trade is now. Memory: a batch, or the whole file if it is the first one in a world that has data already. Errors:
 * `usage`, with nothing changed, for a file that cannot be read or holds no rows.
 */
export async function importTrades(options: ImportOptions) {
  const { db, nowMs, onStored, ownTime, batchSize = 10_000 } = options;
  const counts = { rows: 0, rejected: 0 };
  const sum = { imported: 0, repeated: 0 };
  const [traders, tokens] = [new Set<string>(), new Set<string>()];
  let [oldestMs, newestMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const before = countUnavailable(db);
  const known = ownTime ? undefined : knownShift(db);
  let shiftMs = known ?? 0;
  let movedMs = 0;
  // Every batch changes pages all over the indexes: with 512 MB of them in the log, each is copied into the database less often.
  db.exec('PRAGMA wal_autocheckpoint = 128000');
  try {
    for await (const trades of readBatches(
      options,
      counts,
      known === undefined ? Number.POSITIVE_INFINITY : batchSize,
    )) {
      for (const { chain, trader, token, atMs } of trades) {
        addText(traders, trader);
        addText(tokens, `${chain} ${token}`);
        oldestMs = Math.min(oldestMs, atMs);
        newestMs = Math.max(newestMs, atMs);
      }
      ensureWorld(db, nowMs, 'empty');
      if (known === undefined) shiftMs = nowMs - worldOffset(db) - newestMs;
      if (getMeta(db, shiftKey) === undefined) setMeta(db, shiftKey, String(shiftMs));
      for (const trade of trades) trade.atMs += shiftMs;
      for (let from = 0; from < trades.length; from += batchSize) {
        const { added, repeated } = addTrades(db, trades.slice(from, from + batchSize));
        sum.imported += added;
        sum.repeated += repeated;
        await onStored(sum.imported);
      }
    }
  } finally {
    if (traders.size > 0)
      movedMs = db.transaction(() => {
        const moved = moveClock(db, nowMs, newestMs + shiftMs);
        keepTotals(db, nowMs - worldOffset(db));
        return moved;
      });
  }
  ensureWorld(db, nowMs, 'empty');
  const clockMs = (fileMs: number) => (traders.size === 0 ? null : fileMs + shiftMs + worldOffset(db));
  const formatTime = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  const newest = clockMs(newestMs);
  return {
    ...counts,
    ...sum,
    traders: traders.size,
    tokens: tokens.size,
    oldest: formatTime(clockMs(oldestMs)),
    newest: formatTime(newest),
    newestAgeMs: newest === null ? null : nowMs - newest,
    shiftMs: clockMs(0) ?? 0,
    worldMovedBackMs: movedMs,
    /** Positions whose figures this file leaves unavailable: it shows only a part of their trades. */
    unavailable: Math.max(0, countUnavailable(db) - before),
  };
}

/** Adds a copy: the cell of a row holds on to the part of the file that it was cut from. */
function addText(texts: Set<string>, text: string): void {
  if (!texts.has(text)) texts.add(Buffer.from(text).toString());
}

/** `undefined`: it depends on the newest trade of the file, and trades must be moved before they are stored beside others. */
function knownShift(db: Db): number | undefined {
  const stored = getMeta(db, shiftKey);
  if (stored !== undefined) return Number(stored);
  return countRows(db, 'trade') === 0 ? 0 : undefined;
}

/** Sets the clock of a new world by its newest trade, or moves a world back that would have trades in the future; gives how far. */
function moveClock(db: Db, nowMs: number, newestStoredMs: number): number {
  const aheadMs = newestStoredMs + worldOffset(db) - nowMs;
  const isSet = getMeta(db, offsetKey) !== undefined;
  if (isSet && aheadMs <= 0) return 0;
  setWorldOffset(db, nowMs - newestStoredMs);
  return isSet ? aheadMs : 0;
}

function countUnavailable(db: Db): number {
  return countRows(db, 'position WHERE unavailable = 1');
}

/** The trades of a file in batches, and how many rows it has, in `counts`. Errors: `usage` if it cannot be read or holds no rows. */
async function* readBatches(
  { name, events, onRejected = () => undefined }: TradeFile,
  counts: { rows: number; rejected: number },
  size: number,
): AsyncGenerator<Trade[]> {
  let batch: Trade[] = [];
  let lastLine = -1;
  for await (const read of events)
    for (const event of read) {
      const line = event.kind === 'rejected' ? event.row.line : event.line;
      // A fill that crosses zero is two trades of one row.
      if (line !== lastLine) counts.rows += 1;
      lastLine = line;
      if (event.kind === 'trade') batch.push(event.trade);
      else {
        counts.rejected += 1;
        onRejected(event.row);
      }
      if (batch.length < size) continue;
      yield batch;
      batch = [];
    }
  if (batch.length > 0) yield batch;
  if (counts.rows === 0)
    throw usageError(
      `${name}: holds no trades`,
      'Name a file with a row for each trade: CSV below a header, or one JSON object a line.',
    );
}
