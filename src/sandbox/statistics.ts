import { type LeaderboardChain, leaderboardChains } from '../model/chain.ts';
import { getMeta } from './clock.ts';
import type { Db, SqlValue } from './store.ts';

export type Timeframe = '7d' | '30d';

const dayMs = 86_400_000;
/** Length of each window that figures are given for. */
export const windowMs: Readonly<Record<Timeframe, number>> = { '7d': 7 * dayMs, '30d': 30 * dayMs };

/** Public eligibility of the real service (wire-facts, threshold): at least 3 swaps of at least 500 USD in 7 days. */
const publicRule = { swaps: 3, usd: 500, withinMs: 7 * dayMs };

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
  const only = profileIds === undefined ? '' : 'AND w.profile_id IN (SELECT value FROM json_each(?))';
  const params: SqlValue[] = [nowMs - windowMs[timeframe], nowMs, JSON.stringify(leaderboardChains)];
  return db.all<WindowFigures>(
    `SELECT t.wallet, w.profile_id AS profileId, t.chain, sum(t.realized_usd) AS pnl, sum(t.margin_cost_usd) AS costUsd,
       sum(t.usd) AS volumeUsd, count(*) AS trades, sum(t.intent = 'exit') AS exits,
       sum(t.intent = 'exit' AND t.realized_usd > 0) AS wins
     FROM trade t JOIN wallet w ON w.address = t.wallet
     WHERE t.at_ms > ? AND t.at_ms <= ? AND t.chain IN (SELECT value FROM json_each(?)) ${only}
     GROUP BY t.wallet, t.chain ORDER BY t.wallet, t.chain`,
    profileIds === undefined ? params : [...params, JSON.stringify(profileIds)],
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

/**
 * Everyone on the leaderboard, best first by `total` (realized USD over the chains asked for), ties by profile id. Empty
 * when nobody traded.
 */
export function standings(
  db: Db,
  nowMs: number,
  { chains = leaderboardChains, timeframe = '30d' }: { chains?: readonly LeaderboardChain[]; timeframe?: Timeframe },
): Standing[] {
  const rows = db.all<{ profileId: string; chain: LeaderboardChain; pnl: number }>(
    `SELECT w.profile_id AS profileId, t.chain, sum(t.realized_usd) AS pnl FROM trade t JOIN wallet w ON w.address = t.wallet
     WHERE t.at_ms > ? AND t.at_ms <= ? AND t.chain IN (SELECT value FROM json_each(?)) GROUP BY w.profile_id, t.chain`,
    [nowMs - windowMs[timeframe], nowMs, JSON.stringify(chains)],
  );
  const allowed = eligible(db, nowMs);
  const byProfile = new Map<string, Standing>();
  for (const { profileId, chain, pnl } of rows) {
    if (allowed !== undefined && !allowed.has(profileId)) continue;
    const standing = byProfile.get(profileId) ?? { profileId, total: 0, perChain: {} };
    standing.perChain[chain] = pnl;
    standing.total += pnl;
    byProfile.set(profileId, standing);
  }
  return [...byProfile.values()].sort((a, b) => b.total - a.total || (a.profileId < b.profileId ? -1 : 1));
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
