import type { Profile, ProfileStatus } from '../../api/answers.ts';
import { leaderboardChains } from '../../api/chain.ts';
import { answersAsClicker } from '../db/settings.ts';
import type { Db } from '../db/store.ts';
import { readFigures, type Timeframe, type WindowFigures, windowMs } from '../ledger/figures.ts';
import { groupBy, oneOf } from '../ledger/trade.ts';
import type { Partner, RequestContext } from './handler.ts';
import { followedBy } from './identifiers.ts';

export type Json = Record<string, unknown>;
type Counts = Map<string, number>;

interface ProfileOptions {
  /** With figures per chain and address, metrics and status; without them the plain form of lists and actors. */
  full?: boolean;
  /** Wallets whose following fills `isFollowedByUser`; absent: the field is omitted. */
  viewers?: readonly string[] | undefined;
  /** Those of the profiles, if they were read already. */
  figures?: ReadonlyMap<string, readonly WindowFigures[]>;
}

interface ProfileRow {
  id: string;
  name: string | null;
  images: string | null;
  handles: string | null;
  nsfw: string | null;
  partnerName: string | null;
  avatarUrl: string | null;
  externalId: string | null;
}

interface WalletRow {
  address: string;
  profileId: string;
  readyMs: number | null;
}

/** Profiles in the order of the ids. Source: section "Profile" and wire-facts 5. */
export function readProfiles(
  context: RequestContext,
  ids: readonly string[],
  { full = false, viewers, figures = readFigures(context.db, context.nowMs, ids) }: ProfileOptions = {},
): Profile[] {
  const { db, partner, nowMs } = context;
  const list = JSON.stringify(ids);
  const rows = db.all<ProfileRow>(
    `SELECT id.value AS id, p.name, p.images, p.handles, p.nsfw, n.name AS partnerName, n.avatar_url AS avatarUrl, e.external_id AS externalId
     FROM json_each(?3) id LEFT JOIN profile p ON p.id = id.value
     LEFT JOIN partner_name n ON n.profile_id = id.value AND n.partner_id = ?1
     LEFT JOIN external e ON e.profile_id = id.value AND e.partner_id = ?2
     WHERE coalesce(p.id, n.profile_id, e.profile_id) IS NOT NULL`,
    [partner.id, partner.id, list],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  const allWallets = db.all<WalletRow>(
    `SELECT address, profile_id AS profileId, ready_ms AS readyMs FROM wallet WHERE profile_id ${oneOf} ORDER BY address`,
    [list],
  );
  const wallets = groupBy(allWallets, ({ profileId }) => profileId);
  const describe = describeTrading(context, ids, figures, full);
  const followed = viewers && followedBy(context, viewers);
  return ids.map((id) => {
    const own = wallets.get(id) ?? [];
    const row = byId.get(id);
    const { metadata, metrics } = describe(id);
    const images = row?.avatarUrl
      ? { raw: row.avatarUrl, xs: row.avatarUrl, sm: row.avatarUrl }
      : row?.images
        ? JSON.parse(row.images)
        : noImages;
    return {
      id,
      name: chooseName(row, own, partner),
      images,
      addresses: own.map((wallet) => wallet.address),
      ...(row?.externalId ? { externalId: row.externalId } : {}),
      metadata: { ...noHandles, ...(row?.handles ? JSON.parse(row.handles) : {}), ...metadata },
      isNSFW: row?.nsfw ? JSON.parse(row.nsfw) : false,
      ...(full ? { metrics, status: computeStatus(own, nowMs) } : {}),
      ...(followed === undefined ? {} : { isFollowedByUser: followed.has(id) }),
    } as Profile;
  });
}

const noImages = { raw: null, xs: null, sm: null };
const noHandles = {
  farcasterUsername: null,
  farcasterId: null,
  lensHandle: null,
  ensName: null,
  twitterHandle: null,
  debankName: null,
  hlName: null,
};

function chooseName(row: ProfileRow | undefined, wallets: readonly WalletRow[], partner: Partner): string {
  if (row?.partnerName) return row.partnerName + partner.suffix;
  return row?.name ?? row?.externalId ?? shortName(wallets[0]?.address ?? row?.id ?? '');
}

export function shortName(address: string): string {
  return address.length <= 12 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`;
}

function computeStatus(wallets: readonly WalletRow[], nowMs: number): ProfileStatus {
  if (wallets.every(({ readyMs }) => readyMs === null)) return 'unnamed';
  return wallets.every(({ readyMs }) => readyMs !== null && readyMs <= nowMs) ? 'active' : 'backfilling';
}

/** Actors by wallet address, with the profile in its plain form. Source: section "Actor". */
export function readActors(context: RequestContext, addresses: readonly string[]): Map<string, Json> {
  const sql = `SELECT address, profile_id AS profileId FROM wallet WHERE address ${oneOf}`;
  const rows = context.db.all<{ address: string; profileId: string }>(sql, [JSON.stringify(addresses)]);
  const ids = [...new Set(rows.map((row) => row.profileId))];
  const byId = new Map(readProfiles(context, ids).map((each) => [each.id, each]));
  return new Map(
    rows.map(({ address, profileId }) => {
      const profile = byId.get(profileId);
      return [address, { type: 'user', address, name: profile?.name, images: profile?.images, profile }];
    }),
  );
}

/** The trading figures (part of ProfileMetadata) and ProfileMetrics of a profile, read once for all ids. */
function describeTrading(
  { db, nowMs, partner }: RequestContext,
  ids: readonly string[],
  figures: ReadonlyMap<string, readonly WindowFigures[]>,
  full: boolean,
) {
  const list = JSON.stringify(ids);
  const held = medianHoldingMinutes(db, list, nowMs);
  const comments30d = countComments(db, list, nowMs - windowMs['30d']);
  const makeMetrics = full ? readMetrics(db, list, partner.id, comments30d) : () => ({});
  // The public deployment leaves out chains without trades (wire-facts F3 to F5); the document has null for them.
  const perChain = (rows: readonly WindowFigures[], window: Timeframe) =>
    sumPerChain(rows, window, answersAsClicker(db));
  return (id: string): { metadata: Json; metrics: Json } => {
    const rows = figures.get(id) ?? [];
    const ofWindow = (window: Timeframe) => rows.filter(({ timeframe }) => timeframe === window);
    const [rows30d, rows7d] = [ofWindow('30d'), ofWindow('7d')];
    const metadata = {
      commentCount30d: comments30d.get(id) ?? 0,
      ...totals(rows30d, '30d'),
      ...totals(rows7d, '7d'),
      medianHoldingTimeMinutes: held.get(id) ?? null,
      ...(full ? { ...perAddress(rows30d), ...perChain(rows30d, '30d'), ...perChain(rows7d, '7d') } : {}),
    };
    return { metadata, metrics: makeMetrics(id) };
  };
}

function totals(rows: readonly WindowFigures[], window: Timeframe): Json {
  const exits = sum(rows, 'exits');
  return {
    [`pnl${window}`]: sum(rows, 'pnl'),
    [`winRate${window}`]: exits === 0 ? null : sum(rows, 'wins') / exits,
    // As the service does: those behind the win rate (wire-facts N5).
    [`tradeCount${window}`]: exits,
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

function sumPerChain(rows: readonly WindowFigures[], window: Timeframe, onlyTraded: boolean): Json {
  const byChain = groupBy(rows, (row) => row.chain);
  const shown = leaderboardChains.filter((chain) => !onlyTraded || byChain.has(chain));
  const each = (figure: (own: readonly WindowFigures[]) => number | null) =>
    Object.fromEntries(
      shown.map((chain) => {
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

type Summed = 'pnl' | 'costUsd' | 'volumeUsd' | 'exits' | 'wins';

function sum(rows: readonly WindowFigures[], key: Summed): number {
  return rows.reduce((total, row) => total + row[key], 0);
}

/** `null` if nothing with a cost was sold. */
function roiPercent(rows: readonly WindowFigures[]): number | null {
  const costUsd = sum(rows, 'costUsd');
  return costUsd > 0 ? (sum(rows, 'pnl') / costUsd) * 100 : null;
}

/** Median holding time of the closing trades of the last 30 days, in minutes, by profile; absent if nothing was closed. */
function medianHoldingMinutes(db: Db, list: string, nowMs: number): Map<string, number> {
  // Of an even count the mean of the two in the middle.
  const rows = db.all<{ profileId: string; medianMs: number }>(
    `SELECT profileId, avg(held_ms) AS medianMs FROM (
       SELECT w.profile_id AS profileId, t.held_ms, count(*) OVER (PARTITION BY w.profile_id) AS n,
         row_number() OVER (PARTITION BY w.profile_id ORDER BY t.held_ms) AS place
       FROM wallet w JOIN trade t ON t.wallet = w.address
       WHERE w.profile_id ${oneOf} AND t.at_ms > ? AND t.at_ms <= ? AND t.held_ms IS NOT NULL)
     WHERE place IN ((n + 1) / 2, (n + 2) / 2) GROUP BY profileId`,
    [list, nowMs - windowMs['30d'], nowMs],
  );
  return new Map(rows.map(({ profileId, medianMs }) => [profileId, medianMs / 60_000]));
}

function readMetrics(db: Db, list: string, partnerId: string, comments30d: Counts): (id: string) => Json {
  const follows = (column: string, counted: string) => {
    const from = `SELECT ${column} AS id, count(DISTINCT ${counted}) AS n FROM follow WHERE ${column} ${oneOf}`;
    return {
      own: readCounts(db, `${from} AND partner_id = ? GROUP BY ${column}`, [list, partnerId]),
      all: readCounts(db, `${from} GROUP BY ${column}`, [list]),
    };
  };
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

/** The numbers `n` of a query by `id`. */
export function readCounts(db: Db, sql: string, params: (string | number)[]): Counts {
  return new Map(db.all<{ id: string; n: number }>(sql, params).map(({ id, n }) => [id, n]));
}
