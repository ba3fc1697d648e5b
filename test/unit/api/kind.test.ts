import { expect, test } from 'vitest';
import {
  boolean,
  checkValue,
  choice,
  describeKind,
  formatted,
  integer,
  json,
  type Kind,
  listOf,
  nullable,
  number,
  openChoice,
  optional,
  parseText,
  text,
} from '../../../src/api/kind.ts';

const anyName = { findProblem: (typed: string) => (/^[a-z]+$/.test(typed) ? undefined : 'must be a name') };
const open = openChoice(['base', 'tron'], anyName);
const anything = json({}, () => undefined);

const words: readonly [kind: Kind, words: string][] = [
  [text({ minLength: 0 }), 'text'],
  [text(), 'non-empty text'],
  [text({ minLength: 2 }), 'text'],
  [text({ maxLength: 9 }), '1 to 9 characters'],
  [text({ minLength: 0, maxLength: 9 }), '0 to 9 characters'],
  [nullable(text({ minLength: 0 })), 'text, or null'],
  [listOf(text({ minLength: 0 }), { maxItems: 5 }), 'text (at most 5 of them)'],
  [nullable(listOf(text({ minLength: 0 }), { maxItems: 5 })), 'text (at most 5 of them), or null'],
  [integer(), 'a whole number'],
  [integer(1), 'a whole number of at least 1'],
  [integer(undefined, 250), 'a whole number of at most 250'],
  [integer(0, 250), 'a whole number from 0 to 250'],
  [number(0), 'a number of at least 0'],
  [number(undefined, 0), 'a number of at most 0'],
  [boolean(), 'true or false'],
  [anything, 'JSON'],
  [choice(['7d']), '7d'],
  [choice(['7d', '30d']), 'one of 7d, 30d'],
  [open, 'one of base, tron or another'],
];

test.each(words)('the rule of a parameter like %j reads well', (kind, expected) => {
  expect(describeKind(kind)).toBe(expected);
});

const read: readonly [kind: Kind, given: string, value: unknown][] = [
  [text(), '12', '12'],
  [integer(), '12', 12],
  [integer(), '-12', -12],
  [integer(), '999999999999999', 999_999_999_999_999],
  [integer(), '1000000000000000', '1000000000000000'],
  [integer(), '1.5', '1.5'],
  [integer(), '', ''],
  [number(), '1.5', 1.5],
  [number(), '-.5', -0.5],
  [number(), '.25', 0.25],
  [number(), '1e3', 1000],
  [number(), '1e-12', 1e-12],
  [number(), '1e1000', '1e1000'],
  [number(), '0x10', '0x10'],
  [boolean(), 'true', true],
  [boolean(), 'false', false],
  [boolean(), 'TRUE', 'TRUE'],
  [anything, '{"a":[1]}', { a: [1] }],
  [anything, '{a', '{a'],
  [choice(['a']), 'b', 'b'],
  [choice([7, 30]), '7', 7],
  [listOf(integer()), '3', 3],
];

test.each(read)('for a parameter like %j, %j is read as %j', (kind, given, value) => {
  expect(parseText(kind, given)).toEqual(value);
});

const checked: readonly [kind: Kind, value: unknown, problem: object | undefined][] = [
  [text(), '', { value: '', message: 'must be non-empty text' }],
  [text({ maxLength: 2 }), '😀', undefined],
  [text({ maxLength: 2 }), '😀a', { value: '😀a', message: 'must be 1 to 2 characters' }],
  [text(), 7, { value: 7, message: 'must be non-empty text' }],
  [text(), undefined, { value: undefined, message: 'must be non-empty text' }],
  [optional(text()), undefined, undefined],
  [optional(text()), null, { value: null, message: 'must be non-empty text' }],
  [nullable(text()), null, undefined],
  [formatted(anyName), 'A', { value: 'A', message: 'must be a name' }],
  [integer(1, 250), 250, undefined],
  [integer(1, 250), 251, { value: 251, message: 'must be a whole number from 1 to 250' }],
  [integer(), 1.5, { value: 1.5, message: 'must be a whole number' }],
  [number(), Number.POSITIVE_INFINITY, { value: Number.POSITIVE_INFINITY, message: 'must be a number' }],
  [boolean(), 'true', { value: 'true', message: 'must be true or false' }],
  [choice([7, 30]), '7', { value: '7', message: 'must be one of 7, 30' }],
  [open, 'mars', undefined],
  [open, 'Mars!', { value: 'Mars!', message: 'must be a name' }],
  [listOf(integer()), 7, { value: 7, message: 'must be a list' }],
  [listOf(integer()), [1, 'x'], { value: 'x', message: 'must be a whole number' }],
  [listOf(integer(), { minItems: 1 }), [], { value: [], message: 'must have at least 1 item' }],
  [listOf(integer(), { maxItems: 1 }), [1, 2], { value: [1, 2], message: 'must have at most 1 items' }],
  [listOf(integer(), { keepFirst: 1 }), [1, 'x'], undefined],
  [json({}, () => 'must be a thing'), 1, { value: 1, message: 'must be a thing' }],
];

test.each(checked)('for a parameter like %j, the problem of %j is %j', (kind, value, problem) => {
  expect(checkValue(kind, value)).toEqual(problem);
});
