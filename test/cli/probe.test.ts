import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Endpoint, WireNames } from '../../src/contract/endpoint.ts';
import { openNames } from '../../src/contract/endpoint.ts';
import { endpoints } from '../../src/resources/index.ts';
import { run, temporaryFolder } from '../support/harness.ts';
import { serveSandbox } from '../support/served.ts';
import { long } from '../support/size.ts';

const open = (endpoints as readonly Endpoint[]).flatMap((endpoint) =>
  openNames(endpoint).map((one) => ({ ...one, reads: endpoint.method === 'GET' })),
);

/** Another name for each, as a deployment might have chosen. */
const otherwise: Readonly<Record<string, string>> = {
  limit: 'pageSize',
  page: 'pageNumber',
  cursor: 'after',
  chains: 'networks',
  chain: 'network',
  timeframe: 'period',
  viewerAddresses: 'viewers',
  onlyWithComments: 'withComments',
  address: 'wallet',
  identifier: 'actor',
  addresses: 'wallets',
  hashes: 'txHashes',
  includeForYou: 'forYou',
  minTradeUsd: 'minUsd',
  minMarketCap: 'marketCapMin',
  maxMarketCap: 'marketCapMax',
  olderThan: 'downFrom',
  newerThan: 'upFrom',
};

/** What only a write, or a wallet with likes, would show. */
const beyondReading = ['position.find.viewerAddresses', 'position.get.viewerAddresses', 'comment.list.viewerAddresses'];

interface Report {
  calls: number;
  wire: WireNames;
  names: { parameter: string; verdict: string; name: string | null; evidence: string }[];
}

function contextAt(baseUrl: string, wire: WireNames = {}): { folder: string; env: Record<string, string> } {
  const folder = temporaryFolder();
  const contexts = { live: { baseUrl, apiKey: 'sandbox-key-a', wire } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ current: 'live', contexts }), { mode: 0o600 });
  return { folder, env: { SOTRA_CONFIG_DIR: folder } };
}

async function probe(env: Record<string, string>, flags = ''): Promise<Report> {
  const { out, code, err } = await run(`probe --json ${flags}`, { env });
  expect([code, err.includes('error')]).toEqual([0, false]);
  return JSON.parse(out);
}

const tellable = open.filter(({ id, reads }) => reads && !beyondReading.includes(id)).map(({ id }) => id);

test('every name of the sandbox is found as assumed, with evidence, by few reads and no write', async () => {
  const { envA } = await serveSandbox();
  const trace = join(temporaryFolder(), 'probe.har');
  const { names, wire, calls } = await probe(envA, `--trace-file ${trace}`);
  expect(names.map(({ parameter }) => parameter).sort()).toEqual(open.map(({ id }) => id).sort());
  const wrong = names.filter(({ parameter, verdict }) => tellable.includes(parameter) && verdict !== 'as assumed');
  expect(wrong).toEqual([]);
  expect(names.filter(({ evidence }) => evidence === '')).toEqual([]);
  expect(wire).toEqual({});
  const { entries } = JSON.parse(readFileSync(trace, 'utf8')).log;
  expect(new Set(entries.map((entry: { request: { method: string } }) => entry.request.method))).toEqual(
    new Set(['GET']),
  );
  expect(entries).toHaveLength(calls);
  expect(calls).toBeLessThan(2 * open.length);
});

long('every name changed: probe finds the other one, --save keeps it, and the commands work with it', async () => {
  const renamed = Object.fromEntries(open.map(({ id, key }) => [id, otherwise[key] ?? `x_${key}`]));
  const { url } = await serveSandbox({ wire: renamed });
  const { env, folder } = contextAt(url);
  const before = await run('leaderboard list --limit 2 --jq .traders|length', { env });
  expect(Number(before.out)).toBeGreaterThan(2);
  const { names, calls } = await probe(env, '--save');
  const aliases = new Map(open.map(({ id, param }) => [id, param.aliases ?? []]));
  const wrong = names.filter(({ parameter, verdict, name }) => {
    const right = name !== null && [renamed[parameter], ...(aliases.get(parameter) ?? [])].includes(name);
    return tellable.includes(parameter) && !(verdict === 'other name' && right);
  });
  expect(wrong).toEqual([]);
  expect(calls).toBeLessThan(8 * open.length);
  const { contexts } = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  expect(contexts.live).toMatchObject({ baseUrl: url, apiKey: 'sandbox-key-a' });
  expect(contexts.live.wire).toMatchObject({
    'leaderboard.list.limit': 'pageSize',
    'feed.actor.olderThan': 'downFrom',
  });
  const after = await run('leaderboard list --limit 2 --jq .traders|length', { env });
  expect(after.out).toBe('2\n');
  const again = await probe(env);
  expect(
    again.names.filter(({ parameter, verdict }) => tellable.includes(parameter) && verdict !== 'as assumed'),
  ).toEqual([]);
});

long(
  'a name that nobody would think of is reported as not found and never guessed; one of the context is tried first',
  async () => {
    const wire = { 'leaderboard.list.limit': 'zq17', '*.timeframe': 'zq18' };
    const { envA, url } = await serveSandbox({ wire });
    const of = (report: Report, id: string) => report.names.find(({ parameter }) => parameter === id);
    const blind = await probe(envA);
    expect(of(blind, 'leaderboard.list.limit')).toMatchObject({ verdict: 'not found', name: null });
    expect(of(blind, 'leaderboard.rank.timeframe')).toMatchObject({ verdict: 'not found', name: null });
    expect(blind.wire).toEqual({});
    const told = await probe(contextAt(url, wire).env);
    expect(of(told, 'leaderboard.list.limit')).toMatchObject({ verdict: 'as assumed', name: 'zq17' });
    expect(of(told, 'leaderboard.rank.timeframe')).toMatchObject({ verdict: 'as assumed', name: 'zq18' });
    expect(told.wire).toEqual(wire);
  },
);

test('where there is nothing to look at, probe says so instead of guessing', async () => {
  const { envA } = await serveSandbox({ kind: 'empty' });
  const { code, out, err } = await run('probe --json', { env: envA });
  expect({ code, out }).toEqual({ code: 5, out: '' });
  expect(JSON.parse(err).error.message).toContain('the leaderboard is empty');
});

test('--save without a context is refused before anything is sent', async () => {
  const { envA } = await serveSandbox();
  const { code, err } = await run('probe --save', { env: envA });
  expect(code).toBe(2);
  expect(err).toContain('--save: no context is in use');
});

test('a refused key ends the probe with exit 4', async () => {
  const { url } = await serveSandbox();
  const { code, out } = await run('probe', { env: { SOTRA_BASE_URL: url, SOTRA_API_KEY: 'nobody' } });
  expect({ code, out }).toEqual({ code: 4, out: '' });
});
