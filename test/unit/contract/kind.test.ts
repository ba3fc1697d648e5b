import { expect, test } from 'vitest';
import { z } from 'zod';
import { inBody, inPath, inQuery, type Param } from '../../../src/contract/endpoint.ts';
import { describeKind, type Kind, readItem, unknownChoices } from '../../../src/contract/kind.ts';
import { readKind } from '../../../src/contract/read-kind.ts';
import { checkInput, explainByKind } from '../../../src/contract/request.ts';

const plain: Kind = { type: 'text', list: false, nullable: false, optional: false, choices: [] };
const text = (changes: Partial<Kind> = {}): Kind => ({ ...plain, ...changes });

const words: readonly [kind: Partial<Kind>, words: string][] = [
  [{}, 'text'],
  [{ minLength: 1 }, 'text that is not empty'],
  [{ minLength: 2 }, 'text'],
  [{ maxLength: 9 }, 'text'],
  [{ minLength: 1, maxLength: 9 }, '1 to 9 characters'],
  [{ minLength: 0, maxLength: 9 }, '0 to 9 characters'],
  [{ nullable: true }, 'text, or null'],
  [{ list: true, maxItems: 5 }, 'text (at most 5 of them)'],
  [{ list: true, maxItems: 5, nullable: true }, 'text, or null (at most 5 of them)'],
  [{ type: 'integer' }, 'a whole number'],
  [{ type: 'integer', min: 1 }, 'a whole number of at least 1'],
  [{ type: 'integer', max: 250 }, 'a whole number of at most 250'],
  [{ type: 'integer', min: 0, max: 250 }, 'a whole number from 0 to 250'],
  [{ type: 'number', min: 0 }, 'a number of at least 0'],
  [{ type: 'number', max: 0 }, 'a number of at most 0'],
  [{ type: 'boolean' }, 'true or false'],
  [{ type: 'json' }, 'JSON'],
  [{ type: 'choice', choices: ['7d'] }, '7d'],
  [{ type: 'choice', choices: ['7d', '30d'] }, 'one of 7d, 30d'],
  [{ type: 'choice', choices: ['base', 'tron'], open: true }, 'one of base, tron or another'],
];

test.each(words)('what a parameter like %j must be reads well', (changes, expected) => {
  expect(describeKind(text(changes))).toBe(expected);
});

const read: readonly [kind: Partial<Kind>, given: string, value: unknown][] = [
  [{}, '12', '12'],
  [{}, '', ''],
  [{ type: 'integer' }, '12', 12],
  [{ type: 'integer' }, '-12', -12],
  [{ type: 'integer' }, '999999999999999', 999_999_999_999_999],
  [{ type: 'integer' }, '1000000000000000', undefined],
  [{ type: 'integer' }, '1.5', undefined],
  [{ type: 'integer' }, 'x1', undefined],
  [{ type: 'integer' }, '1x', undefined],
  [{ type: 'integer' }, '', undefined],
  [{ type: 'number' }, '1.5', 1.5],
  [{ type: 'number' }, '-.5', -0.5],
  [{ type: 'number' }, '12.', 12],
  [{ type: 'number' }, '12.25', 12.25],
  [{ type: 'number' }, '.25', 0.25],
  [{ type: 'number' }, '1e3', 1000],
  [{ type: 'number' }, '1E+3', 1000],
  [{ type: 'number' }, '1e-12', 1e-12],
  [{ type: 'number' }, '1e1000', undefined],
  [{ type: 'number' }, '1e', undefined],
  [{ type: 'number' }, 'e5', undefined],
  [{ type: 'number' }, '.', undefined],
  [{ type: 'number' }, 'x1', undefined],
  [{ type: 'number' }, '1x', undefined],
  [{ type: 'number' }, '0x10', undefined],
  [{ type: 'boolean' }, 'true', true],
  [{ type: 'boolean' }, 'false', false],
  [{ type: 'boolean' }, 'TRUE', undefined],
  [{ type: 'boolean' }, '', undefined],
  [{ type: 'boolean' }, '1', undefined],
  [{ type: 'json' }, '{"a":[1]}', { a: [1] }],
  [{ type: 'json' }, '{a', undefined],
  [{ type: 'choice', choices: ['a'] }, 'b', 'b'],
  [{ type: 'choice', choices: ['7', '30'], numeric: true }, '7', 7],
  [{ type: 'choice', choices: ['7', '30'], numeric: true }, '8', undefined],
];

test.each(read)('for a parameter like %j, %j is read as %j', (changes, given, value) => {
  expect(readItem(text(changes), given)).toEqual(value);
});

const open = z.union([z.string(), z.enum(['a', 'b'])]).meta({ 'x-open': true });

