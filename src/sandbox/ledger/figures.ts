import { type LeaderboardChain, leaderboardChains } from '../../api/chain.ts';
import { dayMs, hourMs } from '../../api/duration.ts';
import { getMeta, moreChains, setMeta } from '../db/settings.ts';
import type { Db } from '../db/store.ts';
import { groupBy, inList, oneOf } from './trade.ts';

export type Timeframe = '7d' | '30d';

export const windowMs: Readonly<Record<Timeframe, number>> = { '7d': 7 * dayMs, '30d': 30 * dayMs };

/** The moment that kept totals are valid for, as stored. */
const keptAtKey = 'totals.atMs';

/** After a longer time many traders have changed, and adding up all trades is quicker. */
const maxDriftMs = hourMs;

/** Rows of `total` made from the trades of the profiles in `sumParams`. The index of wallets has all columns that are summed. */
const sumTrades = `SELECT f.timeframe, w.profile_id, t.wallet, t.chain, sum(t.realized_usd) AS pnl,
    sum(t.margin_cost_usd) AS cost_usd, sum(t.usd) AS volume_usd, sum(t.intent = 'exit') AS exits,
    sum(t.intent = 'exit' AND t.realized_usd > 0) AS wins
  FROM (SELECT '7d' AS timeframe, :since7d AS since_ms UNION ALL SELECT '30d', :since30d) f
    CROSS JOIN wallet w CROSS JOIN trade t INDEXED BY trade_wallet ON t.wallet = w.address
  WHERE w.profile_id ${inList('summed')} AND t.at_ms > f.since_ms AND t.at_ms <= :now
  GROUP BY f.timeframe, t.wallet, t.chain`;

function sumParams(nowMs: number, profileIds: readonly string[]) {
  return {
    since7d: nowMs - windowMs['7d'],
    since30d: nowMs - windowMs['30d'],
    now: nowMs,
    summed: JSON.stringify(profileIds),
  };
}

/** Brings kept totals up to a moment; `traders` are wallets with new trades. Call it in the transaction that stores those. */
export function keepTotals(db: Db, nowMs: number, traders: readonly string[] = []): void {
  const own = db.values<string>(`SELECT profile_id FROM wallet WHERE address ${oneOf}`, [JSON.stringify(traders)]);
  const ids = [...new Set([...listChanged(db, nowMs), ...own])];
  db.run(`DELETE FROM total WHERE timeframe IN ('7d', '30d') AND profile_id ${oneOf}`, [JSON.stringify(ids)]);
  // Some at a time: SQLite sorts all trades that it adds up, in memory.
  for (let from = 0; from < ids.length; from += 1000) {
    const some = ids.slice(from, from + 1000);
    db.run(`INSERT INTO total ${sumTrades}`, sumParams(nowMs, some));
    db.run(
      `INSERT INTO total SELECT timeframe, profile_id, '', '', sum(pnl), sum(cost_usd), sum(volume_usd), sum(exits), sum(wins) FROM total
       WHERE timeframe IN ('7d', '30d') AND profile_id ${oneOf} AND chain ${oneOf} GROUP BY timeframe, profile_id`,
      [JSON.stringify(some), JSON.stringify(leaderboardChains)],
    );
  }
  setMeta(db, keptAtKey, String(nowMs));
}

/** Brings kept totals up to a moment before they are too old for it; a long-running server calls it every few minutes. */
export function refreshTotals(db: Db, nowMs: number): void {
  if (Math.abs(nowMs - keptAt(db)) > maxDriftMs / 2) db.transaction(() => keepTotals(db, nowMs));
}

function keptAt(db: Db): number {
  return Number(getMeta(db, keptAtKey) ?? Number.NEGATIVE_INFINITY);
}

/** Until totals are kept again, answers add up trades. */
export function dropTotals(db: Db): void {
  db.run('DELETE FROM meta WHERE key = ?', [keptAtKey]);
}

/**
 * Profiles, of all or of `among`, whose kept totals are wrong at a moment: a trade entered or left one of their windows. All of them if
 * nothing is kept, or if the moment is too far from the kept one.
 */
function listChanged(db: Db, nowMs: number, among?: readonly string[]): readonly string[] {
  const keptMs = keptAt(db);
  if (Math.abs(nowMs - keptMs) > maxDriftMs) return among ?? db.values('SELECT DISTINCT profile_id FROM wallet');
  const from =
    among === undefined
      ? 'edge CROSS JOIN trade t JOIN wallet w ON w.address = t.wallet WHERE true'
      : `wallet w CROSS JOIN edge CROSS JOIN trade t INDEXED BY trade_wallet ON t.wallet = w.address
         WHERE w.profile_id ${inList('among')}`;
  return db.values(
    `WITH edge (ms) AS (VALUES (0), (${windowMs['7d']}), (${windowMs['30d']}))
     SELECT DISTINCT w.profile_id FROM ${from} AND t.at_ms > :from - edge.ms AND t.at_ms <= :to - edge.ms`,
    {
      from: Math.min(keptMs, nowMs),
      to: Math.max(keptMs, nowMs),
      ...(among !== undefined && { among: JSON.stringify(among) }),
    },
  );
}

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
     FROM (SELECT * FROM total WHERE timeframe IN ('7d', '30d') AND profile_id ${inList('kept')}
       UNION ALL ${sumTrades})
     WHERE chain ${inList('chains')} ORDER BY wallet, chain`,
    {
      ...sumParams(nowMs, changed),
      kept: JSON.stringify(kept),
      chains: JSON.stringify([...leaderboardChains, ...moreChains(db)]),
    },
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
  const { chains, timeframe = '30d', onlyWithComments, limit = -1 } = board;
  const among = {
    ...(getMeta(db, 'eligibility') === 'public' && { eligible: JSON.stringify(listEligible(db, nowMs)) }),
    ...(onlyWithComments === true && { commenters: JSON.stringify([...listCommenters(db, nowMs)]) }),
  };
  const isAmong = Object.keys(among)
    .map((name) => `AND profile_id ${inList(name)}`)
    .join(' ');
  const isOnChains = `timeframe = :timeframe AND chain ${inList('chains')}`;
  const isKept = `profile_id NOT ${inList('summed')} ${isAmong}`;
  // On all chains the first ones of an index are enough; grouped on their own, totals are read in the order of their key.
  const kept =
    chains === undefined
      ? `SELECT profile_id AS profileId, pnl AS total FROM total WHERE timeframe = :timeframe AND chain = '' AND ${isKept}
         ORDER BY pnl DESC, profile_id LIMIT :limit`
      : `SELECT profile_id AS profileId, sum(pnl) AS total FROM total WHERE ${isOnChains} AND ${isKept} GROUP BY profile_id`;
  return db.all(
    `SELECT * FROM (${kept})
     UNION ALL SELECT profile_id, sum(pnl) FROM (${sumTrades}) WHERE ${isOnChains} ${isAmong} GROUP BY profile_id
     ORDER BY total DESC, profileId LIMIT :limit`,
    {
      ...sumParams(nowMs, listChanged(db, nowMs)),
      ...among,
      timeframe,
      chains: JSON.stringify(chains ?? leaderboardChains),
      limit,
    },
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
