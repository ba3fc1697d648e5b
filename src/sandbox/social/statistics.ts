import { type LeaderboardChain, leaderboardChains } from '../../model/chain.ts';
import { getMeta } from '../db/clock.ts';
import type { Db, SqlValue } from '../db/store.ts';
import { figuresAt, type Timeframe, windowMs } from '../trades/figures.ts';

/** Public eligibility of the real service (wire-facts, threshold): at least 3 swaps of at least 500 USD in 7 days. */
const publicRule = { swaps: 3, usd: 500, withinMs: windowMs['7d'] };

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

/**
 * Figures per wallet and chain over the trades inside the window that ends now, for some profiles or for all. One row a wallet
 * and chain that traded; empty when none did. Only the chains that leaderboards cover.
 */
export function windowFigures(
  db: Db,
  timeframe: Timeframe,
  nowMs: number,
  profileIds?: readonly string[],
): WindowFigures[] {
  const { sql, params } = figuresAt(db, timeframe, nowMs, { profileIds });
  return db.all<WindowFigures>(
    `SELECT wallet, profile_id AS profileId, chain, pnl, cost_usd AS costUsd, volume_usd AS volumeUsd, trades, exits, wins
     FROM (${sql}) ORDER BY wallet, chain`,
    params,
  );
}

/** Percent gained on the cost of what was sold; `null` when nothing with a cost was sold. */
export function roiPercent(pnl: number, costUsd: number): number | null {
  return costUsd > 0 ? (pnl / costUsd) * 100 : null;
}

/** Median holding time of the closing trades inside the window, in minutes, by profile; absent where nothing was closed. */
export function medianHoldingMinutes(db: Db, profileIds: readonly string[], nowMs: number): Map<string, number> {
  const rows = db.all<{ profileId: string; heldMs: number }>(
    `SELECT w.profile_id AS profileId, t.held_ms AS heldMs FROM wallet w JOIN trade t ON t.wallet = w.address
     WHERE w.profile_id IN (SELECT value FROM json_each(?)) AND t.at_ms > ? AND t.at_ms <= ? AND t.held_ms IS NOT NULL
     ORDER BY t.held_ms`,
    [JSON.stringify(profileIds), nowMs - windowMs['30d'], nowMs],
  );
  const held = new Map<string, number[]>();
  for (const { profileId, heldMs } of rows) {
    const own = held.get(profileId);
    if (own) own.push(heldMs);
    else held.set(profileId, [heldMs]);
  }
  return new Map([...held].map(([profileId, sorted]) => [profileId, median(sorted) / 60_000]));
}

function median(sorted: readonly number[]): number {
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

export interface Standing {
  profileId: string;
  total: number;
  perChain: Partial<Record<LeaderboardChain, number>>;
}

export interface Board {
  chains?: readonly LeaderboardChain[] | undefined;
  timeframe?: Timeframe | undefined;
  /** Nobody else is on the board. */
  among?: ReadonlySet<string> | undefined;
  /** The best only; everyone when absent. */
  most?: number | undefined;
  /** The moment is one that is not asked for again. */
  isPassing?: boolean;
}

/**
 * Those on the leaderboard, best first by `total` (realized USD over the chains asked for), ties by profile id. Empty
 * when nobody traded.
 */
export function standings(db: Db, nowMs: number, board: Board): Standing[] {
  const { chains = leaderboardChains, timeframe = '30d', among, most = -1, isPassing = false } = board;
  const allowed = both(eligible(db, nowMs), among);
  const { sql, params } = figuresAt(db, timeframe, nowMs, { isPassing });
  const only: readonly [string, ...SqlValue[]] =
    allowed === undefined ? [''] : ['AND profile_id IN (SELECT value FROM json_each(?))', JSON.stringify([...allowed])];
  const [allowedSql, ...allowedParams] = only;
  const rows = db.all<{ profileId: string; chain: LeaderboardChain; pnl: number }>(
    `WITH each AS MATERIALIZED (
       SELECT profile_id, chain, sum(pnl) AS pnl FROM (${sql}) WHERE chain IN (SELECT value FROM json_each(?)) ${allowedSql}
       GROUP BY profile_id, chain
     ), best AS (SELECT profile_id FROM each GROUP BY profile_id ORDER BY sum(pnl) DESC, profile_id LIMIT ?)
     SELECT profile_id AS profileId, chain, pnl FROM each WHERE profile_id IN best`,
    [...params, JSON.stringify(chains), ...allowedParams, most],
  );
  const byProfile = new Map<string, Standing>();
  for (const { profileId, chain, pnl } of rows) {
    const standing = byProfile.get(profileId) ?? { profileId, total: 0, perChain: {} };
    standing.perChain[chain] = pnl;
    standing.total += pnl;
    byProfile.set(profileId, standing);
  }
  return [...byProfile.values()].sort((a, b) => b.total - a.total || (a.profileId < b.profileId ? -1 : 1));
}

function both(
  one: ReadonlySet<string> | undefined,
  other: ReadonlySet<string> | undefined,
): ReadonlySet<string> | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return new Set([...one].filter((id) => other.has(id)));
}

function eligible(db: Db, nowMs: number): Set<string> | undefined {
  if (getMeta(db, 'eligibility') !== 'public') return undefined;
  const rows = db.all<{ profileId: string }>(
    `SELECT w.profile_id AS profileId FROM trade t JOIN wallet w ON w.address = t.wallet
     WHERE t.at_ms > ? AND t.at_ms <= ? AND t.usd >= ? GROUP BY w.profile_id HAVING count(*) >= ?`,
    [nowMs - publicRule.withinMs, nowMs, publicRule.usd, publicRule.swaps],
  );
  return new Set(rows.map((row) => row.profileId));
}

/** Profiles with a swap comment in the last 30 days (wire-facts: commenter status). */
export function commenters(db: Db, nowMs: number): Set<string> {
  const rows = db.all<{ profileId: string }>(
    `SELECT DISTINCT w.profile_id AS profileId FROM comment c JOIN wallet w ON w.address = c.wallet
     WHERE c.at_ms > ? AND c.at_ms <= ?`,
    [nowMs - windowMs['30d'], nowMs],
  );
  return new Set(rows.map((row) => row.profileId));
}