const kinds: readonly [name: string, schema: z.ZodType, kind: Partial<Kind>][] = [
  ['text', z.string(), {}],
  ['text of some length', z.string().min(1).max(40), { minLength: 1, maxLength: 40 }],
  ['a whole number', z.int(), { type: 'integer' }],
  ['a whole number in a range', z.int().min(1).max(250), { type: 'integer', min: 1, max: 250 }],
  ['a whole number above one', z.int().gt(1), { type: 'integer', min: 2 }],
  ['a number', z.number(), { type: 'number' }],
  ['a number from zero', z.number().min(0), { type: 'number', min: 0 }],
  ['yes or no', z.boolean(), { type: 'boolean' }],
  ['one of two words', z.enum(['a', 'b']), { type: 'choice', choices: ['a', 'b'] }],
  ['one of two numbers', z.literal([7, 30]), { type: 'choice', choices: ['7', '30'], numeric: true }],
  ['text that may be left out', z.string().optional(), { optional: true }],
  ['one of a number and a word', z.literal([7, 'all']), { type: 'choice', choices: ['7', 'all'] }],
  ['text or null', z.string().nullable(), { nullable: true }],
  ['null or a number', z.union([z.null(), z.int().min(1)]), { type: 'integer', min: 1, nullable: true }],
  ['a number or null', z.int().min(1).nullable(), { type: 'integer', min: 1, nullable: true }],
  ['a list of text', z.array(z.string()), { list: true }],
  ['a list of few choices', z.array(z.enum(['a'])).max(3), { type: 'choice', choices: ['a'], list: true, maxItems: 3 }],
  ['one of two words, or another', open, { type: 'choice', choices: ['a', 'b'], open: true }],
  ['a list of such', z.array(open), { type: 'choice', choices: ['a', 'b'], open: true, list: true }],
  ['one of two words beside text', z.union([z.enum(['a', 'b']), z.string()]), { type: 'choice', choices: ['a', 'b'] }],
  ['an object', z.object({ a: z.string() }), { type: 'json' }],
  ['anything', z.any(), { type: 'json', optional: true }],
];

test.each(kinds)('a schema of %s is known by its kind', (_, schema, kind) => {
  expect(readKind(schema)).toStrictEqual(text(kind));
});

test.each([
  [true, ['a', 'x', 'b', 'y'], ['x', 'y']],
  [true, 'x', ['x']],
  [true, 'a', []],
  [true, undefined, []],
  [true, [7], []],
  [undefined, ['x'], []],
] as const)('of choices that are open (%s), %j has those that are not known: %j', (open, given, unknown) => {
  const kind = text({ type: 'choice', choices: ['a', 'b'], ...(open && { open }) });
  expect(unknownChoices(kind, given)).toEqual(unknown);
});

const params: Record<string, Param> = {
  id: inPath(z.string(), 'the thing'),
  owner: inBody(z.string(), 'whose it is'),
  chains: inQuery(z.array(z.enum(['base', 'solana'])).optional(), 'h'),
  viewers: inQuery(z.array(z.string()).max(9).optional(), 'h', {
    sendRule: { allows: (value) => !Array.isArray(value) || value.length <= 2, why: 'more than 2 are not read' },
  }),
  names: inBody(z.array(z.string()).max(3).optional(), 'h'),
  counts: inBody(z.array(z.int()).optional(), 'h'),
  limit: inQuery(z.int().min(1).max(250).optional(), 'h'),
};
const whole = { id: 'a', owner: 'b' };
const check = (given: Record<string, unknown>, known = params) =>
  checkInput({ id: 'thing.get', params: known }, given, explainByKind);

test('what is right comes back as it was given', () => {
  const given = { ...whole, chains: ['base'], viewers: ['x', 'y'], names: [], counts: [1], limit: 7 };
  expect(check(given)).toBe(given);
  expect(check(whole)).toEqual({ id: 'a', owner: 'b' });
  expect(check({}, {})).toEqual({});
});

const wrong: readonly [given: Record<string, unknown>, message: string][] = [
  [{ ...whole, limit: 251 }, 'limit 251: must be a whole number from 1 to 250'],
  [{ ...whole, limit: null }, 'limit null: must be a whole number from 1 to 250'],
  [
    { ...whole, id: '..' },
    'id "..": must be one part of a path: neither empty nor . or .., nor with them between slashes',
  ],
  [{ ...whole, chains: ['base', 'mars'] }, 'chains "mars": must be a list of base, solana (repeat the name for each)'],
  [{ ...whole, chains: 'base' }, 'chains "base": must be a list of base, solana (repeat the name for each)'],
  [{ ...whole, viewers: ['x', 2] }, 'viewers 2: must be a list of strings (at most 9; repeat the name for each)'],
  [{ ...whole, viewers: ['x', 'y', 'z'] }, 'viewers ["x","y","z"]: more than 2 are not read'],
  [{ ...whole, names: ['x', 2] }, 'names 2: must be a list of strings (at most 3)'],
  [{ ...whole, counts: ['x'] }, 'counts "x": must be a list of integers'],
  [{ ...whole, owner: Symbol('s') }, 'owner undefined: must be text'],
  [{ owner: 'b' }, 'id is required: the thing'],
  [{ limit: 7 }, 'id and owner are required: the thing; whose it is'],
  [
    { ...whole, limt: 7 },
    'thing.get has no input limt: did you mean limit? it takes id, owner, chains, viewers, names, counts, limit',
  ],
  [
    { ...whole, toString: 'x' },
    'thing.get has no input toString: it takes id, owner, chains, viewers, names, counts, limit',
  ],
];

test.each(wrong)('%j is refused: %s', (given, message) => {
  expect(() => check(given)).toThrow(expect.objectContaining({ code: 'usage', message }));
});

test('where nothing can be given, that is said', () => {
  expect(() => check({ limit: 1 }, {})).toThrow('thing.get has no input limit: it takes none');
});

test('without the words of a command line, those of the schema are taken', () => {
  const call = (limit: number) => () => checkInput({ id: 'thing.get', params }, { ...whole, limit });
  expect(call(251)).toThrow('limit 251: Too big: expected number to be <=250');
  expect(call(1.5)).toThrow('limit 1.5: Invalid input: expected int, received number');
});
