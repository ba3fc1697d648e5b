import { z } from 'zod';
import { type AnswerOf, defineEndpoint, inPath, inQuery } from '../../contract/endpoint.ts';
import { chainSchema } from '../../model/chain.ts';
import { actorSchema, commentSchema, positionStatsSchema, tradeSchema } from '../../model/position.ts';

const number = z.number().nullable().optional();
const text = z.string().nullable().optional();

const tokenCommentSchema = z.looseObject({
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
  token: z.looseObject({ chain: z.string(), symbol: text, name: text, address: z.string(), commentCount: number }),
});

/** GET /v1/tokens/{chain}/{contractAddress}/comments. Source: interface document and wire-facts 3.17. */
export const comments = defineEndpoint({
  id: 'token.comments',
  method: 'GET',
  path: '/v1/tokens/{chain}/{contractAddress}/comments',
  source: 'spec',
  summary: 'Comments on a token, newest first',
  params: {
    chain: inPath(chainSchema, 'chain of the token; perps are on hyperliquid'),
    contractAddress: inPath(z.string().min(1), 'contract address or mint; on hyperliquid the coin', {
      flag: 'contract',
      takesAddress: 'token',
    }),
    limit: inQuery(z.int().min(1).optional(), 'how many comments', { source: 'public', serviceDefault: '50' }),
  },
  answer: z.array(tokenCommentSchema),
  paging: { kind: 'limit', size: 'limit', defaultSize: 50, maxSize: Number.POSITIVE_INFINITY },
  examples: [
    {
      argv: 'token comments base 0x4ed4e862860bed51a9570b96d89af5e1b0efefed --limit 5',
      says: 'the five latest comments on a token',
    },
    { argv: 'token comments hyperliquid ETH --json', says: 'comments on ETH perps, as JSON' },
  ],
});

export type TokenCommentsAnswer = AnswerOf<typeof comments>;
