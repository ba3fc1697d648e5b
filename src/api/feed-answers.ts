import { z } from 'zod';
import { text } from './field-schemas.ts';
import { cardSchema } from './position-answers.ts';

/** Pages in both directions: a cursor, and the address that it leads to; null or absent if nothing lies that way. */
const paginationSchema = z.looseObject({
  olderCursor: text,
  olderItemsURL: text,
  newerCursor: text,
  newerItemsURL: text,
});

export const feedSchema = z.looseObject({ items: z.array(cardSchema), pagination: paginationSchema.optional() });

export type FeedAnswer = z.output<typeof feedSchema>;
