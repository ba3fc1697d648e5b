import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineEndpoint, hasDots, inBody, inPath, inQuery, isPathSegment, local } from '../../../src/api/endpoint.ts';
import { choice, integer, json, listOf, nullable, optional, text } from '../../../src/api/kind.ts';
import { decodeRequest } from '../../../src/api/request.ts';

const about = { source: 'spec', summary: 's', answer: async () => z.unknown(), examples: [] } as const;
const get = defineEndpoint({
  ...about,
  id: 'thing.get',
  method: 'GET',
  path: '/v1/things/{id}/of/{owner}',
  params: {
    id: inPath(text({ minLength: 0 }), 'h'),
    owner: inPath(text({ minLength: 0 }), 'h'),
    chains: inQuery(optional(listOf(choice(['base', 'solana']))), 'h'),
    limit: inQuery(optional(integer(1, 250)), 'h', { wire: 'count', aliases: ['size'], source: 'assumed' }),
    even: inQuery(optional(json({}, (value) => (Number(value) % 2 === 0 ? undefined : 'must be even'))), 'h'),
    shown: local(optional(text({ minLength: 0 })), 'h'),
  },
});
const put = defineEndpoint({
  ...about,
  id: 'thing.put',
  method: 'PUT',
  path: '/v1/things',
  params: {
    name: inBody(text({ minLength: 0 }), 'h', { wire: 'title', aliases: ['label'], source: 'public' }),
    until: inBody(optional(nullable(integer())), 'h'),
  },
});

const path = { id: 'a', owner: 'b' };
const readQuery = (query: string) => decodeRequest(get, { path, query: new URLSearchParams(query), body: undefined });
const readBody = (body: unknown) => decodeRequest(put, { path: {}, query: new URLSearchParams(), body });

test('the values of a request are read back, also by their aliases, and unread names are reported', () => {
  expect(readQuery('')).toEqual({ ok: true, input: path, ignored: [] });
  expect(readQuery('chains=base')).toEqual({ ok: true, input: { ...path, chains: ['base'] }, ignored: [] });
  expect(readQuery('chains=base&chains=solana&count=7&other=1&shown=x')).toEqual({
    ok: true,
    input: { ...path, chains: ['base', 'solana'], limit: 7 },
    ignored: ['other', 'shown'],
  });
  expect(readQuery('size=9')).toEqual({ ok: true, input: { ...path, limit: 9 }, ignored: [] });
  expect(readQuery('size=9&count=8')).toEqual({ ok: true, input: { ...path, limit: 8 }, ignored: ['size'] });
  const named = { ok: true, input: { name: 'n', until: null }, ignored: ['more'] };
  expect(readBody({ title: 'n', until: null, more: 1 })).toEqual(named);
  expect(readBody({ label: 'n' })).toEqual({ ok: true, input: { name: 'n' }, ignored: [] });
});

const wrong: readonly [problem: string, decoded: () => ReturnType<typeof readQuery>][] = [
  ['count "x": must be a whole number from 1 to 250', () => readQuery('count=x')],
  ['count 251: must be a whole number from 1 to 250', () => readQuery('count=251')],
  ['size 0: must be a whole number from 1 to 250', () => readQuery('size=0')],
  ['count is given 2 times; give it once', () => readQuery('count=1&count=2')],
  ['chains "mars": must be one of base, solana', () => readQuery('chains=base&chains=mars')],
  ['even 3: must be even', () => readQuery('even=3')],
  ['title is required: text', () => readBody({})],
  ['title 1: must be text', () => readBody({ title: 1 })],
  [`title ["${'x'.repeat(78)}: must be text`, () => readBody({ title: ['x'.repeat(200)] })],
  ['until "x": must be a whole number, or null', () => readBody({ title: 'n', until: 'x' })],
  ['body must be a JSON object', () => readBody([])],
  ['body must be a JSON object', () => readBody(null)],
  ['body must be a JSON object', () => readBody('x')],
  ['body must be a JSON object', () => readBody(undefined)],
  [
    'owner is required: text',
    () => decodeRequest(get, { path: { id: 'a' }, query: new URLSearchParams(), body: undefined }),
  ],
];

test.each(wrong)('%s: the field is named as the request does', (problem, decoded) => {
  expect(decoded()).toEqual({ ok: false, problem });
});

test('dots lead to another path, however often they are encoded', () => {
  const leading = [
    ...['.', '..', '%2e', '%2E%2e', '.%2e', '%252e', '%25252e%2e', ' ..', '.\t.', '.\u0000.'],
    ...['a/..', '../a', 'a\\..', 'a%2f..', 'a%252f..%5Cb', 'a%255c.'],
  ];
  for (const value of leading) expect([value, hasDots(value), isPathSegment(value)]).toEqual([value, true, false]);
  const staying = [
    ...['a', '...', 'a.b', '.a', 'a.', '..a', 'a..', 'x%2e', '%2ex'],
    ...['%2e%2e%2e', 'a/b', '%25', '2e', 'a/x..'],
  ];
  for (const value of staying) expect([value, hasDots(value), isPathSegment(value)]).toEqual([value, false, true]);
});
