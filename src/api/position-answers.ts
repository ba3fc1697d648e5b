import { z } from 'zod';
import { chains } from './chain.ts';
import { knownText, number, text } from './field-schemas.ts';
import { imagesSchema, profileSchema } from './profile-answers.ts';

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
