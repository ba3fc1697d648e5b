import { chainTitles, type LeaderboardChain, leaderboardChains } from '../../api/chain.ts';
import type * as endpoints from '../../api/leaderboard.ts';
import { secondsOf } from '../db/settings.ts';
import {
  type BoardQuery,
  listCommenters,
  rankProfiles,
  readFigures,
  type Timeframe,
  type WindowFigures,
  windowMs,
} from '../ledger/figures.ts';
import { oneOf } from '../ledger/trade.ts';
import { defaultLimits, type Handler, type SandboxCall } from './handler.ts';
import { findProfile, followedBy } from './identifiers.ts';
import { readProfiles } from './profiles.ts';

const defaultTimeframe: Timeframe = '30d';
/** The period of the copytraded board; the service names its two ends and not its length (wire-facts 3.4): assumed. */
const copyPeriod: Timeframe = '30d';

type Pnl = {
  total: number;
  perChain: Partial<Record<LeaderboardChain, number>>;
};

/** What a profile realized on the chains of a board; `total` is the sum of `perChain`. */
function sumPnl(figures: readonly WindowFigures[] = [], { chains, timeframe = defaultTimeframe }: BoardQuery): Pnl {
  const pnl: Pnl = { total: 0, perChain: {} };
  for (const chain of [...new Set(chains ?? leaderboardChains)].sort()) {
    const own = figures.filter((row) => row.chain === chain && row.timeframe === timeframe);
    if (own.length === 0) continue;
    const usd = own.reduce((sum, row) => sum + row.pnl, 0);
    pnl.perChain[chain] = usd;
    pnl.total += usd;
  }
  return pnl;
}

/** The profiles of a board with what they realized, in the order of the ids. */
function readTraders(call: SandboxCall, ids: readonly string[], board: BoardQuery) {
  const figures = readFigures(call.db, call.nowMs, ids);
  const profiles = readProfiles(call, ids, { full: true, figures });
  return profiles.map((profile) => ({ profile, pnl: sumPnl(figures.get(profile.id), board) }));
}

function listTraders(call: SandboxCall, ids: readonly string[], board: BoardQuery, viewers: string[] | undefined) {
  const commenters = listCommenters(call.db, call.nowMs);
  const followed = viewers && followedBy(call, viewers);
  return readTraders(call, ids, board).map(({ profile, pnl }) => ({
    profile,
    pnl,
    hasComments: commenters.has(profile.id),
    ...(followed && { isFollowedByUser: followed.has(profile.id) }),
  }));
}

/** GET /v2/leaderboard: sorted by `pnl.total` descending, ties by profile id; at most `limit`; may be empty. */
export const list: Handler<typeof endpoints.list> = (input, call) => {
  const { chains, timeframe, onlyWithComments, limit = defaultLimits.leaderboard } = input;
  const ranked = rankProfiles(call.db, call.nowMs, { chains, timeframe, onlyWithComments, limit });
  const ids = ranked.map(({ profileId }) => profileId);
  return { traders: listTraders(call, ids, { chains, timeframe }, input.viewerAddresses) };
};

/** GET /v2/leaderboard/ranking: the 1-based place on the same board, `null` when not on it. */
export const rank: Handler<typeof endpoints.rank> = (input, call) => {
  const { db, nowMs } = call;
  const id = findProfile(db, input.address, call.partner);
  const place = rankProfiles(db, nowMs, input).findIndex(({ profileId }) => profileId === id);
  if (place === -1) return { ranking: null, pnl: { total: 0, perChain: {} } };
  return { ranking: place + 1, pnl: sumPnl(readFigures(db, nowMs, [id]).get(id), input) };
};

interface CopiedTrader {
  profileId: string;
  count: number;
  distinctActors: number;
  volumeUSD: number;
}

/** GET /v2/leaderboard/copytraded: sorted by copied volume descending, ties by profile id; `ranking` is null when not on it. */
export const copytraded: Handler<typeof endpoints.copytraded> = (input, call) => {
  const { db, nowMs, partner } = call;
  const chains = input.chains ?? leaderboardChains;
  const startMs = nowMs - windowMs[copyPeriod];
  const board = db.all<CopiedTrader>(
    `SELECT w.profile_id AS profileId, count(*) AS count, count(DISTINCT k.wallet) AS distinctActors, sum(k.usd) AS volumeUSD
     FROM copy k JOIN comment c ON c.id = k.comment_id JOIN wallet w ON w.address = c.wallet
     WHERE k.at_ms > ? AND k.at_ms <= ? AND c.chain ${oneOf}
     GROUP BY w.profile_id ORDER BY volumeUSD DESC, profileId`,
    [startMs, nowMs, JSON.stringify(chains)],
  );
  const wanted = input.address === undefined ? undefined : findProfile(db, input.address, partner);
  const place = board.findIndex(({ profileId }) => profileId === wanted);
  const shown = board.slice(0, input.limit ?? defaultLimits.leaderboard);
  const ids = shown.map(({ profileId }) => profileId);
  const toSec = secondsOf(db);
  return {
    periodStartUnix: toSec(startMs),
    periodEndUnix: toSec(nowMs),
    ranking: place === -1 ? null : place + 1,
    traders: listTraders(call, ids, { chains, timeframe: copyPeriod }, input.viewerAddresses).map((trader, index) => {
      const { count = 0, distinctActors = 0, volumeUSD = 0 } = shown[index] ?? {};
      return { ...trader, copytrades: { count, distinctActors, volumeUSD } };
    }),
  };
};

const knownSections: readonly { key: string; title: string; of: string; chains: readonly LeaderboardChain[] }[] = [
  { key: 'all', title: 'All chains', of: 'over all chains', chains: leaderboardChains },
  ...leaderboardChains.map((chain) => ({
    key: `chain-${chain}`,
    title: chainTitles[chain],
    of: `on ${chainTitles[chain]}`,
    chains: [chain],
  })),
];

/** GET /v1/leaderboard: each section split into commenters and others. A bare chain means its section, which is what public clients send. */
export const sections: Handler<typeof endpoints.sections> = (input, call) => {
  const keys = input.sections?.map((key) => (leaderboardChains.some((chain) => chain === key) ? `chain-${key}` : key));
  const shownSections = knownSections.filter(({ key }) => keys === undefined || keys.includes(key));
  for (const key of keys ?? [])
    if (!shownSections.some((section) => section.key === key)) call.ignore(`sections=${key}`);
  const commenters = listCommenters(call.db, call.nowMs);
  return {
    sections: shownSections.map(({ key, title, of, chains }) => {
      const board = { chains, timeframe: input.timeframe, limit: input.limit ?? defaultLimits.leaderboard };
      const ids = rankProfiles(call.db, call.nowMs, board).map(({ profileId }) => profileId);
      const entries = readTraders(call, ids, board).map(({ profile: { status: _, ...profile }, pnl }) => ({
        reason: { title: `${title} PnL`, value: String(pnl.total), format: 'currency' },
        ...profile,
      }));
      return {
        key,
        title,
        description: `Top traders ${of}`,
        commenters: entries.filter(({ id }) => commenters.has(id)),
        others: entries.filter(({ id }) => !commenters.has(id)),
      };
    }),
  };
};
