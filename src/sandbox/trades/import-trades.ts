import { type Chain, chains } from '../../model/chain.ts';
import { getMeta, setMeta } from '../db/clock.ts';
import { dropIndexes } from '../db/schema.ts';
import type { Db } from '../db/store.ts';
import { ensureWorld, moveWorld } from '../db/world.ts';
import { type Added, addTrades, byMemory, openBook } from './add-trades.ts';
import type { Fatal, RejectedRow } from './read-rows.ts';
import type { ReadEvent } from './read-trades.ts';
import type { Trade } from './trade.ts';

/** What an import did; the fields of `sandbox import --json`. */
export interface ImportReport {
  /** Rows of the file, without its header. */
  rows: number;
  imported: number;
  /** Rows that were in the sandbox already: the same row twice is one trade. */
  repeated: number;
  rejected: number;
  /** Rows that tell the same trade as another row of the file. */
  skipped: number;
  traders: number;
  tokens: number;
  /** Times in the sandbox of the oldest and newest trade of the file, ISO 8601; `null` without trades. */
  oldest: string | null;
  newest: string | null;
  /** How long before the sandbox's now the newest trade is, in ms; `null` without trades. */
  newestAgeMs: number | null;
  /** What was added to the file's own times, in ms. */
  shiftMs: number;
  /** How far the whole world was moved back so that this file's newest trade is now, in ms. */
  worldMovedBackMs: number;
  /** Positions whose figures this file leaves unavailable: it begins inside them, or what it says was held does not follow from its fills. */
  unavailable: number;
}

export interface ImportOptions {
  db: Db;
  nowMs: number;
  /** Opens the file anew; it is read twice. */
  read: () => AsyncIterable<readonly ReadEvent[]>;
  onRejected: (row: RejectedRow) => void;
  /** Told of each lot how many of its trades are stored and stay, whatever happens later; never for a large file. */
  onStored: (trades: number) => void;
  /** Told what a large file needs once its rows are read, before each piece of that work; where it fails, nothing is stored. */
  onStep: (what: string) => Promise<void>;
  /** The file's newest trade becomes now, whatever was imported before. */
  ownTime: boolean;
}

/** Trades that are stored at once, and so held in memory; few, so that they are gone before the collector moves them. */
const lotSize = 1000;
/** A file with fewer rows keeps the indexes as they are. */
const largeRows = 50_000;
const shiftKey = 'import.shiftMs';

/**
 * Reads trades into the sandbox; good rows are kept, bad ones reported. All times move by one constant, which the first import sets so
 * that its newest trade is now; where a later file is newer still, the whole world moves back. A database without a world gets an empty one.
 * A large file is stored whole or, where something ends it before, not at all. Gives a Fatal, with nothing changed, where the file cannot be
 * read at all.
 */
export async function importTrades(options: ImportOptions): Promise<ImportReport | Fatal> {
  const survey = await surveyFile(options);
  if ('kind' in survey) return survey;
  const { db } = options;
  if (isLarge(db, survey.report.rows)) return db.longTransaction(() => storeFile(options, survey, addLarge));
  return storeFile(options, survey, addLots);
}

async function storeFile(options: ImportOptions, survey: Survey, add: AddAll): Promise<ImportReport> {
  const { db } = options;
  ensureWorld(db, options.nowMs, 'empty');
  const times = survey.newestMs === undefined ? { shiftMs: 0, movedMs: 0 } : settleShift(options, survey.newestMs);
  const lots = lotsOf(options.read(), survey.ascending ? lotSize : Number.POSITIVE_INFINITY, times.shiftMs);
  const before = survey.tellsStarts ? countUnavailable(db) : 0;
  const { added, repeated } = await add(options, lots);
  return {
    ...survey.report,
    imported: added,
    repeated,
    shiftMs: times.shiftMs,
    worldMovedBackMs: times.movedMs,
    unavailable: survey.tellsStarts ? Math.max(0, countUnavailable(db) - before) : 0,
    oldest: toIso(survey.oldestMs, times.shiftMs),
    newest: toIso(survey.newestMs, times.shiftMs),
    newestAgeMs: survey.newestMs === undefined ? null : options.nowMs - survey.newestMs - times.shiftMs,
  };
}

/**
 * The trades of a file in lots, at the times of the sandbox. A file that runs backwards is one: in pieces each would be older than the one
 * before.
 */
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

