import { z } from 'zod';
import { chains, leaderboardChains } from './chain.ts';

// A command checks one answer or a few: compiling a check takes longer than running it.
z.config({ jitless: true });

/** Fields that may be null or absent. */
const text = z.string().nullable().optional();
const number = z.number().nullable().optional();

/** A text of which the interface document lists the values; others are accepted too, unless `--strict` is given. */
export function knownText(values: readonly string[]) {
  return z
    .string()
    .refine((text) => values.includes(text), {
      error: ({ input }) => `${JSON.stringify(input)} is not one of ${values.join(', ')}`,
      params: { isUnknownValue: true },
    })
    .meta({ 'x-known-values': [...values] });
}

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

export const followSchema = z.looseObject({ targetProfiles: z.array(profileSchema) });

export type FollowAnswer = z.output<typeof followSchema>;

const traderSchema = z.looseObject({
  profile: profileSchema,
  pnl: pnlSchema,
  hasComments: z.boolean().optional(),
  isFollowedByUser: z.boolean().optional(),
});

export const leaderboardSchema = z.looseObject({ traders: z.array(traderSchema) });

export const rankSchema = z.looseObject({ ranking: z.int().nullable(), pnl: pnlSchema.optional() });

export const copytradedSchema = z.looseObject({
  periodStartUnix: z.number(),
  periodEndUnix: z.number(),
  ranking: z.int().nullable().optional(),
  traders: z.array(
    traderSchema.extend({
      copytrades: z.looseObject({ count: z.number(), distinctActors: z.number(), volumeUSD: z.number() }),
    }),
  ),
});

const sectionEntrySchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  addresses: z.array(z.string()),
  reason: z.looseObject({ title: z.string(), value: z.string(), format: z.string() }),
  metadata: profileMetadataSchema,
});

export const sectionsSchema = z.looseObject({
  sections: z.array(
    z.looseObject({
      key: z.string(),
      title: z.string(),
      description: z.string().optional(),
      commenters: z.array(sectionEntrySchema),
      others: z.array(sectionEntrySchema),
    }),
  ),
});

export type Trader = z.output<typeof traderSchema>;
export type LeaderboardAnswer = z.output<typeof leaderboardSchema>;
export type RankAnswer = z.output<typeof rankSchema>;
export type CopytradedAnswer = z.output<typeof copytradedSchema>;
export type SectionsAnswer = z.output<typeof sectionsSchema>;

/** A wallet as it appears in feeds and comments; section "Actor". */
export const actorSchema = z.looseObject({
  type: text,
  address: z.string(),
  name: text,
  images: imagesSchema.optional(),
  profile: profileSchema.optional(),
});

/** An answer to a comment; section "Reply". `timestamp` in Unix seconds. */
export const replySchema = z.looseObject({
  id: z.string(),
  text: z.string(),
  author: actorSchema,
  timestamp: z.number(),
  likeCount: number,
  isLikedByUser: z.boolean().optional(),
});

/** `copyVolume` is USD as text. */
const copiesAndLikes = {
  copyCount: number,
  copyVolume: text,
  likeCount: number,
  isLikedByUser: z.boolean().optional(),
};

/** A signed comment on a swap; section "Comment". Replies only if one position is requested. */
export const commentSchema = z.looseObject({
  uid: z.string(),
  transactionHash: z.string(),
  chain: knownText(chains),
  tokenAddress: z.string(),
  commentText: z.string(),
  timestamp: z.number(),
  isAppUserComment: z.boolean().optional(),
  metrics: z.looseObject(copiesAndLikes).optional(),
  signerAddress: z.string(),
  replies: z.array(replySchema).optional(),
});

/** One trade of a position; section "Trade". Tokens, USD, Unix seconds; `perp...` on perps only. */
export const tradeSchema = z.looseObject({
  tokenAmount: z.number(),
  usdCost: z.number(),
  marketCap: number,
  timestamp: z.number(),
  transactionHash: text,
  direction: z.string(),
  classification: text,
  intent: text,
  perpPositionType: text,
  perpLeverage: number,
  comments: z.array(commentSchema).optional(),
});

