import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Endpoint, WireNames } from '../../src/contract/endpoint.ts';
import { checkWireNames, openNames } from '../../src/contract/endpoint.ts';
import { decodeRequest, encodeRequest } from '../../src/contract/request.ts';
import { endpoints } from '../../src/resources/index.ts';
import { run, temporaryFolder } from '../support/harness.ts';
import { serveSandbox } from '../support/served.ts';
import { some } from '../support/size.ts';

const all: readonly Endpoint[] = endpoints;

/** Every name that is not from the interface document, called otherwise. */
const renamed: WireNames = Object.fromEntries(all.flatMap(openNames).map(({ id, key }) => [id, `other_${key}`]));

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
  const listed = await run('leaderboard list --limit 2 --jq .traders|length', { env: other.envA });
  expect(Number(listed.out)).toBeGreaterThan(2);
  const named = await run('leaderboard list --limit 2 --jq .traders|length', { env: context(other.url, renamed) });
  expect(named.out).toBe('2\n');
  for (const endpoint of all)
    for (const { key, param } of openNames(endpoint)) {
      const sent = encodeRequest(endpoint, { [key]: 'x' });
      const query = new URL(sent.path, 'http://x').searchParams;
      const heard = decodeRequest(endpoint, { path: {}, query, body: sent.body ?? {} }, renamed);
      expect([key, param.aliases?.includes(key) ?? false]).toEqual([key, false]);
      if (heard.ok) expect(heard.input).not.toHaveProperty(key);
      else expect(heard.problem).toContain('is required');
    }
});

test('the OpenAPI document of a context has its names', async () => {
  const { out } = await run(
    ['openapi', '--context', 'other', '--jq', '.paths["/v2/leaderboard"].get.parameters[].name'],
    {
      env: context('https://api.example.com', { 'leaderboard.list.limit': 'count' }),
    },
  );
  expect(out).toBe('chains\nonlyWithComments\ncount\ntimeframe\nviewerAddresses\n');
});

const refused: readonly [wire: WireNames, message: string][] = [
  [{ 'leaderboard.list.chains': 'nets' }, 'leaderboard.list.chains: this name is given by the interface document'],
  [{ 'profile.get.identifier': 'who' }, 'profile.get.identifier: this name is given by the interface document'],
  [{ 'leaderboard.lst.limit': 'count' }, 'leaderboard.lst.limit: no endpoint is called leaderboard.lst'],
  [{ limit: 'count' }, 'limit: no endpoint is called limit'],
  [{ 'leaderboard.list.limt': 'count' }, 'leaderboard.list.limt: no parameter of leaderboard.list is called limt'],
  [{ '*.nothing': 'count' }, '*.nothing: no parameter of any endpoint is called nothing'],
  [{ 'leaderboard.list.limit': '' }, 'leaderboard.list.limit: "" is not a name'],
  [{ 'leaderboard.list.limit': 'a b' }, 'leaderboard.list.limit: "a b" is not a name'],
  [{ 'leaderboard.list.limit': 'chains' }, 'leaderboard.list would send chains and limit under one name, chains'],
];

test.each(refused)('the map %j is refused: it could not do what it says', (wire, message) => {
  expect(() => checkWireNames(wire, all, '--wire')).toThrow(message);
});

test('a star takes every endpoint that has the name open', () => {
  expect(() => checkWireNames({ '*.limit': 'count' }, all, '--wire')).not.toThrow();
});
