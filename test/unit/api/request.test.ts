import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  asDocument,
  defineEndpoint,
  hasDots,
  inBody,
  inPath,
  inQuery,
  isPathSegment,
  local,
} from '../../../src/api/endpoint.ts';
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
const post = defineEndpoint({
  ...about,
  id: 'thing.post',
  method: 'POST',
  path: '/v1/raw',
  params: { entries: asDocument(listOf(text({ minLength: 0 })), 'h') },
});

const path = { id: 'a', owner: 'b' };
const heard = (query: string) => decodeRequest(get, { path, query: new URLSearchParams(query), body: undefined });
const taken = (body: unknown) => decodeRequest(put, { path: {}, query: new URLSearchParams(), body });

test('the values of a request are read back, also by their aliases, and unread names are reported', () => {
  expect(heard('')).toEqual({ ok: true, input: path, ignored: [] });
  expect(heard('chains=base')).toEqual({ ok: true, input: { ...path, chains: ['base'] }, ignored: [] });
  expect(heard('chains=base&chains=solana&count=7&other=1&shown=x')).toEqual({
    ok: true,
    input: { ...path, chains: ['base', 'solana'], limit: 7 },
    ignored: ['other', 'shown'],
  });
  expect(heard('size=9')).toEqual({ ok: true, input: { ...path, limit: 9 }, ignored: [] });
  expect(heard('size=9&count=8')).toEqual({ ok: true, input: { ...path, limit: 8 }, ignored: ['size'] });
  expect(taken({ title: 'n', until: null, more: 1 })).toEqual({
    ok: true,
    input: { name: 'n', until: null },
    ignored: ['more'],
  });
  expect(taken({ label: 'n' })).toEqual({ ok: true, input: { name: 'n' }, ignored: [] });
  const raw = decodeRequest(post, { path: {}, query: new URLSearchParams(), body: ['x'] });
  expect(raw).toEqual({ ok: true, input: { entries: ['x'] }, ignored: [] });
});

const wrong: readonly [problem: string, decoded: () => ReturnType<typeof heard>][] = [
  ['count "x": must be a whole number from 1 to 250', () => heard('count=x')],
  ['count 251: must be a whole number from 1 to 250', () => heard('count=251')],
  ['size 0: must be a whole number from 1 to 250', () => heard('size=0')],
  ['count is given 2 times; give it once', () => heard('count=1&count=2')],
  ['chains "mars": must be one of base, solana', () => heard('chains=base&chains=mars')],
  ['even 3: must be even', () => heard('even=3')],
  ['title is required: text', () => taken({})],
  ['title 1: must be text', () => taken({ title: 1 })],
  [`title ["${'x'.repeat(78)}: must be text`, () => taken({ title: ['x'.repeat(200)] })],
  ['until "x": must be a whole number, or null', () => taken({ title: 'n', until: 'x' })],
  ['body must be a JSON object', () => taken([])],
  ['body must be a JSON object', () => taken(null)],
  ['body must be a JSON object', () => taken('x')],
  ['body must be a JSON object', () => taken(undefined)],
  [
    'owner is required: text',
    () => decodeRequest(get, { path: { id: 'a' }, query: new URLSearchParams(), body: undefined }),
  ],
];

test.each(wrong)('%s: the field is named as the request does', (problem, decoded) => {
  expect(decoded()).toEqual({ ok: false, problem });
});

const remove = defineEndpoint({
  ...about,
  id: 'thing.remove',
  method: 'DELETE',
  path: '/v1/things',
  params: { targets: inBody(optional(listOf(text({ minLength: 0 }))), 'h', { alsoInQuery: true, aliases: ['ids'] }) },
});
const removed = (query: string, body: unknown) =>
  decodeRequest(remove, { path: {}, query: new URLSearchParams(query), body });

test('a body field that is allowed in the query is read from there if the body lacks it', () => {
  const read = (targets: readonly string[], ignored: readonly string[]) => ({ ok: true, input: { targets }, ignored });
  expect(removed('', { targets: ['a'] })).toEqual(read(['a'], []));
  expect(removed('targets=b&targets=c', {})).toEqual(read(['b', 'c'], []));
  expect(removed('ids=b', {})).toEqual(read(['b'], []));
  expect(removed('targets=b', { ids: ['a'] })).toEqual(read(['a'], ['targets']));
  expect(removed('targets=b', undefined)).toEqual(read(['b'], []));
  expect(removed('', {})).toEqual({ ok: true, input: {}, ignored: [] });
  for (const query of ['', 'other=1'])
    expect(removed(query, [])).toEqual({ ok: false, problem: 'body must be a JSON object' });
});

test.each([
  '.',
  '..',
  '%2e',
  '%2E%2e',
  '.%2e',
  '%252e',
  '%25252e%2e',
  'a/..',
  '../a',
  'a\\..',
  'a%2f..',
  'a%252f..%5Cb',
  'a%255c.',
  ' ..',
  '.\t.',
  '.\u0000.',
])('%j leads to another path', (value) => {
  expect([hasDots(value), isPathSegment(value)]).toEqual([true, false]);
});

test.each(['a', '...', 'a.b', '.a', 'a.', '..a', 'a..', '%2e%2e%2e', 'x%2e', '%2ex', 'a/b', '%25', '2e', 'a/x..'])(
  '%j stays where it is',
  (value) => {
    expect([hasDots(value), isPathSegment(value)]).toEqual([false, true]);
  },
);
