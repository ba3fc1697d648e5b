import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  asDocument,
  checkWireNames,
  defineEndpoint,
  type Endpoint,
  inBody,
  inPath,
  inQuery,
  local,
  openNames,
} from '../../src/contract/endpoint.ts';

const about = { source: 'spec', summary: 's', answer: z.unknown(), examples: [] } as const;
const assumed = { source: 'assumed' } as const;
const text = z.string().optional();
const list = defineEndpoint({
  ...about,
  id: 'thing.list',
  method: 'GET',
  path: '/v1/things/{owner}',
  params: {
    owner: inPath(z.string(), 'h', assumed),
    chains: inQuery(text, 'h'),
    limit: inQuery(text, 'h', assumed),
    sort: inQuery(text, 'h', { source: 'public', wire: 'order' }),
    wide: local(text, 'h', { ...assumed, wire: 'same' }),
    tall: local(text, 'h', { ...assumed, wire: 'same' }),
  },
});
const put = defineEndpoint({
  ...about,
  id: 'thing.put',
  method: 'PUT',
  path: '/v1/things',
  params: { limit: inBody(text, 'h', assumed), note: inQuery(text, 'h', assumed) },
});
const raw = defineEndpoint({
  ...about,
  id: 'thing.raw',
  method: 'POST',
  path: '/v1/raw',
  params: { all: asDocument(z.unknown(), 'h', assumed) },
});
const endpoints: readonly Endpoint[] = [list, put, raw];

test('what travels as query or body and is not from the interface document can be renamed', () => {
  expect(openNames(list).map(({ id, key }) => [id, key])).toEqual([
    ['thing.list.limit', 'limit'],
    ['thing.list.sort', 'sort'],
  ]);
  expect(openNames(put).map(({ id }) => id)).toEqual(['thing.put.limit', 'thing.put.note']);
  expect(openNames(raw)).toEqual([]);
});

const form =
  'An entry is <noun>.<verb>.<parameter>, such as leaderboard.list.limit, or *.<parameter> for all endpoints.';
const refused: readonly [entry: string, name: string, message: string, hint: string | undefined][] = [
  ['thing.list.limit', '', '"" is not a name (letters, digits, and . _ - [ ])', undefined],
  ['thing.list.limit', 'a b', '"a b" is not a name (letters, digits, and . _ - [ ])', undefined],
  ['thing.list.limit', ' a', '" a" is not a name (letters, digits, and . _ - [ ])', undefined],
  ['thing.list.limit', 'a ', '"a " is not a name (letters, digits, and . _ - [ ])', undefined],
  ['thing.lst.limit', 'n', 'no endpoint is called thing.lst', form],
  ['limit', 'n', 'no endpoint is called limit', form],
  ['.limit', 'n', 'no endpoint is called .limit', form],
  ['thing.list.limt', 'n', 'no parameter of thing.list is called limt', 'Names that can change here: limit, sort.'],
  ['*.limt', 'n', 'no parameter of any endpoint is called limt', 'Names that can change here: limit, sort, note.'],
  [
    'thing.list.chains',
    'n',
    'this name is given by the interface document (or never sent) and cannot change',
    'Names that can change here: limit, sort.',
  ],
  [
    '*.chains',
    'n',
    'this name is given by the interface document (or never sent) and cannot change',
    'Names that can change here: limit, sort, note.',
  ],
  [
    'thing.raw.all',
    'n',
    'this name is given by the interface document (or never sent) and cannot change',
    'thing.raw has no names that can change.',
  ],
];

test.each(refused)('%s=%j is refused: %s', (entry, name, message, hint) => {
  const check = () => checkWireNames({ [entry]: name }, endpoints, '--wire');
  expect(check).toThrow(expect.objectContaining({ code: 'usage', message: `--wire ${entry}: ${message}`, hint }));
});

test('two parameters of one request cannot share a name, a query and a body name can', () => {
  const check = (wire: Record<string, string>) => () => checkWireNames(wire, endpoints, '--wire');
  expect(check({})).not.toThrow();
  expect(check({ '*.limit': 'n', 'thing.list.sort': 'a.b_c-d[0]' })).not.toThrow();
  expect(check({ 'thing.put.limit': 'x', 'thing.put.note': 'x' })).not.toThrow();
  expect(check({ 'thing.list.limit': 'order' })).toThrow(
    expect.objectContaining({
      message: '--wire: thing.list would send limit and sort under one name, order',
      hint: 'Give one of them another name, or name the endpoint: thing.list.sort.',
    }),
  );
});
