import { z } from 'zod';
import { cardSchema } from './position-answers.ts';

const textOrNull = z.string().nullable().optional();

/** Pages in both directions: a cursor, and the address that it leads to; null or absent if nothing lies that way. */
const paginationSchema = z.looseObject({
  olderCursor: textOrNull,
  olderItemsURL: textOrNull,
  newerCursor: textOrNull,
  newerItemsURL: textOrNull,
});

export const feedSchema = z.looseObject({ items: z.array(cardSchema), pagination: paginationSchema.optional() });

export type FeedAnswer = z.output<typeof feedSchema>;