/** Whether making the indexes anew costs less than keeping them up to date. */
function isLarge(db: Db, rows: number): boolean {
  return rows >= largeRows && rows > (db.get<{ id: number | null }>('SELECT max(id) AS id FROM trade')?.id ?? 0);
}

type AddAll = (options: ImportOptions, lots: AsyncIterable<Trade[]>) => Promise<Added>;

function addLots({ db, onStored }: ImportOptions, lots: AsyncIterable<Trade[]>): Promise<Added> {
  return addEach(lots, (lot) => {
    const done = addTrades(db, lot);
    onStored(done.added);
    return done;
  });
}

/** The indexes are away until the end; call it in a transaction. */
async function addLarge({ db, onStep }: ImportOptions, lots: AsyncIterable<Trade[]>): Promise<Added> {
  const indexes = dropIndexes(db, ['trade', 'position']);
  const book = openBook(db, { dropStored: byMemory(db) });
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

async function addEach(lots: AsyncIterable<Trade[]>, add: (lot: Trade[]) => Added): Promise<Added> {
  const total: Added = { added: 0, repeated: 0 };
  for await (const lot of lots) {
    const { added, repeated } = add(lot);
    total.added += added;
    total.repeated += repeated;
  }
  return total;
}

interface Survey {
  report: ImportReport;
  oldestMs: number | undefined;
  newestMs: number | undefined;
  ascending: boolean;
  /** Some trade says what was held before it. */
  tellsStarts: boolean;
}

async function surveyFile({ read, onRejected }: ImportOptions): Promise<Survey | Fatal> {
  const report: ImportReport = {
    rows: 0,
    imported: 0,
    repeated: 0,
    rejected: 0,
    skipped: 0,
    traders: 0,
    tokens: 0,
    oldest: null,
    newest: null,
    newestAgeMs: null,
    shiftMs: 0,
    worldMovedBackMs: 0,
    unavailable: 0,
  };
  const traders = new Set<string>();
  const tokens = new Map<Chain, Set<string>>(chains.map((chain) => [chain, new Set()]));
  const survey: Survey = { report, oldestMs: undefined, newestMs: undefined, ascending: true, tellsStarts: false };
  let [lastLine, lastMs] = [-1, Number.NEGATIVE_INFINITY];
  for await (const events of read())
    for (const event of events) {
      if (event.kind === 'fatal') return event;
      const line = event.kind === 'rejected' ? event.row.line : event.line;
      if (line !== lastLine) report.rows += 1;
      lastLine = line;
      if (event.kind === 'rejected') {
        report.rejected += 1;
        onRejected(event.row);
      } else if (event.kind === 'skipped') report.skipped += 1;
      else {
        const { trade } = event;
        traders.add(trade.trader);
        tokens.get(trade.chain)?.add(trade.token);
        survey.oldestMs = Math.min(survey.oldestMs ?? trade.atMs, trade.atMs);
        survey.newestMs = Math.max(survey.newestMs ?? trade.atMs, trade.atMs);
        survey.tellsStarts ||= trade.startAmount !== undefined;
        survey.ascending &&= trade.atMs >= lastMs;
        lastMs = trade.atMs;
      }
    }
  report.traders = traders.size;
  for (const { size } of tokens.values()) report.tokens += size;
  return survey;
}

function countUnavailable(db: Db): number {
  return (
    db.get<{ count: number }>("SELECT count(*) AS count FROM position WHERE state ->> '$.unavailable'")?.count ?? 0
  );
}

function settleShift({ db, nowMs, ownTime }: ImportOptions, newestMs: number): { shiftMs: number; movedMs: number } {
  return db.transaction(() => {
    const stored = getMeta(db, shiftKey);
    const fresh = nowMs - newestMs;
    if (stored === undefined || ownTime) {
      if (stored === undefined) setMeta(db, shiftKey, String(fresh));
      return { shiftMs: fresh, movedMs: 0 };
    }
    const known = Number(stored);
    const aheadMs = newestMs + known - nowMs;
    if (aheadMs <= 0) return { shiftMs: known, movedMs: 0 };
    moveWorld(db, -aheadMs);
    setMeta(db, shiftKey, String(known - aheadMs));
    return { shiftMs: known - aheadMs, movedMs: aheadMs };
  });
}

function toIso(atMs: number | undefined, shiftMs: number): string | null {
  return atMs === undefined ? null : new Date(atMs + shiftMs).toISOString();
}
