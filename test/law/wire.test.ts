import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkWireNames, type Endpoint, renamableParams, type WireNames } from '../../src/api/endpoint.ts';
import { endpoints } from '../../src/api/endpoints.ts';
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
});

test('the OpenAPI document of a context has its names', async () => {
  const env = context('https://api.example.com', { 'leaderboard.list.limit': 'count' });
  const { paths } = JSON.parse((await run('openapi --context other --json', { env })).out);
  const names = paths['/v2/leaderboard'].get.parameters.map(({ name }: { name: string }) => name);
  expect(names).toEqual(['chains', 'onlyWithComments', 'count', 'timeframe', 'viewerAddresses']);
});

const form =
  'An entry is <noun>.<verb>.<parameter>, such as leaderboard.list.limit, or *.<parameter> for all endpoints.';
const fixed = 'this name comes from the interface document (or is never sent) and cannot be changed';
const refused: readonly [entry: string, name: string, message: string, hint?: string][] = [
  ['leaderboard.list.limit', 'a b', ' leaderboard.list.limit: "a b" is not a name (letters, digits, and . _ - [ ])'],
  ['leaderboard.lst.limit', 'n', ' leaderboard.lst.limit: no endpoint is called leaderboard.lst', form],
  ['limit', 'n', ' limit: no endpoint is called limit', form],
  [
    'leaderboard.list.limt',
    'n',
    ' leaderboard.list.limt: no parameter of leaderboard.list is called limt',
    'Names that can be changed here: limit, timeframe, viewerAddresses.',
  ],
  ['*.limt', 'n', ' *.limt: no parameter of any endpoint is called limt'],
  ['leaderboard.list.chains', 'n', ` leaderboard.list.chains: ${fixed}`],
  ['follow.bulk.entries', 'n', ` follow.bulk.entries: ${fixed}`, 'follow.bulk has no names that can be changed.'],
  [
    'leaderboard.list.limit',
    'timeframe',
    ': leaderboard.list would send limit and timeframe under one name, timeframe',
    'Give one of them another name, or name the endpoint: leaderboard.list.timeframe.',
  ],
];

test.each(refused)('%s=%j is refused: %s', (entry, name, message, hint) => {
  const check = () => checkWireNames({ [entry]: name }, all, '--wire');
  expect(check).toThrow(expect.objectContaining({ code: 'usage', message: `--wire${message}` }));
  if (hint !== undefined) expect(check).toThrow(expect.objectContaining({ hint }));
});
