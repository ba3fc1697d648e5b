import { leaderboardChains } from '../../model/chain.ts';
import type { Db } from '../db/store.ts';
import type { Partner } from '../http/service.ts';
import { type Timeframe, type WindowFigures, windowFigures, windowMs } from '../trades/figures.ts';
import { groupBy, oneOf } from '../trades/queries.ts';

type Json = Record<string, unknown>;
type Counts = Map<string, number>;

/** The trading figures (part of ProfileMetadata) and ProfileMetrics of a profile, read once for all ids. */
export function profileFigures(
  db: Db,
  ids: readonly string[],
  { partner, nowMs, full }: { partner: Partner; nowMs: number; full: boolean },
): (id: string) => { metadata: Json; metrics: Json } {
  const month = groupBy(windowFigures(db, '30d', nowMs, ids), (row) => row.profileId);
  const week = groupBy(windowFigures(db, '7d', nowMs, ids), (row) => row.profileId);
  const list = JSON.stringify(ids);
  const held = medianHoldingMinutes(db, list, nowMs);
  const comments30d = countComments(db, list, nowMs - windowMs['30d']);
  const metricsOf = full ? readMetrics(db, list, partner.id, comments30d) : () => ({});
  return (id) => {
    const [rows30d, rows7d] = [month.get(id) ?? [], week.get(id) ?? []];
    return {
      metadata: {
        commentCount30d: comments30d.get(id) ?? 0,
        ...totals(rows30d, '30d'),
        ...totals(rows7d, '7d'),
        medianHoldingTimeMinutes: held.get(id) ?? null,
        ...(full ? { ...perAddress(rows30d), ...perChain(rows30d, '30d'), ...perChain(rows7d, '7d') } : {}),
      },
      metrics: metricsOf(id),
    };
  };
}

function totals(rows: readonly WindowFigures[], window: Timeframe): Json {
  const exits = sum(rows, 'exits');
  return {
    [`pnl${window}`]: sum(rows, 'pnl'),
    [`winRate${window}`]: exits === 0 ? null : sum(rows, 'wins') / exits,
    [`tradeCount${window}`]: sum(rows, 'trades'),
    [`roiPercent${window}`]: roiPercent(rows),
  };
}

function perAddress(rows: readonly WindowFigures[]): Json {
  const byWallet = [...groupBy(rows, (row) => row.wallet)];
  return {
    perAddressPnl30d: Object.fromEntries(byWallet.map(([wallet, own]) => [wallet, sum(own, 'pnl')])),
    perAddressRoiPercent30d: Object.fromEntries(byWallet.map(([wallet, own]) => [wallet, roiPercent(own)])),
  };
}

function perChain(rows: readonly WindowFigures[], window: Timeframe): Json {
  const byChain = groupBy(rows, (row) => row.chain);
  const each = (figure: (own: readonly WindowFigures[]) => number | null) =>
    Object.fromEntries(
      leaderboardChains.map((chain) => {
        const own = byChain.get(chain);
        return [chain, own === undefined ? null : figure(own)];
      }),
    );
  return {
    [`perChainPnl${window}`]: each((own) => sum(own, 'pnl')),
    [`perChainRoiPercent${window}`]: each(roiPercent),
    [`perChainVolumeUsd${window}`]: each((own) => sum(own, 'volumeUsd')),
  };
}

function sum(
  rows: readonly WindowFigures[],
  key: 'pnl' | 'costUsd' | 'volumeUsd' | 'trades' | 'exits' | 'wins',
): number {
  return rows.reduce((total, row) => total + row[key], 0);
}

/** Percent gained on the cost of what was sold; `null` when nothing with a cost was sold. */
function roiPercent(rows: readonly WindowFigures[]): number | null {
  const costUsd = sum(rows, 'costUsd');
  return costUsd > 0 ? (sum(rows, 'pnl') / costUsd) * 100 : null;
}

/** Median holding time of the closing trades of the last 30 days, in minutes, by profile; absent where nothing was closed. */
function medianHoldingMinutes(db: Db, list: string, nowMs: number): Map<string, number> {
  const rows = db.all<{ profileId: string; heldMs: number }>(
    `SELECT w.profile_id AS profileId, t.held_ms AS heldMs FROM wallet w JOIN trade t ON t.wallet = w.address
     WHERE w.profile_id ${oneOf} AND t.at_ms > ? AND t.at_ms <= ? AND t.held_ms IS NOT NULL ORDER BY t.held_ms`,
    [list, nowMs - windowMs['30d'], nowMs],
  );
  const medianOf = (sorted: readonly { heldMs: number }[]) => {
    const middle = Math.floor(sorted.length / 2);
    const upper = sorted[middle]?.heldMs ?? 0;
    return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1]?.heldMs ?? 0) + upper) / 2;
  };
  return new Map([...groupBy(rows, (row) => row.profileId)].map(([id, sorted]) => [id, medianOf(sorted) / 60_000]));
}

function readMetrics(db: Db, list: string, partnerId: string, comments30d: Counts): (id: string) => Json {
  const follows = (column: string, counted: string) => ({
    own: readCounts(
      db,
      `SELECT ${column} AS id, count(DISTINCT ${counted}) AS n FROM follow WHERE ${column} ${oneOf} AND partner_id = ? GROUP BY ${column}`,
      [list, partnerId],
    ),
    all: readCounts(
      db,
      `SELECT ${column} AS id, count(DISTINCT ${counted}) AS n FROM follow WHERE ${column} ${oneOf} GROUP BY ${column}`,
      [list],
    ),
  });
  const following = follows('follower_id', 'target_id');
  const followers = follows('target_id', 'follower_id');
  const commentsAll = countComments(db, list, 0);
  const copies = db.all<{ id: string; n: number; actors: number; usd: number }>(
    `SELECT w.profile_id AS id, count(*) AS n, count(DISTINCT k.wallet) AS actors, sum(k.usd) AS usd
     FROM copy k JOIN comment c ON c.id = k.comment_id JOIN wallet w ON w.address = c.wallet
     WHERE w.profile_id ${oneOf} GROUP BY w.profile_id`,
    [list],
  );
  const copied = new Map(copies.map((row) => [row.id, row]));
  return (id) => ({
    thisPartner: { followingCount: following.own.get(id) ?? 0, followerCount: followers.own.get(id) ?? 0 },
    allPartners: { followingCount: following.all.get(id) ?? 0, followerCount: followers.all.get(id) ?? 0 },
    comments: { commentCount30d: comments30d.get(id) ?? 0, commentCountAllTime: commentsAll.get(id) ?? 0 },
    copytradedAllTime: {
      count: copied.get(id)?.n ?? 0,
      distinctActors: copied.get(id)?.actors ?? 0,
      volumeUSD: copied.get(id)?.usd ?? 0,
    },
  });
}

function countComments(db: Db, list: string, sinceMs: number): Counts {
  return readCounts(
    db,
    `SELECT w.profile_id AS id, count(*) AS n FROM wallet w JOIN comment c ON c.wallet = w.address
     WHERE w.profile_id ${oneOf} AND c.at_ms > ? GROUP BY w.profile_id`,
    [list, sinceMs],
  );
}

/** Rows of `id` and `n`, as a map. */
function readCounts(db: Db, sql: string, params: (string | number)[]): Counts {
  return new Map(db.all<{ id: string; n: number }>(sql, params).map(({ id, n }) => [id, n]));
}
