import { expect, test } from 'vitest';
import { z } from 'zod';
import { knownText } from '../../../src/api/field-schemas.ts';
import { findMismatch } from '../../../src/api/mismatch.ts';

const card = z.looseObject({ id: z.string(), tags: z.array(z.string()).min(1).max(2).optional() });
const board = z.looseObject({ cards: z.array(card).max(2), others: z.array(z.number()), total: z.number() });
const ids = [{ id: 'a' }, { id: 'b' }];
const issues: readonly [schema: z.ZodType, value: unknown, path: readonly (string | number)[], message: string][] = [
  [board, null, [], 'Invalid input: expected object, received null'],
  [board, [], [], 'Invalid input: expected object, received array'],
  [board, { cards: ids, others: [], total: 'x' }, ['total'], 'Invalid input: expected number, received string'],
  [board, { others: [], total: 1 }, ['cards'], 'Invalid input: expected array, received undefined'],
  [board, { cards: 1, others: [], total: 1 }, ['cards'], 'Invalid input: expected array, received number'],
  [
    board,
    { cards: [{ id: 'a' }, { id: 1 }, { id: 2 }], others: [], total: 1 },
    ['cards', 1, 'id'],
    'Invalid input: expected string, received number',
  ],
  [
    board,
    { cards: [{ id: 'a', tags: ['x', 2] }], others: ['y'], total: 'z' },
    ['cards', 0, 'tags', 1],
    'Invalid input: expected string, received number',
  ],
  [board, { cards: [], others: [1, 'x'], total: 1 }, ['others', 1], 'Invalid input: expected number, received string'],
  [z.array(card), [{ id: 'a' }, 'x'], [1], 'Invalid input: expected object, received string'],
  [z.array(card), {}, [], 'Invalid input: expected array, received object'],
  [z.array(z.string()).min(1), [], [], 'Too small: expected array to have >=1 items'],
  [z.string(), 1, [], 'Invalid input: expected string, received number'],
  [z.string(), ['x'], [], 'Invalid input: expected string, received array'],
];

test.each(issues)('the first mismatch is reported with its path (case %#)', (schema, value, path, message) => {
  expect(findMismatch(schema, value)).toBe(`an unexpected shape at ${path.join('.') || 'the answer'}: ${message}`);
});

test('a value that fits has no mismatch', () => {
  expect(findMismatch(board, { cards: ids, others: [1], total: 2, more: [1] })).toBeUndefined();
  expect(findMismatch(z.array(card), ids)).toBeUndefined();
  expect(findMismatch(z.string(), 'x')).toBeUndefined();
});

const listed = z.looseObject({
  all: z.array(knownText(['x', 'y'])).optional(),
  maybe: z.union([knownText(['x']), z.null()]).optional(),
  byName: z.record(z.string(), knownText(['x'])).optional(),
  fixed: z.object({ one: knownText(['x']) }).optional(),
  free: z.string().optional(),
  count: z.number().optional(),
});

test.each<[answer: unknown, path: readonly PropertyKey[], message: string]>([
  [{ all: ['x', 'y', 'z'] }, ['all', 2], '"z" is not one of x, y'],
  [{ maybe: 'z' }, ['maybe'], '"z" is not one of x'],
  [{ byName: { a: 'x', b: 'z' } }, ['byName', 'b'], '"z" is not one of x'],
  [{ fixed: { one: 'z' } }, ['fixed', 'one'], '"z" is not one of x'],
  [{ fixed: { one: '' } }, ['fixed', 'one'], '"" is not one of x'],
])('%j has a value that the document does not list', (answer, path, message) => {
  expect(findMismatch(listed, answer, true)).toBe(`an unknown value at ${path.join('.')}: ${message}`);
  expect(findMismatch(listed, answer)).toBeUndefined();
});

test.each([
  {},
  { all: ['x'], maybe: null, byName: { a: 'x' }, fixed: { one: 'x' }, free: 'z', count: 1, other: ['z'] },
])('%j has none: fields that the document does not have are ignored', (answer) => {
  expect(findMismatch(listed, answer, true)).toBeUndefined();
});
