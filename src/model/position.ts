import { z } from 'zod';
import { chains } from './chain.ts';
import { knownText } from './known-text.ts';
import { imagesSchema, profileSchema } from './profile.ts';

const text = z.string().nullable().optional();
const number = z.number().nullable().optional();

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

/** A signed comment on a swap; section "Comment". `copyVolume` is USD as text; replies only where one position is asked for. */
export const commentSchema = z.looseObject({
  uid: z.string(),
  transactionHash: z.string(),
  chain: knownText(chains),
  tokenAddress: z.string(),
  commentText: z.string(),
  timestamp: z.number(),
  isAppUserComment: z.boolean().optional(),
  metrics: z
    .looseObject({
      copyCount: number,
      copyVolume: text,
      likeCount: number,
      isLikedByUser: z.boolean().optional(),
    })
    .optional(),
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
  metrics: z.looseObject({
    copyCount: number,
    copyVolume: text,
    likeCount: number,
    isLikedByUser: z.boolean().optional(),
    replyCount: number,
    commentCount: number,
  }),
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

export type Comment = z.output<typeof commentSchema>;
export type TradeItem = z.output<typeof tradeSchema>;
export type Card = z.output<typeof cardSchema>;

/** Tokens and USD, as the service names them. */
export type Holding = Pick<Card['metadata'], 'perpPositionType' | 'positionAmount' | 'positionAmountWithLeverage'> & {
  positionStats: Pick<
    z.output<typeof positionStatsSchema>,
    | 'realizedGainsUSD'
    | 'holdingsCostBasisUSD'
    | 'holdingReceivedCostBasisUSD'
    | 'holdingsCostBasisUSDWithLeverage'
    | 'isOpen'
  >;
};

/**
 * Gain or loss if sold at a price, in USD; `null` without a price or the figures for it. Nothing for a position that the service calls closed:
 * perps keep an amount there. A short gains what the price falls below its cost basis; the side is `perpPositionType`'s, the sign of an amount
 * says nothing. Source: "Unrealized PnL" under "Position card (feed item)"; wire-facts N3, N7.
 */
export function unrealizedUsd(holding: Holding, priceUsd: number | null | undefined): number | null {
  if (holding.positionStats.isOpen === false) return 0;
  if (priceUsd === null || priceUsd === undefined) return null;
  if (!isPerp(holding))
    return computeGain(holding.positionAmount, priceUsd, holding.positionStats.holdingsCostBasisUSD);
  const size = readSize(holding.positionAmountWithLeverage);
  const longGain = computeGain(size, priceUsd, readSize(holding.positionStats.holdingsCostBasisUSDWithLeverage));
  return longGain === null || holding.perpPositionType !== 'short' ? longGain : 0 - longGain;
}

/**
 * The same by the public guide's formula for spot, which counts received tokens at their market value; `null` where both agree. Source:
 * wire-facts 5.1.
 */
export function unrealizedWithReceivedUsd(holding: Holding, priceUsd: number | null | undefined): number | null {
  const { holdingReceivedCostBasisUSD: received, isOpen } = holding.positionStats;
  if (isPerp(holding) || !received || isOpen === false) return null;
  const own = unrealizedUsd(holding, priceUsd);
  return own === null ? null : own - received;
}

/** Realized plus unrealized gain in USD. Source: wire-facts 5.1. */
export function totalUsd(holding: Holding, priceUsd: number | null | undefined): number | null {
  const unrealized = unrealizedUsd(holding, priceUsd);
  return unrealized === null ? null : holding.positionStats.realizedGainsUSD + unrealized;
}

function isPerp({ perpPositionType, positionAmountWithLeverage }: Holding): boolean {
  return typeof perpPositionType === 'string' || typeof positionAmountWithLeverage === 'number';
}

function readSize(figure: number | null | undefined): number | null {
  return figure === null || figure === undefined ? null : Math.abs(figure);
}

function computeGain(amount: number | null | undefined, priceUsd: number, costUsd: number | null | undefined) {
  if (amount === null || amount === undefined || costUsd === null || costUsd === undefined) return null;
  return amount * priceUsd - costUsd;
}
