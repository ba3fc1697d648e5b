import type { Db } from '../db/store.ts';
import { standings } from './statistics.ts';

/**
 * The rule behind For You trades, assumed: of the ten traders with the best realized PnL of 7 days, those entries of the last 7 days into a
 * token the actor trades too that are worth at least 500 USD and twice what the trader usually enters with.
 */
const bigEntry = { traders: 10, withinMs: 7 * 86_400_000, minUsd: 500, timesUsual: 2, most: 20 };

/** A trade worth showing to someone, on the card that holds it. */
export interface Recommended {
  positionId: string;
  atMs: number;
  usd: number;
  /** Transaction hash or order id, as cards write it. */
  hash: string;
  /** How many times larger than the trader's average entry of the window. */
  score: number;
}

/**
 * Trades recommended to an actor as of a snapshot, by the rule above: at most one a card (the highest score) and 20 in all, best
 * first; may be empty. The window ends with the newest trade of the snapshot, so that all pages of a walk agree.
 */
export function recommendedTrades(
  db: Db,
  actorId: string,
  wallets: readonly string[],
  snapshot: number,
): Recommended[] {
  // The plus keeps the ids' own order out: the newest by time is looked for along the times.
  const newestMs = db.get<{ atMs: number }>(
    'SELECT at_ms AS atMs FROM trade WHERE +id <= ? ORDER BY at_ms DESC LIMIT 1',
    [snapshot],
  )?.atMs;
  if (newestMs === undefined) return [];
  const best = standings(db, newestMs, { timeframe: '7d', most: bigEntry.traders + 1, isPassing: true })
    .filter(({ profileId, total }) => profileId !== actorId && total > 0)
    .slice(0, bigEntry.traders)
    .map(({ profileId }) => profileId);
  const sinceMs = newestMs - bigEntry.withinMs;
  const rows = db.all<Recommended>(
    `WITH entry AS (
       SELECT t.*, w.profile_id FROM wallet w JOIN trade t ON t.wallet = w.address
       WHERE w.profile_id IN (SELECT value FROM json_each(?)) AND t.at_ms > ? AND t.id <= ? AND t.intent = 'enter'
     ), usual AS (SELECT profile_id, avg(usd) AS usd FROM entry GROUP BY profile_id)
     SELECT e.position_id AS positionId, e.at_ms AS atMs, e.usd, coalesce(e.tx, e.order_id, '') AS hash, max(e.usd / u.usd) AS score
     FROM entry e JOIN usual u ON u.profile_id = e.profile_id
     WHERE e.usd >= ? AND e.usd >= ? * u.usd AND EXISTS (
       SELECT 1 FROM trade own WHERE own.chain = e.chain AND own.token = e.token AND own.id <= ?
         AND own.wallet IN (SELECT value FROM json_each(?)))
     GROUP BY e.position_id ORDER BY score DESC, e.position_id LIMIT ?`,
    [
      JSON.stringify(best),
      sinceMs,
      snapshot,
      bigEntry.minUsd,
      bigEntry.timesUsual,
      snapshot,
      JSON.stringify(wallets),
      bigEntry.most,
    ],
  );
  return rows;
}
