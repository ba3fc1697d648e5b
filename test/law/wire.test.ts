import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
  renamableParams,
  type WireNames,
} from '../../src/api/endpoint.ts';
import { endpoints } from '../../src/api/endpoints.ts';
import { json, optional, text } from '../../src/api/kind.ts';
import { decodeRequest, encodeRequest } from '../../src/api/request.ts';
import { run, temporaryFolder } from '../support/harness.ts';
import { serveSandbox } from '../support/served.ts';
import { some } from '../support/size.ts';

const all: readonly Endpoint[] = endpoints;

/** Every name that is not from the interface document, called otherwise. */
const renamed: WireNames = Object.fromEntries(all.flatMap(renamableParams).map(({ id, key }) => [id, `other_${key}`]));

function context(baseUrl: string, wire: WireNames): Record<string, string> {
  const folder = temporaryFolder();
  const contexts = { other: { baseUrl, apiKey: 'sandbox-key-a', wire } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ current: 'other', contexts }), { mode: 0o600 });
  return { SOTRA_CONFIG_DIR: folder };
}

test('query and body names can change unless the interface document gives them', () => {
  expect(Object.keys(renamed)).toEqual(
    expect.arrayContaining(['leaderboard.list.limit', 'leaderboard.list.timeframe', 'feed.actor.identifier']),
  );
  expect(Object.keys(renamed).length).toBeGreaterThan(30);
  for (const fixed of ['leaderboard.list.chains', 'leaderboard.sections.limit', 'profile.get.identifier'])
    expect(Object.keys(renamed)).not.toContain(fixed);
  expect(() => checkWireNames(renamed, all, '--wire')).not.toThrow();
});

test('a context that knows the names of a renamed deployment gets the same answers from it', async () => {
  const nowMs = Date.parse('2026-07-03T12:00:00Z');
  const [plain, other] = await Promise.all([
    serveSandbox({ now: () => nowMs }),
    serveSandbox({ now: () => nowMs, wire: renamed }),
  ]);
  const env = context(other.url, renamed);
  const readsFirst = some(all, 14).toSorted((a, b) => Number(a.method !== 'GET') - Number(b.method !== 'GET'));
  for (const { examples, method } of readsFirst)
    for (const { argv } of examples) {
      const asked = await run(argv, { env, now: nowMs });
      expect([argv, asked.code, asked.err.split('\n').filter((line) => line.startsWith('error'))]).toEqual([
        argv,
        0,
        [],
      ]);
      if (method !== 'GET') continue;
      const expected = await run(argv, { env: plain.envA, now: nowMs });
      expect([argv, asked.out.replaceAll(other.url, '').replaceAll('other_', '')]).toEqual([
        argv,
        expected.out.replaceAll(plain.url, ''),
      ]);
    }
});

test('without the map the renamed deployment does not hear the old names', async () => {
  const other = await serveSandbox({ wire: renamed });
  const count = async (env: Record<string, string>) =>
    JSON.parse((await run('leaderboard list --limit 2 --json', { env })).out).traders.length;
  expect(await count(other.envA)).toBeGreaterThan(2);
  expect(await count(context(other.url, renamed))).toBe(2);
  for (const endpoint of all)
    for (const { key, param } of renamableParams(endpoint)) {
      const sent = encodeRequest(endpoint, { [key]: 'x' });
      const query = new URL(sent.path, 'http://x').searchParams;
      const heard = decodeRequest(endpoint, { path: {}, query, body: sent.body ?? {} }, renamed);
      expect([key, param.aliases?.includes(key) ?? false]).toEqual([key, false]);
      if (heard.ok) expect(heard.input).not.toHaveProperty(key);
      else expect(heard.problem).toContain('is required');
    }
});

test('the OpenAPI document of a context has its names', async () => {
  const env = context('https://api.example.com', { 'leaderboard.list.limit': 'count' });
  const { paths } = JSON.parse((await run('openapi --context other --json', { env })).out);
  const names = paths['/v2/leaderboard'].get.parameters.map(({ name }: { name: string }) => name);
  expect(names).toEqual(['chains', 'onlyWithComments', 'count', 'timeframe', 'viewerAddresses']);
});

const about = { source: 'spec', summary: 's', answer: async () => z.unknown(), examples: [] } as const;
const assumed = { source: 'assumed' } as const;
const word = optional(text());
const list = defineEndpoint({
  ...about,
  id: 'thing.list',
  method: 'GET',
  path: '/v1/things/{owner}',
  params: {
    owner: inPath(text(), 'h', assumed),
    chains: inQuery(word, 'h'),
    limit: inQuery(word, 'h', assumed),
    sort: inQuery(word, 'h', { source: 'public', wire: 'order' }),
    wide: local(word, 'h', { ...assumed, wire: 'same' }),
    tall: local(word, 'h', { ...assumed, wire: 'same' }),
  },
});
const put = defineEndpoint({
  ...about,
  id: 'thing.put',
  method: 'PUT',
  path: '/v1/things',
  params: { limit: inBody(word, 'h', assumed), note: inQuery(word, 'h', assumed) },
});
const raw = defineEndpoint({
  ...about,
  id: 'thing.raw',
  method: 'POST',
  path: '/v1/raw',
  params: {
    all: asDocument(
      json({}, () => undefined),
      'h',
      assumed,
    ),
  },
});
const renamable: readonly Endpoint[] = [list, put, raw];

test('what isSent as query or body and is not from the interface document can be renamed', () => {
  expect(renamableParams(list).map(({ id, key }) => [id, key])).toEqual([
    ['thing.list.limit', 'limit'],
    ['thing.list.sort', 'sort'],
  ]);
  expect(renamableParams(put).map(({ id }) => id)).toEqual(['thing.put.limit', 'thing.put.note']);
  expect(renamableParams(raw)).toEqual([]);
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
  const check = () => checkWireNames({ [entry]: name }, renamable, '--wire');
  const error = { code: 'usage', message: `--wire ${entry}: ${message}`, ...(hint !== undefined && { hint }) };
  expect(check).toThrow(expect.objectContaining(error));
});

test('two parameters of one request cannot share a name, a query and a body name can', () => {
  const check = (wire: Record<string, string>) => () => checkWireNames(wire, renamable, '--wire');
  expect(check({})).not.toThrow();
  expect(check({ '*.limit': 'n', 'thing.list.sort': 'a.b_c-d[0]' })).not.toThrow();
  expect(check({ 'thing.put.limit': 'x', 'thing.put.note': 'x' })).not.toThrow();
  expect(check({ 'thing.list.limit': 'chains' })).toThrow(
    'thing.list would send chains and limit under one name, chains',
  );
  expect(check({ 'thing.list.limit': 'order' })).toThrow(
    expect.objectContaining({
      message: '--wire: thing.list would send limit and sort under one name, order',
      hint: 'Give one of them another name, or name the endpoint: thing.list.sort.',
    }),
  );
});
