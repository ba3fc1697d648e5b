import { z } from 'zod';
import { pnlSchema, profileMetadataSchema, profileSchema } from './profile-answers.ts';

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
