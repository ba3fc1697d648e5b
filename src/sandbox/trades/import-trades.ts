import { type Chain, chains } from '../../model/chain.ts';
import { getMeta, setMeta } from '../db/clock.ts';
import { countRows, type Db, newestTradeId } from '../db/store.ts';
import { dropIndexes, ensureWorld, moveWorld } from '../db/world.ts';
import { type AddCounts, addTrades, openBook, rememberStored } from './add-trades.ts';
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
  read: () => AsyncIterable<readonly ReadEvent[]>;
  onRejected: (row: RejectedRow) => void;
  /** Called for each lot with how many of its trades are stored and stay, whatever happens later; never for a large file. */
  onStored: (trades: number) => void;
  /** Called with what a large file needs once its rows are read, before each piece of that work; where it fails, nothing is stored. */
  onStep: (what: string) => Promise<void>;
  ownTime: boolean;
}

/** Trades that are stored at once, and so held in memory; few, so that they are gone before the collector moves them. */
const lotSize = 1000;
/** A file with fewer rows keeps the indexes as they are. */
const largeRows = 50_000;
const shiftKey = 'import.shiftMs';

/**
 * Reads trades into the sandbox; bad rows are reported. All times move by one constant, which the first import sets so that its newest trade
 * is now; where a later file is newer still, the whole world moves back. A large file is stored whole or not at all. Gives a ReadFailure, with
 * nothing changed, where the file cannot be read.
 */
export async function importTrades(options: ImportOptions): Promise<ImportReport | ReadFailure> {
  const survey = await surveyFile(options);
  if ('kind' in survey) return survey;
  const { db } = options;
  // Making the indexes anew costs less than keeping them up to date where the file holds more than the sandbox.
  const stored = newestTradeId(db);
  if (survey.rows >= largeRows && survey.rows > stored)
    return db.longTransaction(() => storeFile(options, survey, addLarge));
  return storeFile(options, survey, addLots);
}

async function storeFile(options: ImportOptions, survey: Survey, add: typeof addLots): Promise<ImportReport> {
  const { db, nowMs } = options;
  const { rows, rejected, skipped, traders, tokens, span, isAscending, hasStarts } = survey;
  ensureWorld(db, nowMs, 'empty');
  const { shiftMs, movedMs } = span === undefined ? { shiftMs: 0, movedMs: 0 } : settleShift(options, span.newestMs);
  const lots = lotsOf(options.read(), isAscending ? lotSize : Number.POSITIVE_INFINITY, shiftMs);
  const before = hasStarts ? countUnavailable(db) : 0;
  const { added, repeated } = await add(options, lots);
  return {
    rows,
    imported: added,
    repeated,
    rejected,
    skipped,
    traders: traders.size,
    tokens: [...tokens.values()].reduce((sum, { size }) => sum + size, 0),
    oldest: span === undefined ? null : new Date(span.oldestMs + shiftMs).toISOString(),
    newest: span === undefined ? null : new Date(span.newestMs + shiftMs).toISOString(),
    newestAgeMs: span === undefined ? null : nowMs - span.newestMs - shiftMs,
    shiftMs,
    worldMovedBackMs: movedMs,
    unavailable: hasStarts ? Math.max(0, countUnavailable(db) - before) : 0,
  };
}

async function* lotsOf(
  batches: AsyncIterable<readonly ReadEvent[]>,
  size: number,
  shiftMs: number,
): AsyncGenerator<Trade[]> {
  let lot: Trade[] = [];
  for await (const events of batches) {
    for (const event of events) {
      if (event.kind !== 'trade') continue;
      event.trade.atMs += shiftMs;
      lot.push(event.trade);
    }
    if (lot.length < size) continue;
    yield lot;
    lot = [];
  }
  yield lot;
}

function addLots({ db, onStored }: ImportOptions, lots: AsyncIterable<Trade[]>): Promise<AddCounts> {
  return addEach(lots, (lot) => {
    const done = addTrades(db, lot);
    onStored(done.added);
    return done;
  });
}

/** The indexes are away until the end; call it in a transaction. */
async function addLarge({ db, onStep }: ImportOptions, lots: AsyncIterable<Trade[]>): Promise<AddCounts> {
  const indexes = dropIndexes(db, ['trade', 'position']);
  const book = openBook(db, { dropStored: rememberStored(db) });
  const total = await addEach(lots, book.add);
  await onStep('storing the positions');
  book.savePositions();
  for (const [index, sql] of indexes.entries()) {
    await onStep(`making index ${index + 1} of ${indexes.length}`);
    db.run(sql);
  }
  await onStep('writing to the disk');
  book.finish();
  return total;
}

async function addEach(lots: AsyncIterable<Trade[]>, add: (lot: Trade[]) => AddCounts): Promise<AddCounts> {
  const total: AddCounts = { added: 0, repeated: 0 };
  for await (const lot of lots) {
    const { added, repeated } = add(lot);
    total.added += added;
    total.repeated += repeated;
  }
  return total;
}

interface Survey {
  rows: number;
  rejected: number;
  skipped: number;
  traders: Set<string>;
  tokens: Map<Chain, Set<string>>;
  span?: { oldestMs: number; newestMs: number };
  isAscending: boolean;
  hasStarts: boolean;
}

async function surveyFile({ read, onRejected }: ImportOptions): Promise<Survey | ReadFailure> {
  const survey: Survey = {
    rows: 0,
    rejected: 0,
    skipped: 0,
    traders: new Set(),
    tokens: new Map(chains.map((chain) => [chain, new Set()])),
    isAscending: true,
    hasStarts: false,
  };
  let [lastLine, lastMs] = [-1, Number.NEGATIVE_INFINITY];
  for await (const events of read())
    for (const event of events) {
      if (event.kind === 'fatal') return event;
      const line = event.kind === 'rejected' ? event.row.line : event.line;
      if (line !== lastLine) survey.rows += 1;
      lastLine = line;
      if (event.kind === 'rejected') {
        survey.rejected += 1;
        onRejected(event.row);
      } else if (event.kind === 'skipped') survey.skipped += 1;
      else {
        surveyTrade(survey, event.trade);
        survey.isAscending &&= event.trade.atMs >= lastMs;
        lastMs = event.trade.atMs;
      }
    }
  return survey;
}

function surveyTrade(survey: Survey, { trader, chain, token, atMs, startAmount }: Trade): void {
  survey.traders.add(trader);
  survey.tokens.get(chain)?.add(token);
  survey.span ??= { oldestMs: atMs, newestMs: atMs };
  survey.span.oldestMs = Math.min(survey.span.oldestMs, atMs);
  survey.span.newestMs = Math.max(survey.span.newestMs, atMs);
  survey.hasStarts ||= startAmount !== undefined;
}

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
