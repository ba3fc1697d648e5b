import { type LeaderboardChain, leaderboardChains } from '../../api/chain.ts';
import { getMeta, moreChains } from '../db/settings.ts';
import type { Db } from '../db/store.ts';
import { listChanged, sumParams, sumTrades, type Timeframe, windowMs } from './totals.ts';
import { groupBy } from './trade.ts';

/** Sums over the trades of one wallet on one chain inside a window. USD; `costUsd` is the cost of what was sold (margin on perps). */
export interface WindowFigures {
  timeframe: Timeframe;
  wallet: string;
  profileId: string;
  chain: LeaderboardChain;
  pnl: number;
  costUsd: number;
  volumeUsd: number;
  exits: number;
  wins: number;
}

/** By profile a row for each wallet, chain and window that ends now and has a trade, on the chains of leaderboards. */
export function readFigures(db: Db, nowMs: number, profileIds: readonly string[]): Map<string, WindowFigures[]> {
  const changed = listChanged(db, nowMs, profileIds);
  const kept = profileIds.filter((id) => !changed.includes(id));
  const rows = db.all<WindowFigures>(
    `SELECT timeframe, wallet, profile_id AS profileId, chain, pnl, cost_usd AS costUsd, volume_usd AS volumeUsd, exits, wins
     FROM (SELECT * FROM total WHERE timeframe IN ('7d', '30d') AND profile_id IN (SELECT value FROM json_each(?5))
       UNION ALL ${sumTrades})
     WHERE chain IN (SELECT value FROM json_each(?6)) ORDER BY wallet, chain`,
    [...sumParams(nowMs, changed), JSON.stringify(kept), JSON.stringify([...leaderboardChains, ...moreChains(db)])],
  );
  return groupBy(rows, ({ profileId }) => profileId);
}

export interface BoardQuery {
  chains?: readonly LeaderboardChain[] | undefined;
  timeframe?: Timeframe | undefined;
  onlyWithComments?: boolean | undefined;
  limit?: number | undefined;
}

/** Profile ids of the leaderboard, best first by the USD that they realized on its chains, ties by profile id. */
export function rankProfiles(db: Db, nowMs: number, board: BoardQuery): { profileId: string; total: number }[] {
  const { chains = leaderboardChains, timeframe = '30d', onlyWithComments, limit = -1 } = board;
  const among = [
    ...(getMeta(db, 'eligibility') === 'public' ? [listEligible(db, nowMs)] : []),
    ...(onlyWithComments === true ? [[...listCommenters(db, nowMs)]] : []),
  ].map((ids) => JSON.stringify(ids));
  const isWanted = ['timeframe = ?5 AND chain IN (SELECT value FROM json_each(?6))']
    .concat(among.map((_, index) => `profile_id IN (SELECT value FROM json_each(?${8 + index}))`))
    .join(' AND ');
  // Grouped on their own, kept totals are read in the order of their key.
  return db.all(
    `SELECT profile_id AS profileId, sum(pnl) AS total FROM total
     WHERE profile_id NOT IN (SELECT value FROM json_each(?4)) AND ${isWanted} GROUP BY profile_id
     UNION ALL SELECT profile_id, sum(pnl) FROM (${sumTrades}) WHERE ${isWanted} GROUP BY profile_id
     ORDER BY total DESC, profileId LIMIT ?7`,
    [...sumParams(nowMs, listChanged(db, nowMs)), timeframe, JSON.stringify(chains), limit, ...among],
  );
}

/** Public eligibility of the real service (wire-facts, threshold): at least 3 swaps of at least 500 USD in 7 days. */
const publicRule = { swaps: 3, usd: 500, withinMs: windowMs['7d'] };

function listEligible(db: Db, nowMs: number): string[] {
  return db.values<string>(
    `SELECT w.profile_id FROM trade t JOIN wallet w ON w.address = t.wallet
     WHERE t.at_ms > ? AND t.at_ms <= ? AND t.usd >= ? GROUP BY w.profile_id HAVING count(*) >= ?`,
    [nowMs - publicRule.withinMs, nowMs, publicRule.usd, publicRule.swaps],
  );
}

/** Profiles with a swap comment in the last 30 days (wire-facts: commenter status). */
export function listCommenters(db: Db, nowMs: number): Set<string> {
  const ids = db.values<string>(
    `SELECT DISTINCT w.profile_id FROM comment c JOIN wallet w ON w.address = c.wallet WHERE c.at_ms > ? AND c.at_ms <= ?`,
    [nowMs - windowMs['30d'], nowMs],
  );
  return new Set(ids);
}
