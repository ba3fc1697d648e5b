import { z } from 'zod';
import { leaderboardChains } from './chain.ts';
import { knownText, number, text } from './field-schemas.ts';

/** Image addresses in three sizes; section "Images". */
export const imagesSchema = z.looseObject({ raw: text, xs: text, sm: text });

const perChain = z.looseObject(Object.fromEntries(leaderboardChains.map((chain) => [chain, number])));
const perAddress = z.record(z.string(), z.number().nullable());

/** Social handles and trading figures of a profile; section "ProfileMetadata". USD, percent, win rates 0..1, minutes. */
export const profileMetadataSchema = z.looseObject({
  farcasterUsername: text,
  farcasterId: number,
  lensHandle: text,
  ensName: text,
  twitterHandle: text,
  debankName: text,
  hlName: text,
  commentCount30d: number,
  pnl30d: number,
  winRate30d: number,
  tradeCount30d: number,
  roiPercent30d: number,
  pnl7d: number,
  winRate7d: number,
  tradeCount7d: number,
  roiPercent7d: number,
  medianHoldingTimeMinutes: number,
  perAddressPnl30d: perAddress.optional(),
  perAddressRoiPercent30d: perAddress.optional(),
  perChainPnl30d: perChain.optional(),
  perChainRoiPercent30d: perChain.optional(),
  perChainVolumeUsd30d: perChain.optional(),
  perChainPnl7d: perChain.optional(),
  perChainRoiPercent7d: perChain.optional(),
  perChainVolumeUsd7d: perChain.optional(),
});

const followCounts = z.looseObject({ followingCount: number, followerCount: number });

/** Follow, comment and copy-trade counts; section "ProfileMetrics". */
export const profileMetricsSchema = z.looseObject({
  thisPartner: followCounts.optional(),
  allPartners: followCounts.optional(),
  comments: z.looseObject({ commentCount30d: number, commentCountAllTime: number }).optional(),
  copytradedAllTime: z.looseObject({ count: number, distinctActors: number, volumeUSD: number }).optional(),
});

const nsfwSchema = z.union([z.literal(false), z.looseObject({ nsfwImage: z.boolean(), nsfwText: z.boolean() })]);

/** Tracking states of a profile's addresses; section "Profile status". */
const profileStatuses = ['unnamed', 'backfilling', 'active'] as const;
export type ProfileStatus = (typeof profileStatuses)[number];

/** A set of wallet addresses with social identities; section "Profile". Metrics and status are absent if the document says so. */
export const profileSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  images: imagesSchema,
  addresses: z.array(z.string()),
  externalId: text,
  metadata: profileMetadataSchema,
  isNSFW: nsfwSchema.optional(),
  metrics: profileMetricsSchema.optional(),
  status: knownText(profileStatuses).optional(),
  isFollowedByUser: z.boolean().optional(),
});

export const profilePageSchema = z.looseObject({
  items: z.array(profileSchema),
  cursor: z.string().nullable().optional(),
});

/** PnL over the chains asked for, in USD: the total, and each chain that has data. */
export const pnlSchema = z.looseObject({ total: z.number(), perChain: perChain.optional() });

export type Profile = z.output<typeof profileSchema>;
export type ProfilePage = z.output<typeof profilePageSchema>;
