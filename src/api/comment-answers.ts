import { z } from 'zod';
import { chains } from './chain.ts';
import { knownText } from './known-values.ts';
import { actorSchema, commentSchema, positionStatsSchema, tradeSchema } from './position-answers.ts';

const numberOrNull = z.number().nullable().optional();
const textOrNull = z.string().nullable().optional();

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
        perpPositionType: textOrNull,
        perpLeverage: numberOrNull,
        positionAmount: numberOrNull,
        positionStats: positionStatsSchema.optional(),
        positionAmountWithLeverage: numberOrNull,
      })
      .optional(),
    token: z.looseObject({
      chain: knownText(chains),
      symbol: textOrNull,
      name: textOrNull,
      address: z.string(),
      commentCount: numberOrNull,
    }),
  }),
);

export type CommentsAnswer = z.output<typeof commentsSchema>;
export type CopyAnswer = z.output<typeof copySchema>;
export type TokenCommentsAnswer = z.output<typeof tokenCommentsSchema>;
