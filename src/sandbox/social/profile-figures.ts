import { type LeaderboardChain, leaderboardChains } from '../../model/chain.ts';
import type { Db } from '../db/store.ts';
import { windowMs } from '../trades/figures.ts';
import type { Hydration } from './profiles.ts';
import { medianHoldingMinutes, roiPercent, type WindowFigures, windowFigures } from './statistics.ts';

type Json = Record<string, unknown>;
type Counts = Map<string, number>;

/**
 * A function from profile id to its trading figures (part of ProfileMetadata) and metrics, read once for all ids. Source: sections
 * "ProfileMetadata" and "ProfileMetrics".
 */
export function profileFigures(
  db: Db,
  ids: readonly string[],
  { partner, nowMs, full }: Hydration,
): (id: string) => { metadata: Json; metrics: Json } {
  const month = groupBy(windowFigures(db, '30d', nowMs, ids), (row) => row.profileId);
  const week = groupBy(windowFigures(db, '7d', nowMs, ids), (row) => row.profileId);
  const list = JSON.stringify(ids);
  const held = medianHoldingMinutes(db, ids, nowMs);
  const comments30d = countComments(db, list, nowMs - windowMs['30d']);
  const metricsOf = full ? metrics(db, list, partner.id, comments30d) : () => ({});
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

function totals(rows: readonly WindowFigures[], window: '7d' | '30d'): Json {
  const pnl = sum(rows, 'pnl');
  const exits = sum(rows, 'exits');
  return {
    [`pnl${window}`]: pnl,
    [`winRate${window}`]: exits === 0 ? null : sum(rows, 'wins') / exits,
    [`tradeCount${window}`]: sum(rows, 'trades'),
    [`roiPercent${window}`]: roiPercent(pnl, sum(rows, 'costUsd')),
  };
}

function perAddress(rows: readonly WindowFigures[]): Json {
  const byWallet = [...groupBy(rows, (row) => row.wallet)];
  return {
    perAddressPnl30d: Object.fromEntries(byWallet.map(([wallet, own]) => [wallet, sum(own, 'pnl')])),
    perAddressRoiPercent30d: Object.fromEntries(
      byWallet.map(([wallet, own]) => [wallet, roiPercent(sum(own, 'pnl'), sum(own, 'costUsd'))]),
    ),
  };
}

function perChain(rows: readonly WindowFigures[], window: '7d' | '30d'): Json {
  const byChain = groupBy(rows, (row) => row.chain);
  const each = (figure: (own: readonly WindowFigures[]) => number | null) =>
    Object.fromEntries(
      leaderboardChains.map((chain: LeaderboardChain) => {
        const own = byChain.get(chain);
        return [chain, own === undefined ? null : figure(own)];
      }),
    );
  return {
    [`perChainPnl${window}`]: each((own) => sum(own, 'pnl')),
    [`perChainRoiPercent${window}`]: each((own) => roiPercent(sum(own, 'pnl'), sum(own, 'costUsd'))),
    [`perChainVolumeUsd${window}`]: each((own) => sum(own, 'volumeUsd')),
  };
}

function metrics(db: Db, list: string, partnerId: string, comments30d: Counts): (id: string) => Json {
  const inList = 'IN (SELECT value FROM json_each(?))';
  const follows = (column: string, own: boolean) =>
    readCounts(
      db,
      `SELECT ${column} AS id, count(DISTINCT ${column === 'follower_id' ? 'target_id' : 'follower_id'}) AS n FROM follow
       WHERE ${column} ${inList} ${own ? 'AND partner_id = ?' : ''} GROUP BY ${column}`,
      own ? [list, partnerId] : [list],
    );
  const [following, followers] = [follows('follower_id', true), follows('target_id', true)];
  const [followingAll, followersAll] = [follows('follower_id', false), follows('target_id', false)];
  const commentsAll = countComments(db, list, 0);
  const copies = db.all<{ id: string; n: number; actors: number; usd: number }>(
    `SELECT w.profile_id AS id, count(*) AS n, count(DISTINCT k.wallet) AS actors, sum(k.usd) AS usd
     FROM copy k JOIN comment c ON c.id = k.comment_id JOIN wallet w ON w.address = c.wallet
     WHERE w.profile_id ${inList} GROUP BY w.profile_id`,
    [list],
  );
  const copied = new Map(copies.map((row) => [row.id, row]));
  return (id) => ({
    thisPartner: { followingCount: following.get(id) ?? 0, followerCount: followers.get(id) ?? 0 },
    allPartners: { followingCount: followingAll.get(id) ?? 0, followerCount: followersAll.get(id) ?? 0 },
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
     WHERE w.profile_id IN (SELECT value FROM json_each(?)) AND c.at_ms > ? GROUP BY w.profile_id`,
    [list, sinceMs],
  );
}

function readCounts(db: Db, sql: string, params: (string | number)[]): Counts {
  return new Map(db.all<{ id: string; n: number }>(sql, params).map(({ id, n }) => [id, n]));
}

function sum(
  rows: readonly WindowFigures[],
  key: 'pnl' | 'costUsd' | 'volumeUsd' | 'trades' | 'exits' | 'wins',
): number {
  return rows.reduce((total, row) => total + row[key], 0);
}

function groupBy<T>(rows: readonly T[], key: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(key(row));
    if (group) group.push(row);
    else groups.set(key(row), [row]);
  }
  return groups;
}
