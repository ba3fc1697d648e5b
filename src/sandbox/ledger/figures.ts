import { type LeaderboardChain, leaderboardChains } from '../../api/chain.ts';
import { dayMs } from '../../api/duration.ts';
import { moreChains } from '../db/settings.ts';
import type { Db, SqlValue } from '../db/store.ts';
import { oneOf } from './trade.ts';

export type Timeframe = '7d' | '30d';

export const windowMs: Readonly<Record<Timeframe, number>> = { '7d': 7 * dayMs, '30d': 30 * dayMs };

/** Sums over the trades of one wallet on one chain inside a window. USD; `costUsd` is the cost of what was sold (margin on perps). */
export interface WindowFigures {
  wallet: string;
  profileId: string;
  chain: LeaderboardChain;
  pnl: number;
  costUsd: number;
  volumeUsd: number;
  exits: number;
  wins: number;
}

/** All trades of some wallets along their index, which holds whatever is summed: a million are read in 0.15 s, so that no sum is kept. */
export const tradesOfWallets = 'wallet w CROSS JOIN trade t INDEXED BY trade_wallet ON t.wallet = w.address';

/** One row a wallet and chain that traded inside the window that ends now, for some profiles; the chains of leaderboards only. */
export function windowFigures(
  db: Db,
  timeframe: Timeframe,
  nowMs: number,
  profileIds: readonly string[],
): WindowFigures[] {
  const params: SqlValue[] = [
    nowMs - windowMs[timeframe],
    nowMs,
    JSON.stringify([...leaderboardChains, ...moreChains(db)]),
    JSON.stringify(profileIds),
  ];
  return db.all<WindowFigures>(
    `SELECT t.wallet, w.profile_id AS profileId, t.chain, sum(t.realized_usd) AS pnl, sum(t.margin_cost_usd) AS costUsd,
       sum(t.usd) AS volumeUsd, sum(t.intent = 'exit') AS exits, sum(t.intent = 'exit' AND t.realized_usd > 0) AS wins
     FROM ${tradesOfWallets}
     WHERE t.at_ms > ? AND t.at_ms <= ? AND t.chain ${oneOf} AND w.profile_id ${oneOf}
     GROUP BY t.wallet, t.chain ORDER BY t.wallet, t.chain`,
    params,
  );
}