/** Cost basis and realized gains in USD; section "PositionStats". `...WithLeverage` is notional, on perps only. */
export const positionStatsSchema = z.looseObject({
  boughtUSD: z.number(),
  soldUSD: z.number(),
  realizedGainsUSD: z.number(),
  holdingsCostBasisUSD: z.number(),
  receivedCostBasisUSD: number,
  holdingReceivedCostBasisUSD: number,
  isOpen: z.boolean().optional(),
  boughtUSDWithLeverage: number,
  soldUSDWithLeverage: number,
  holdingsCostBasisUSDWithLeverage: number,
  unavailable: z.boolean().optional(),
});

/** One trader's position in one token; section "Position card (feed item)". */
export const cardSchema = z.looseObject({
  totalCompletions: z.number(),
  itemTitle: z.string(),
  callToActions: z.array(z.looseObject({ text: z.string(), url: z.string() })),
  metadata: z.looseObject({
    tokenChain: knownText(chains),
    tokenSymbol: text,
    tokenName: text,
    tokenAddress: z.string(),
    metadataType: text,
    totalSupply: text,
    perpPositionType: text,
    perpLeverage: number,
    positionAmount: number,
    positionAmountWithLeverage: number,
    positionStats: positionStatsSchema,
    trades: z.array(tradeSchema),
  }),
  insights: z.array(z.looseObject({ text: z.string() })),
  metrics: z.looseObject({ ...copiesAndLikes, replyCount: number, commentCount: number }),
  itemId: z.string(),
  transactionHash: text,
  timestamp: z.number(),
  cardLatestTradeAt: number,
  actor: actorSchema,
  imageUrl: text,
  forYouTrade: tradeSchema
    .extend({ alphaTags: z.record(z.string(), z.number()).optional(), maxAlphaScore: number })
    .optional(),
});

export const cardsSchema = z.array(cardSchema);

export type Comment = z.output<typeof commentSchema>;
export type TradeItem = z.output<typeof tradeSchema>;
export type Card = z.output<typeof cardSchema>;

/** Pages in both directions: a cursor, and the address that it leads to; null or absent if nothing lies that way. */
const paginationSchema = z.looseObject({
  olderCursor: text,
  olderItemsURL: text,
  newerCursor: text,
  newerItemsURL: text,
});

export const feedSchema = z.looseObject({ items: z.array(cardSchema), pagination: paginationSchema.optional() });

export type FeedAnswer = z.output<typeof feedSchema>;

/** By transaction hash. */
export const commentsSchema = z.record(
  z.string(),
  z.looseObject({
    comments: z.array(commentSchema),
    insights: z.array(z.looseObject({ text: z.string() })).optional(),
  }),
);

export const copySchema = z.looseObject({ intentIds: z.array(z.string()) });

export const tokenCommentsSchema = z.array(
  z.looseObject({
    itemId: z.string(),
    actor: actorSchema,
    timestamp: z.number(),
    comment: commentSchema,
    trade: tradeSchema,
    positionDetails: z
      .looseObject({
        perpPositionType: text,
        perpLeverage: number,
        positionAmount: number,
        positionStats: positionStatsSchema.optional(),
        positionAmountWithLeverage: number,
      })
      .optional(),
    token: z.looseObject({
      chain: knownText(chains),
      symbol: text,
      name: text,
      address: z.string(),
      commentCount: number,
    }),
  }),
);

export type CommentsAnswer = z.output<typeof commentsSchema>;
export type CopyAnswer = z.output<typeof copySchema>;
export type TokenCommentsAnswer = z.output<typeof tokenCommentsSchema>;

export const webhookSchema = z.looseObject({
  destinationUrl: z.string(),
  uid: z.string(),
  secret: z.string().nullable().optional(),
});

export const webhooksSchema = z.array(webhookSchema);

export const changedSchema = z
  .looseObject({ uid: z.string().optional(), destinationUrl: z.string().optional() })
  .nullable();

export const deletedSchema = z.looseObject({}).nullable();

export const validationSchema = z.looseObject({ success: z.boolean(), error: z.string().nullable().optional() });

export type Webhook = z.output<typeof webhookSchema>;
export type WebhookList = z.output<typeof webhooksSchema>;
export type Validation = z.output<typeof validationSchema>;
