import { expect, test } from 'vitest';
import { z } from 'zod';
import { findMismatch } from '../../../src/api/mismatch.ts';

const card = z.looseObject({ id: z.string(), tags: z.array(z.string()).min(1).max(2).optional() });
const board = z.looseObject({ cards: z.array(card).max(2), others: z.array(z.number()), total: z.number() });
const issues: readonly [schema: z.ZodType, value: unknown, where: string, message: string][] = [
  [board, null, 'the answer', 'expected object, found null'],
  [board, { others: [], total: 1 }, 'cards', 'expected array, found nothing'],
  [board, { cards: [], others: [1, 'x'], total: 'z' }, 'others.1', 'expected number, found string'],
  [board, { cards: [{ id: 'a' }, { id: 1 }] }, 'cards.1.id', 'expected string, found number'],
  [board, { cards: [{ id: 'a', tags: ['x', 2] }] }, 'cards.0.tags.1', 'expected string, found number'],
  [z.array(card), [{ id: 'a' }, 'x'], '1', 'expected object, found string'],
  [z.array(z.string()).min(1), [], 'the answer', 'Too small: expected array to have >=1 items'],
];

test.each(issues)('the first mismatch is reported with its path (case %#)', (schema, value, where, message) => {
  expect(findMismatch(schema, value)).toBe(`an unexpected shape at ${where}: ${message}`);
});
