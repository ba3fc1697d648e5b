import { type LeaderboardChain, leaderboardChains } from '../../api/chain.ts';
import { getMeta } from '../db/settings.ts';
import type { Db } from '../db/store.ts';
import { type Timeframe, tradesOfWallets, windowFigures, windowMs } from '../ledger/figures.ts';
import { groupBy, oneOf } from '../ledger/trade.ts';

/** Public eligibility of the real service (wire-facts, threshold): at least 3 swaps of at least 500 USD in 7 days. */
const publicRule = { swaps: 3, usd: 500, withinMs: windowMs['7d'] };

const defaultTimeframe = '30d';

export interface Standing {
  profileId: string;
  total: number;
  perChain: Partial<Record<LeaderboardChain, number>>;
}

export interface BoardQuery {
  chains?: readonly LeaderboardChain[] | undefined;
  timeframe?: Timeframe | undefined;
  onlyWithComments?: boolean | undefined;
  limit?: number | undefined;
}

/** The leaderboard, best first by `total` (realized USD over the chains), ties by profile id. */
export function standings(db: Db, nowMs: number, board: BoardQuery): Standing[] {
  const ids = rankProfiles(db, nowMs, board).map(({ profileId }) => profileId);
  return findStandings(db, nowMs, ids, board).sort((a, b) => b.total - a.total || (a.profileId < b.profileId ? -1 : 1));
}

/** The same board without its chains: each profile and its total. */
export function rankProfiles(db: Db, nowMs: number, board: BoardQuery): Omit<Standing, 'perChain'>[] {
  const { chains = leaderboardChains, timeframe = defaultTimeframe, onlyWithComments, limit = -1 } = board;
  const conditions = [
    ...(getMeta(db, 'eligibility') === 'public' ? [eligible(db, nowMs)] : []),
    ...(onlyWithComments === true ? [commenters(db, nowMs)] : []),
  ].map((ids) => JSON.stringify([...ids]));
  return db.all(
    `SELECT w.profile_id AS profileId, sum(t.realized_usd) AS total FROM ${tradesOfWallets}
     WHERE t.at_ms > ? AND t.at_ms <= ? AND t.chain ${oneOf} ${`AND w.profile_id ${oneOf} `.repeat(conditions.length)}
     GROUP BY w.profile_id ORDER BY total DESC, profileId LIMIT ?`,
    [nowMs - windowMs[timeframe], nowMs, JSON.stringify(chains), ...conditions, limit],
  );
}

/** What some profiles, in their order, realized on the chains of a board, wherever they stand on it. `total` is the sum of `perChain`. */
export function findStandings(
  db: Db,
  nowMs: number,
  profileIds: readonly string[],
  { chains = leaderboardChains, timeframe = defaultTimeframe }: BoardQuery,
): Standing[] {
  const rows = groupBy(windowFigures(db, timeframe, nowMs, profileIds), ({ profileId }) => profileId);
  return profileIds.map((profileId) => {
    const standing: Standing = { profileId, total: 0, perChain: {} };
    for (const chain of [...chains].sort()) {
      const own = rows.get(profileId)?.filter((row) => row.chain === chain) ?? [];
      if (own.length === 0) continue;
      const usd = own.reduce((sum, { pnl }) => sum + pnl, 0);
      standing.perChain[chain] = usd;
      standing.total += usd;
    }
    return standing;
  });
}

function eligible(db: Db, nowMs: number): string[] {
  return db.values<string>(
    `SELECT w.profile_id FROM trade t JOIN wallet w ON w.address = t.wallet
     WHERE t.at_ms > ? AND t.at_ms <= ? AND t.usd >= ? GROUP BY w.profile_id HAVING count(*) >= ?`,
    [nowMs - publicRule.withinMs, nowMs, publicRule.usd, publicRule.swaps],
  );
}

/** Profiles with a swap comment in the last 30 days (wire-facts: commenter status). */
export function commenters(db: Db, nowMs: number): Set<string> {
  const ids = db.values<string>(
    `SELECT DISTINCT w.profile_id FROM comment c JOIN wallet w ON w.address = c.wallet
     WHERE c.at_ms > ? AND c.at_ms <= ?`,
    [nowMs - windowMs['30d'], nowMs],
  );
  return new Set(ids);
}

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

/**
 * Trades recommended to an actor as of a snapshot: at most one a card (the highest score), best first. The window ends with the newest
 * trade of the snapshot, so that all pages of a walk agree.
 */
export function recommendedTrades(
  db: Db,
  actorId: string,
  wallets: readonly string[],
  snapshot: number,
): RecommendedTrade[] {
  // The plus keeps the ids' own order out: the newest by time is looked for along the times.
  const newestMs = db.value<number>('SELECT at_ms FROM trade WHERE +id <= ? ORDER BY at_ms DESC LIMIT 1', [snapshot]);
  if (newestMs === undefined) return [];
  const best = rankProfiles(db, newestMs, { timeframe: '7d', limit: bigEntry.traders + 1 })
    .filter(({ profileId, total }) => profileId !== actorId && total > 0)
    .slice(0, bigEntry.traders)
    .map(({ profileId }) => profileId);
  return db.all<RecommendedTrade>(
    `WITH entry AS (
       SELECT t.*, w.profile_id FROM wallet w JOIN trade t ON t.wallet = w.address
       WHERE w.profile_id ${oneOf} AND t.at_ms > ? AND t.id <= ? AND t.intent = 'enter'
     ), usual AS (SELECT profile_id, avg(usd) AS usd FROM entry GROUP BY profile_id)
     SELECT e.position_id AS positionId, e.at_ms AS atMs, e.usd, coalesce(e.tx, e.order_id, '') AS hash, max(e.usd / u.usd) AS score
     FROM entry e JOIN usual u ON u.profile_id = e.profile_id
     WHERE e.usd >= ? AND e.usd >= ? * u.usd AND EXISTS (
       SELECT 1 FROM trade own WHERE own.chain = e.chain AND own.token = e.token AND own.id <= ? AND own.wallet ${oneOf})
     GROUP BY e.position_id ORDER BY score DESC, e.position_id LIMIT ?`,
    [
      JSON.stringify(best),
      newestMs - bigEntry.withinMs,
      snapshot,
      bigEntry.minUsd,
      bigEntry.timesUsual,
      snapshot,
      JSON.stringify(wallets),
      bigEntry.max,
    ],
  );
}
