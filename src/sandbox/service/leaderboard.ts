import { chainTitles, type LeaderboardChain, leaderboardChains } from '../../api/chain.ts';
import type * as endpoints from '../../api/leaderboard.ts';
import type { Profile } from '../../api/profile-answers.ts';
import { windowMs } from '../ledger/figures.ts';
import { oneOf } from '../ledger/trade.ts';
import { defaultLimits, type Handler, type SandboxCall } from './handler.ts';
import { findProfile, followedByViewers } from './identifiers.ts';
import { hydrateProfiles } from './profiles.ts';
import { commenters, findStandings, rankProfiles, type Standing, standings } from './standings.ts';

/** The period of the copytraded board; the service names its two ends and not its length (wire-facts 3.4): assumed. */
const copyPeriod = '30d';

function listProfiles(call: SandboxCall, shown: readonly Standing[]): Profile[] {
  return hydrateProfiles(
    call,
    shown.map(({ profileId }) => profileId),
    { full: true },
  );
}

function listTraders(call: SandboxCall, shown: readonly Standing[], viewers: string[] | undefined) {
  const withComments = commenters(call.db, call.nowMs);
  const followed = followedByViewers(call.db, viewers, call.partner);
  return listProfiles(call, shown).map((profile, index) => ({
    profile,
    pnl: { total: shown[index]?.total ?? 0, perChain: shown[index]?.perChain },
    hasComments: withComments.has(profile.id),
    ...(followed && { isFollowedByUser: followed.has(profile.id) }),
  }));
}

/** GET /v2/leaderboard: sorted by `pnl.total` descending, ties by profile id; at most `limit`; may be empty. */
export const list: Handler<typeof endpoints.list> = (input, call) => {
  const { chains, timeframe, onlyWithComments, limit = defaultLimits.leaderboard } = input;
  const shown = standings(call.db, call.nowMs, { chains, timeframe, onlyWithComments, limit });
  return { traders: listTraders(call, shown, input.viewerAddresses) };
};

/** GET /v2/leaderboard/ranking: the 1-based place on the same board, `null` when not on it. */
export const rank: Handler<typeof endpoints.rank> = (input, call) => {
  const { db, nowMs } = call;
  const id = findProfile(db, input.address, call.partner);
  const place = rankProfiles(db, nowMs, input).findIndex(({ profileId }) => profileId === id);
  const [{ total, perChain } = { total: 0, perChain: {} }] = place === -1 ? [] : findStandings(db, nowMs, [id], input);
  return { ranking: place === -1 ? null : place + 1, pnl: { total, perChain } };
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
  const pnls = findStandings(db, nowMs, ids, { chains, timeframe: copyPeriod });
  const traders = listTraders(call, pnls, input.viewerAddresses);
  return {
    periodStartUnix: Math.floor(startMs / 1000),
    periodEndUnix: Math.floor(nowMs / 1000),
    ranking: place === -1 ? null : place + 1,
    traders: traders.map((trader, index) => {
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
  const withComments = commenters(call.db, call.nowMs);
  return {
    sections: shownSections.map(({ key, title, of, chains }) => {
      const { timeframe, limit = defaultLimits.leaderboard } = input;
      const shown = standings(call.db, call.nowMs, { chains, timeframe, limit });
      const profiles = listProfiles(call, shown);
      const entries = profiles.map(({ status: _, ...profile }, index) => ({
        reason: { title: `${title} PnL`, value: String(shown[index]?.total ?? 0), format: 'currency' },
        ...profile,
      }));
      return {
        key,
        title,
        description: `Top traders ${of}`,
        commenters: entries.filter((entry) => withComments.has(entry.id)),
        others: entries.filter((entry) => !withComments.has(entry.id)),
      };
    }),
  };
};
