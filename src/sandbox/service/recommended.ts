import type { Db } from '../db/store.ts';
import { rankProfiles } from '../ledger/figures.ts';
import { windowMs } from '../ledger/totals.ts';
import { oneOf } from '../ledger/trade.ts';

/**
 * The rule behind For You trades, assumed: of the ten traders with the best realized PnL of 7 days, their entries of these days into a token
 * the actor trades too, worth at least 500 USD and twice what the trader usually enters with.
 */
const bigEntry = { traders: 10, withinMs: windowMs['7d'], minUsd: 500, timesUsual: 2, max: 20 };

export interface RecommendedTrade {
  positionId: string;
  atMs: number;
  usd: number;
  hash: string;
  /** How many times larger than the trader's average entry of the window. */
  score: number;
}

/** Trades recommended to an actor: at most one a card (the highest score), best first. The window ends with the newest trade. */
export function recommendedTrades(db: Db, actorId: string, wallets: readonly string[]): RecommendedTrade[] {
  const newestMs = db.value<number>('SELECT max(at_ms) FROM trade');
  if (newestMs === undefined) return [];
  const best = rankProfiles(db, newestMs, { timeframe: '7d', limit: bigEntry.traders + 1 })
    .filter(({ profileId, total }) => profileId !== actorId && total > 0)
    .slice(0, bigEntry.traders)
    .map(({ profileId }) => profileId);
  return db.all<RecommendedTrade>(
    `WITH entry AS (
       SELECT t.*, w.profile_id FROM wallet w JOIN trade t ON t.wallet = w.address
       WHERE w.profile_id ${oneOf} AND t.at_ms > ? AND t.intent = 'enter'
     ), usual AS (SELECT profile_id, avg(usd) AS usd FROM entry GROUP BY profile_id)
     SELECT e.position_id AS positionId, e.at_ms AS atMs, e.usd, coalesce(e.tx, e.order_id, '') AS hash, max(e.usd / u.usd) AS score
     FROM entry e JOIN usual u ON u.profile_id = e.profile_id
     WHERE e.usd >= ? AND e.usd >= ? * u.usd AND EXISTS (
       SELECT 1 FROM trade own WHERE own.chain = e.chain AND own.token = e.token AND own.wallet ${oneOf})
     GROUP BY e.position_id ORDER BY score DESC, e.position_id LIMIT ?`,
    [
      JSON.stringify(best),
      newestMs - bigEntry.withinMs,
      bigEntry.minUsd,
      bigEntry.timesUsual,
      JSON.stringify(wallets),
      bigEntry.max,
    ],
  );
}
