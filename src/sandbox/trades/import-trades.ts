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
  read: () => AsyncIterable<readonly ReadEvent[]>;
  onRejected: (row: RejectedRow) => void;
  /** Called for each lot with how many of its trades are stored and stay, whatever happens later. */
  onStored: (trades: number) => void;
  ownTime: boolean;
}

/** Trades that are stored at once, and so held in memory. */
const lotSize = 50_000;
const shiftKey = 'import.shiftMs';

/**
 * Reads trades into the sandbox, lot by lot; bad rows are reported. All times move by one constant, which the first import sets so that its newest
 * trade is now; where a later file is newer still, the whole world moves back. Gives a ReadFailure, with nothing changed, where the file cannot
 * be read or holds no rows.
 */
export async function importTrades(options: ImportOptions): Promise<ImportReport | ReadFailure> {
  const survey = await surveyFile(options);
  if ('kind' in survey) return survey;
  const { db, nowMs } = options;
  const { rows, rejected, skipped, traders, tokens, span, isAscending, hasStarts } = survey;
  ensureWorld(db, nowMs, 'empty');
  const { shiftMs, movedMs } = span === undefined ? { shiftMs: 0, movedMs: 0 } : settleShift(options, span.newestMs);
  const before = hasStarts ? countUnavailable(db) : 0;
  const stored = db.get<{ ms: number | null }>('SELECT max(at_ms) AS ms FROM trade')?.ms ?? 0;
  const isInOrder = isAscending && span !== undefined && stored <= span.oldestMs + shiftMs;
  const sum = { imported: 0, repeated: 0 };
  for await (const lot of makeLots(options.read(), isInOrder ? lotSize : Number.POSITIVE_INFINITY)) {
    for (const trade of lot) trade.atMs += shiftMs;
    const { added, repeated } = addTrades(db, lot);
    sum.imported += added;
    sum.repeated += repeated;
    options.onStored(added);
  }
  return {
    rows,
    ...sum,
    rejected,
    skipped,
    traders: traders.size,
    tokens: tokens.size,
    oldest: span === undefined ? null : new Date(span.oldestMs + shiftMs).toISOString(),
    newest: span === undefined ? null : new Date(span.newestMs + shiftMs).toISOString(),
    newestAgeMs: span === undefined ? null : nowMs - span.newestMs - shiftMs,
    shiftMs,
    worldMovedBackMs: movedMs,
    unavailable: hasStarts ? Math.max(0, countUnavailable(db) - before) : 0,
  };
}

/** Trades that are out of order are one lot: an older one makes all that came after it in its position start over. */
async function* makeLots(batches: AsyncIterable<readonly ReadEvent[]>, size: number): AsyncGenerator<Trade[]> {
  let lot: Trade[] = [];
  for await (const events of batches) {
    for (const event of events) if (event.kind === 'trade') lot.push(event.trade);
    if (lot.length < size) continue;
    yield lot;
    lot = [];
  }
  yield lot;
}

interface Survey {
  rows: number;
  rejected: number;
  skipped: number;
  traders: Set<string>;
  tokens: Set<string>;
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
    tokens: new Set(),
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
  return survey.rows > 0 ? survey : { kind: 'fatal', message: 'holds no trades', hint: rowsHint };
}

const rowsHint = 'Name a file with a row for each trade: CSV below a header, or one JSON object a line.';

function surveyTrade(survey: Survey, { trader, chain, token, atMs, startAmount }: Trade): void {
  survey.traders.add(copyText(trader));
  survey.tokens.add(copyText(`${chain} ${token}`));
  survey.span ??= { oldestMs: atMs, newestMs: atMs };
  survey.span.oldestMs = Math.min(survey.span.oldestMs, atMs);
  survey.span.newestMs = Math.max(survey.span.newestMs, atMs);
  survey.hasStarts ||= startAmount !== undefined;
}

/** A text cut out of a file keeps the whole piece that was read in memory. */
function copyText(text: string): string {
  return Buffer.from(text).toString();
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
