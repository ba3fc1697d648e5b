import { type LeaderboardChain, leaderboardChains } from '../../model/chain.ts';
import type { Profile } from '../../model/profile.ts';
import { defaultLimits, type Handler, type SandboxCall } from '../../sandbox/http/service.ts';
import { findProfile, followedByViewers } from '../../sandbox/social/lookup.ts';
import { hydrateProfiles } from '../../sandbox/social/profiles.ts';
import { commenters, type Standing, standings } from '../../sandbox/social/standings.ts';
import { windowFigures, windowMs } from '../../sandbox/trades/figures.ts';
import { oneOf } from '../../sandbox/trades/queries.ts';
import type * as endpoints from './endpoints.ts';

/** The period of the copytraded board; the service names its two ends and not its length (wire-facts 3.4): assumed. */
const copyPeriod = '30d';

function profilesOf(call: SandboxCall, shown: readonly { profileId: string }[]): Profile[] {
  const ids = shown.map((standing) => standing.profileId);
  return hydrateProfiles(call.db, ids, { partner: call.partner, nowMs: call.nowMs, full: true }) as Profile[];
}

/** GET /v2/leaderboard: sorted by `pnl.total` descending, ties by profile id; at most `limit`; may be empty. */
export const list: Handler<typeof endpoints.list> = (input, call) => {
  const { db, nowMs, partner } = call;
  const { chains, timeframe, onlyWithComments, limit = defaultLimits.leaderboard } = input;
  const shown = standings(db, nowMs, { chains, timeframe, onlyWithComments, limit });
  const withComments = commenters(db, nowMs);
  const followed = followedByViewers(db, input.viewerAddresses, partner);
  const profiles = profilesOf(call, shown);
  return {
    traders: profiles.map((profile, index) => ({
      profile,
      pnl: { total: shown[index]?.total ?? 0, perChain: shown[index]?.perChain },
      hasComments: withComments.has(profile.id),
      ...(followed && { isFollowedByUser: followed.has(profile.id) }),
    })),
  };
};

/** GET /v2/leaderboard/ranking: the 1-based place on the same board, `null` when not on it. */
export const rank: Handler<typeof endpoints.rank> = (input, call) => {
  const id = findProfile(call.db, input.address, call.partner);
  const board = standings(call.db, call.nowMs, input);
  const place = board.findIndex((standing) => standing.profileId === id);
  const { total, perChain } = board[place] ?? { total: 0, perChain: {} };
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
  const pnls = pnlOf(call, shown, chains);
  const withComments = commenters(db, nowMs);
  const followed = followedByViewers(db, input.viewerAddresses, partner);
  const profiles = profilesOf(call, shown);
  return {
    periodStartUnix: Math.floor(startMs / 1000),
    periodEndUnix: Math.floor(nowMs / 1000),
    ranking: place === -1 ? null : place + 1,
    traders: shown.flatMap(({ profileId, ...copytrades }, index) => {
      const profile = profiles[index];
      if (profile === undefined) return [];
      const pnl = pnls.get(profileId) ?? { total: 0, perChain: {} };
      return {
        profile,
        pnl,
        hasComments: withComments.has(profileId),
        ...(followed && { isFollowedByUser: followed.has(profileId) }),
        copytrades,
      };
    }),
  };
};

type Pnl = Pick<Standing, 'total' | 'perChain'>;

function pnlOf(
  { db, nowMs }: SandboxCall,
  shown: readonly CopiedTrader[],
  chains: readonly LeaderboardChain[],
): Map<string, Pnl> {
  const ids = shown.map(({ profileId }) => profileId);
  const pnls = new Map<string, Pnl>();
  for (const { profileId, chain, pnl } of windowFigures(db, copyPeriod, nowMs, ids)) {
    if (!chains.includes(chain)) continue;
    const { total, perChain } = pnls.get(profileId) ?? { total: 0, perChain: {} };
    pnls.set(profileId, { total: total + pnl, perChain: { ...perChain, [chain]: (perChain[chain] ?? 0) + pnl } });
  }
  return pnls;
}

interface Section {
  key: string;
  title: string;
  description: string;
  chains: readonly LeaderboardChain[];
}

const chainNames: Record<LeaderboardChain, string> = {
  base: 'Base',
  solana: 'Solana',
  ethereum: 'Ethereum',
  hyperliquid: 'Hyperliquid',
};

const knownSections: readonly Section[] = [
  { key: 'all', title: 'All chains', description: 'Top traders over all chains', chains: leaderboardChains },
  ...leaderboardChains.map((chain) => ({
    key: `chain-${chain}`,
    title: chainNames[chain],
    description: `Top traders on ${chainNames[chain]}`,
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
    sections: shownSections.map(({ key, title, description, chains }) => {
      const { timeframe, limit = defaultLimits.leaderboard } = input;
      const shown = standings(call.db, call.nowMs, { chains, timeframe, limit });
      const profiles = profilesOf(call, shown);
      const entries = profiles.map(({ status: _, ...profile }, index) => ({
        reason: { title: `${title} PnL`, value: String(shown[index]?.total ?? 0), format: 'currency' },
        ...profile,
      }));
      return {
        key,
        title,
        description,
        commenters: entries.filter((entry) => withComments.has(entry.id)),
        others: entries.filter((entry) => !withComments.has(entry.id)),
      };
    }),
  };
};
