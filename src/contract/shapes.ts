import type { z } from 'zod';
import {
  actorSchema,
  cardSchema,
  commentSchema,
  positionStatsSchema,
  replySchema,
  tradeSchema,
} from '../model/position.ts';
import {
  imagesSchema,
  pnlSchema,
  profileMetadataSchema,
  profileMetricsSchema,
  profileSchema,
} from '../model/profile.ts';

/** Shapes of several resources, by the names of the interface document. */
export const namedShapes: Readonly<Record<string, z.ZodType>> = {
  Images: imagesSchema,
  Profile: profileSchema,
  ProfileMetadata: profileMetadataSchema,
  ProfileMetrics: profileMetricsSchema,
  Pnl: pnlSchema,
  Actor: actorSchema,
  Comment: commentSchema,
  Reply: replySchema,
  Trade: tradeSchema,
  PositionStats: positionStatsSchema,
  PositionCard: cardSchema,
};
