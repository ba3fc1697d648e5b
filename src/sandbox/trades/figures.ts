import { type LeaderboardChain, leaderboardChains } from '../../model/chain.ts';
import { dayMs } from '../../model/duration.ts';
import { getMeta, moreChains, setMeta } from '../db/clock.ts';
import { type Db, newestTradeId, type SqlValue } from '../db/store.ts';
import { oneOf } from './trade.ts';

export type Timeframe = '7d' | '30d';

export const windowMs: Readonly<Record<Timeframe, number>> = { '7d': 7 * dayMs, '30d': 30 * dayMs };
const timeframes: readonly Timeframe[] = ['7d', '30d'];

export const keptAtKey = 'figures.atMs';
/** Sums are kept in worlds of at least as many trades; in smaller ones adding up is as quick. */
const minTrades = 1000;
/** Sums older than this are not mended but made anew. */
const maxAgeMs = dayMs / 2;
/** Profiles whose sums are added up beside the kept ones; with more, the kept ones are mended first. */
const maxStaleProfiles = 200;
/** Wallets that may trade at once before the kept sums are not worth mending. */
const maxStaleWallets = 2000;

/** Sums over the trades of one wallet on one chain inside a window. USD; `costUsd` is the cost of what was sold (margin on perps). */
export interface WindowFigures {
  wallet: string;
  profileId: string;
  chain: LeaderboardChain;
  pnl: number;
  costUsd: number;
  volumeUsd: number;
  trades: number;
  exits: number;
  wins: number;
}

/** One row a wallet and chain that traded inside the window that ends now, for some profiles or for all; the chains of leaderboards only. */
export function windowFigures(
  db: Db,
  timeframe: Timeframe,
  nowMs: number,
  profileIds?: readonly string[],
): WindowFigures[] {
  const { sql, params } = unionOf(figuresAt(db, timeframe, nowMs, { profileIds }));
  return db.all<WindowFigures>(
    `SELECT wallet, profile_id AS profileId, chain, pnl, cost_usd AS costUsd, volume_usd AS volumeUsd, trades, exits, wins
     FROM (${sql}) ORDER BY wallet, chain`,
    params,
  );
}

/** A table of sums per wallet and chain for a FROM clause: profile_id, wallet, chain, pnl, cost_usd, volume_usd, trades, exits, wins. */
interface SumTable {
  sql: string;
  params: SqlValue[];
}

/**
 * The sums of the window that ends now: kept ones where they still hold, the rest added up from the trades, no profile in both tables. A
 * large world keeps new sums, unless another process is writing, the disk is full or `isPassing`: nobody asks for that moment again.
 */
export function figuresAt(
  db: Db,
  timeframe: Timeframe,
  nowMs: number,
  { profileIds, isPassing = false }: { profileIds?: readonly string[] | undefined; isPassing?: boolean } = {},
): SumTable[] {
  const stale = staleProfiles(db, nowMs, isPassing);
  if (stale === undefined) return [sumsOf(db, timeframe, nowMs, profileIds)];
  const isStale = new Set(stale);
  const wanted = profileIds?.filter((id) => !isStale.has(id));
  const kept = {
    sql: `SELECT profile_id, wallet, chain, pnl, cost_usd, volume_usd, trades, exits, wins FROM figure
      WHERE days = ? AND profile_id ${wanted === undefined ? 'NOT ' : ''}${oneOf}`,
    params: [daysOf(timeframe), JSON.stringify(wanted ?? stale)],
  };
  return [kept, sumsOf(db, timeframe, nowMs, profileIds?.filter((id) => isStale.has(id)) ?? stale)];
}

/** The rows of all of some queries. */
export function unionOf(tables: readonly SumTable[]): SumTable {
  return { sql: tables.map(({ sql }) => sql).join(' UNION ALL '), params: tables.flatMap(({ params }) => params) };
}

/** Says that wallets have other trades than before; call it in the transaction that changes them. */
export function markFiguresStale(db: Db, wallets: readonly string[]): void {
  if (getMeta(db, keptAtKey) === undefined) return;
  if (wallets.length > maxStaleWallets) db.run('DELETE FROM meta WHERE key = ?', [keptAtKey]);
  else
    db.run(`INSERT OR IGNORE INTO figure_stale (profile_id) SELECT profile_id FROM wallet WHERE address ${oneOf}`, [
      JSON.stringify(wallets),
    ]);
}

/** Call it where all trades move by as much: the kept sums are then those of a moment that moved with them. */
export function moveFigures(db: Db, byMs: number): void {
  const kept = getMeta(db, keptAtKey);
  if (kept !== undefined) setMeta(db, keptAtKey, String(Number(kept) + byMs));
}

