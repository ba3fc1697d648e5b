import { type LeaderboardChain, leaderboardChains } from '../../model/chain.ts';
import type { Profile } from '../../model/profile.ts';
import { findProfile, followedBy, hydrateProfiles } from '../../sandbox/profiles.ts';
import type { Handler } from '../../sandbox/server.ts';
import type { SandboxCall } from '../../sandbox/service.ts';
import { commenters, type Standing, standings } from '../../sandbox/statistics.ts';
import type * as endpoints from './endpoints.ts';

/** Traders that a board shows when the request does not say how many (wire-facts 3.1, 3.2). */
const defaultLimit = 50;

interface Board {
  chains?: readonly LeaderboardChain[] | undefined;
  onlyWithComments?: boolean | undefined;
  timeframe?: '7d' | '30d' | undefined;
}

function boardOf(call: SandboxCall, { chains, onlyWithComments, timeframe }: Board): Standing[] {
  const all = standings(call.db, call.nowMs, { ...(chains && { chains }), ...(timeframe && { timeframe }) });
  if (onlyWithComments !== true) return all;
  const withComments = commenters(call.db, call.nowMs);
  return all.filter((standing) => withComments.has(standing.profileId));
}

function profilesOf(call: SandboxCall, shown: readonly Standing[]): Profile[] {
  const ids = shown.map((standing) => standing.profileId);
  return hydrateProfiles(call.db, ids, { partner: call.partner, nowMs: call.nowMs, full: true }) as Profile[];
}

/** GET /v2/leaderboard: sorted by `pnl.total` descending, ties by profile id; at most `limit`; may be empty. */
export const list: Handler<typeof endpoints.list> = (input, call) => {
  const shown = boardOf(call, input).slice(0, input.limit ?? defaultLimit);
  const withComments = commenters(call.db, call.nowMs);
  const followed = input.viewerAddresses && followedBy(call.db, input.viewerAddresses, call.partner);
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
  const board = boardOf(call, input);
  const place = board.findIndex((standing) => standing.profileId === id);
  const { total, perChain } = board[place] ?? { total: 0, perChain: {} };
  return { ranking: place === -1 ? null : place + 1, pnl: { total, perChain } };
};

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

/** GET /v1/leaderboard: the known sections asked for (unknown keys are passed over), each split into commenters and others. */
export const sections: Handler<typeof endpoints.sections> = (input, call) => {
  const asked = knownSections.filter(({ key }) => input.sections === undefined || input.sections.includes(key));
  const withComments = commenters(call.db, call.nowMs);
  return {
    sections: asked.map(({ key, title, description, chains }) => {
      const shown = boardOf(call, { chains, timeframe: input.timeframe }).slice(0, input.limit ?? defaultLimit);
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
