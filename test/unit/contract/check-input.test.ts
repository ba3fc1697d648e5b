import { expect, test } from 'vitest';
import { z } from 'zod';
import { inBody, inPath, inQuery, type Param } from '../../../src/contract/endpoint.ts';
import { checkInput, explainByKind } from '../../../src/contract/request.ts';

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