function staleProfiles(db: Db, nowMs: number, isPassing: boolean): string[] | undefined {
  const largest = newestTradeId(db);
  if (largest < minTrades) return undefined;
  const stale = staleSince(db, nowMs);
  if (isPassing || (stale !== undefined && stale.length <= maxStaleProfiles)) return stale;
  const isKept = db.tryTransaction(() => keepFigures(db, nowMs));
  return isKept ? [] : stale;
}

/** Profiles with a trade that came into a window or left one since the sums were kept, or that was stored since. */
function staleSince(db: Db, nowMs: number): string[] | undefined {
  const kept = getMeta(db, keptAtKey);
  if (kept === undefined || Math.abs(nowMs - Number(kept)) > maxAgeMs) return undefined;
  const [fromMs, toMs] = [Math.min(nowMs, Number(kept)), Math.max(nowMs, Number(kept))];
  const edges = [0, windowMs['7d'], windowMs['30d']].flatMap((ms) => [fromMs - ms, toMs - ms]);
  const between = 'SELECT wallet FROM trade WHERE at_ms > ? AND at_ms <= ?';
  const rows = db.all<{ id: string }>(
    `SELECT profile_id AS id FROM figure_stale UNION
     SELECT w.profile_id FROM (${between} UNION ${between} UNION ${between}) t JOIN wallet w ON w.address = t.wallet`,
    edges,
  );
  return rows.map(({ id }) => id);
}

/** Keeps the sums of the windows that end now, or mends the kept ones; call it in a transaction. */
export function keepFigures(db: Db, nowMs: number): void {
  const stale = staleSince(db, nowMs);
  const only = stale === undefined ? '' : `WHERE days IN (7, 30) AND profile_id ${oneOf}`;
  db.run(`DELETE FROM figure ${only}`, stale === undefined ? [] : [JSON.stringify(stale)]);
  for (const timeframe of timeframes) {
    const { sql, params } = sumsOf(db, timeframe, nowMs, stale);
    db.run(
      `INSERT INTO figure (days, profile_id, wallet, chain, pnl, cost_usd, volume_usd, trades, exits, wins)
       SELECT ?, * FROM (${sql}) ORDER BY profile_id, wallet, chain`,
      [daysOf(timeframe), ...params],
    );
  }
  db.run('DELETE FROM figure_stale');
  setMeta(db, keptAtKey, String(nowMs));
}

/** One row a wallet and chain that traded. For some profiles along the wallet's index, for all along the time's. */
function sumsOf(db: Db, timeframe: Timeframe, nowMs: number, profileIds: readonly string[] | undefined): SumTable {
  const [from, only] =
    profileIds === undefined
      ? ['trade t JOIN wallet w ON w.address = t.wallet', '']
      : ['wallet w CROSS JOIN trade t INDEXED BY trade_wallet ON t.wallet = w.address', `AND w.profile_id ${oneOf}`];
  const window = [nowMs - windowMs[timeframe], nowMs, JSON.stringify([...leaderboardChains, ...moreChains(db)])];
  return {
    sql: `SELECT w.profile_id, t.wallet, t.chain, sum(t.realized_usd) AS pnl, sum(t.margin_cost_usd) AS cost_usd,
        sum(t.usd) AS volume_usd, count(*) AS trades, sum(t.intent = 'exit') AS exits,
        sum(t.intent = 'exit' AND t.realized_usd > 0) AS wins
      FROM ${from} WHERE t.at_ms > ? AND t.at_ms <= ? AND t.chain ${oneOf} ${only} GROUP BY t.wallet, t.chain`,
    params: profileIds === undefined ? window : [...window, JSON.stringify(profileIds)],
  };
}

function daysOf(timeframe: Timeframe): number {
  return windowMs[timeframe] / dayMs;
}

/**
 * When an answer changes next by the passing of time alone, in Unix milliseconds: a trade or comment enters or leaves one of the windows that
 * answers look at (now, 24 hours, 7 and 30 days), or a wallet's tracking has caught up. `Infinity` where nothing lies ahead.
 */
export function nextChangeMs(db: Db, nowMs: number): number {
  const after = (table: string, column: string, ms: number): number => {
    const next = db.get<{ ms: number | null }>(`SELECT min(${column}) AS ms FROM ${table} WHERE ${column} > ?`, [
      nowMs - ms,
    ])?.ms;
    return next === undefined || next === null ? Number.POSITIVE_INFINITY : next + ms;
  };
  return Math.min(
    ...[0, dayMs, windowMs['7d'], windowMs['30d']].map((ms) => after('trade', 'at_ms', ms)),
    ...[0, windowMs['30d']].map((ms) => after('comment', 'at_ms', ms)),
    after('wallet', 'ready_ms', 0),
  );
}
