import { z } from 'zod';
import { chains } from './chain.ts';
import { knownText, number, text } from './field-schemas.ts';
import { actorSchema, commentSchema, positionStatsSchema, tradeSchema } from './position-answers.ts';

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
