import { type LeaderboardChain, leaderboardChains } from '../../api/chain.ts';
import { dayMs } from '../../api/duration.ts';
import { getMeta, moreChains } from '../db/settings.ts';
import type { Db } from '../db/store.ts';
import { groupBy, oneOf } from './trade.ts';

export type Timeframe = '7d' | '30d';

export const windowMs: Readonly<Record<Timeframe, number>> = { '7d': 7 * dayMs, '30d': 30 * dayMs };

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

/** The trades of wallets along their index, which holds whatever is summed. */
const tradesOfWallets = 'wallet w CROSS JOIN trade t INDEXED BY trade_wallet ON t.wallet = w.address';

/** By profile a row for each wallet, chain and window that ends now and has a trade, on the chains of leaderboards. */
export function readFigures(db: Db, nowMs: number, profileIds: readonly string[]): Map<string, WindowFigures[]> {
  const rows = db.all<WindowFigures>(
    `SELECT f.timeframe, t.wallet, w.profile_id AS profileId, t.chain, sum(t.realized_usd) AS pnl, sum(t.margin_cost_usd) AS costUsd,
       sum(t.usd) AS volumeUsd, sum(t.intent = 'exit') AS exits, sum(t.intent = 'exit' AND t.realized_usd > 0) AS wins
     FROM (SELECT '30d' AS timeframe, ?1 AS since_ms UNION ALL SELECT '7d', ?2) f CROSS JOIN ${tradesOfWallets}
     WHERE w.profile_id IN (SELECT value FROM json_each(?4)) AND t.at_ms > f.since_ms AND t.at_ms <= ?3
       AND t.chain IN (SELECT value FROM json_each(?5))
     GROUP BY f.timeframe, t.wallet, t.chain ORDER BY t.wallet, t.chain`,
    [
      nowMs - windowMs['30d'],
      nowMs - windowMs['7d'],
      nowMs,
      JSON.stringify(profileIds),
      JSON.stringify([...leaderboardChains, ...moreChains(db)]),
    ],
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
  return db.all(
    `SELECT w.profile_id AS profileId, sum(t.realized_usd) AS total FROM ${tradesOfWallets}
     WHERE t.at_ms > ? AND t.at_ms <= ? AND t.chain ${oneOf} ${`AND w.profile_id ${oneOf} `.repeat(among.length)}
     GROUP BY w.profile_id ORDER BY total DESC, profileId LIMIT ?`,
    [nowMs - windowMs[timeframe], nowMs, JSON.stringify(chains), ...among, limit],
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
