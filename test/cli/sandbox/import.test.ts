import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { failure, newUser, run, runJson, temporaryFolder } from '../../support/harness.ts';

const pumpfun = '../shared/data/trades-solana/pumpfun_swaps_2026-06.csv.gz';
const hasData = existsSync(pumpfun);
const why = hasData ? '' : ' (skipped: the folder with real trades is absent)';
const now = Date.parse('2026-11-20T12:00:00Z');

const header = 'time,chain,trader,token,symbol,side,amount,usd,tx';
const alice = '0x1111111111111111111111111111111111111111';
const bob = '0x2222222222222222222222222222222222222222';
const token = '0x5180db8f5c931aae63c74266b211f580155ecac8';

function file(text: string): string {
  const path = join(temporaryFolder(), 'trades.csv');
  writeFileSync(path, text);
  return path;
}

function row(time: string, trader: string, side: string, amount: number | string, usd: number | string): string {
  return `2026-11-20T${time}Z,base,${trader},${token},GM,${side},${amount},${usd},0xabc`;
}

test('imported trades make a leaderboard with PnL that was worked out by hand', async () => {
  const { env } = newUser();
  const path = file(
    [
      header,
      row('09:00:00', alice, 'buy', 100, 200),
      row('09:10:00', alice, 'buy', 100, 300),
      row('09:20:00', alice, 'sell', 150, 900), // 900 - (200 + 150) = 550
      row('09:30:00', bob, 'buy', 10, 60),
      row('09:40:00', bob, 'sell', 4, 20), // 20 - 24 = -4
      row('09:50:00', bob, 'sell', 8, 40), // 6 cost 36 and bring 30: -6; 2 beyond what is held: no gain
    ].join('\n'),
  );
  expect(await runJson(`sandbox import ${path}`, { env, now })).toMatchObject({
    ...{ rows: 6, imported: 6, repeated: 0, rejected: 0, traders: 2, tokens: 1 },
    ...{ newest: '2026-11-20T12:00:00.000Z', oldest: '2026-11-20T11:10:00.000Z' },
  });
  const { traders } = await runJson('--sandbox leaderboard list', { env, now });
  const [first, second] = [{ addresses: [alice] }, { addresses: [bob] }];
  expect(traders).toMatchObject([
    { profile: first, pnl: { total: 550 } },
    { profile: second, pnl: { total: -10 } },
  ]);
  const { profile } = traders[0];
  expect(profile.metadata).toMatchObject({ tradeCount30d: 1, winRate30d: 1, roiPercent30d: (550 / 350) * 100 });
  const volume = { base: 1400, solana: null, ethereum: null, hyperliquid: null };
  expect(profile.metadata.perChainVolumeUsd30d).toEqual(volume);
  expect(profile).toMatchObject({ status: 'active', name: '0x1111…1111' });
  const rank = await runJson(`--sandbox leaderboard rank ${bob.toUpperCase().replace('0X', '0x')}`, { env, now });
  expect(rank).toEqual({ ranking: 2, pnl: { total: -10, perChain: { base: -10 } } });
});

test('someone who never traded has no rank', async () => {
  const rank = await run('--sandbox leaderboard rank 0xA4E221aa5a7ba51b5d5c7d5c923bfb9bcebcb252', { tty: 80 });
  expect(rank.out).toContain('not ranked');
  expect(rank.err).toContain('Not on this leaderboard: not a trader, ');
  expect(rank.err).toContain('sotra --sandbox profile get 0xA4E221aa5a7ba51b5d5c7d5c923bfb9bcebcb252\n');
});

test('a broken file: good rows are kept, bad ones named with their line, exit 10', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const rejects = join(env.SOTRA_DATA_DIR, 'rejects.ndjson');
  const good = row('09:00:00', alice, 'buy', 100, 200);
  const lines = [
    header,
    good,
    row('09:10:00', alice, 'buy', -3, 300),
    row('09:20:00', '0x123', 'buy', 3, 300),
    row('09:30:00', alice, 'hold', 3, 300),
    row('25:61:00', alice, 'buy', 3, 300),
    'nonsense',
    good,
    row('09:40:00', alice, 'sell', 10, 'NaN'),
  ];
  const argv = `sandbox import ${file(lines.join('\r\n'))} --rejects ${rejects} --json`;
  const { code, err, out } = await run(argv, { env, now });
  expect(code).toBe(10);
  expect(JSON.parse(out)).toMatchObject({ rows: 8, imported: 1, repeated: 1, rejected: 6 });
  for (const line of [3, 4, 5, 6, 7, 9]) expect(err).toMatch(new RegExp(`^warning: line ${line}: `, 'm'));
  const rejected = readFileSync(rejects, 'utf8').trim().split('\n');
  expect(rejected.map((text) => JSON.parse(text).line)).toEqual([3, 4, 5, 6, 7, 9]);
  expect(Object.keys(JSON.parse(rejected[0] ?? ''))).toEqual(['line', 'at', 'reason', 'text']);
  const many = file([header, ...Array.from({ length: 12 }, () => 'nonsense')].join('\n'));
  const counted = await run(`sandbox import ${many} --rejects ${rejects} --yes`, { env, now });
  expect(counted.err).toContain('warning: 2 more rows rejected\n');
  expect(await runJson('sandbox status', { env, now })).toMatchObject({ world: 'empty', trades: 1, traders: 1 });
});

test.each([
  ['', 'nothing'],
  ['\n\n', 'blank lines'],
  [`${header}\n`, 'a head without rows'],
])('a file of %j, so %s, is exit 2 that names it, and changes nothing', async (text) => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const path = file(text);
  expect(await run(`sandbox import ${path} --json`, { env })).toEqual(failure(2, `${path}: holds no trades`));
  expect(await run('sandbox import -', { env, stdin: text })).toEqual(failure(2, 'stdin: holds no trades'));
  expect(await runJson('sandbox status', { env })).toMatchObject({ world: 'demo', trades: 2508 });
});

test('a missing file is exit 3, a folder and a file without the needed columns exit 2, and nothing changes', async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const wrong = file('a,b,c\n1,2,3\n');
  for (const [path, exitCode] of Object.entries({ '/nowhere/trades.csv': 3, [env.SOTRA_DATA_DIR]: 2, [wrong]: 2 }))
    expect(await run(`sandbox import ${path}`, { env, now })).toEqual(failure(exitCode, path));
  expect((await runJson('sandbox status', { env, now })).trades).toBe(2508);
});

/** Realized PnL per trader from the CSV by the cumulative cost curve: no lots, no queue. */
function topTen(csv: string): [string, number][] {
  const pnl = new Map<string, number>();
  const curves = new Map<string, { bought: number[]; cost: number[]; used: number; left: boolean }>();
  for (const line of new Set(csv.trim().split('\n').slice(1))) {
    const [, , trader = '', mint, side, tokens, , , , usdText] = line.split(',');
    const [amount, usd] = [Number(tokens), Number(usdText)];
    if (trader.startsWith('RDCT')) continue;
    const key = `${trader} ${mint}`;
    const curve = curves.get(key) ?? { bought: [0], cost: [0], used: 0, left: false };
    curves.set(key, curve);
    const bought = curve.bought.at(-1) ?? 0;
    if (!pnl.has(trader)) pnl.set(trader, 0);
    if (side === 'buy') {
      if (curve.left) curve.used = bought; // dust of a closed position is not sold again
      curve.left = false;
      curve.bought.push(bought + amount);
      curve.cost.push((curve.cost.at(-1) ?? 0) + usd);
      continue;
    }
    const costAt = (sum: number) => {
      const next = curve.bought.findIndex((each) => each >= sum);
      if (next <= 0) return next === 0 ? 0 : (curve.cost.at(-1) ?? 0);
      const [low = 0, high = 0] = [curve.bought[next - 1], curve.bought[next]];
      const [from = 0, to = 0] = [curve.cost[next - 1], curve.cost[next]];
      return from + ((to - from) * (sum - low)) / (high - low);
    };
    const sold = Math.min(amount, bought - curve.used);
    const gain = usd * (sold / amount) - (costAt(curve.used + sold) - costAt(curve.used));
    pnl.set(trader, (pnl.get(trader) ?? 0) + gain);
    curve.used += sold;
    if ((bought - curve.used) * (usd / amount) < 1) curve.left = true;
  }
  return [...pnl].sort((a, b) => b[1] - a[1]).slice(0, 10);
}

test.skipIf(!hasData)(`the real pump.fun swaps: 7,160 rows, and the top ten of another computation${why}`, async () => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const imported = await runJson(`sandbox import ${pumpfun} --preset pumpfun`, { env, now });
  // 58 rows carry a redacted trader label (RDCT-...), 3 rows are in the file twice.
  expect(imported).toMatchObject({ rows: 7160, imported: 7099, repeated: 3, rejected: 58, tokens: 9 });
  const { traders } = await runJson('--sandbox leaderboard list --chains solana --limit 10', { env, now });
  const expected = topTen(gunzipSync(readFileSync(pumpfun)).toString());
  expect(traders).toMatchObject(
    expected.map(([address, usd]) => ({ profile: { addresses: [address] }, pnl: { total: expect.closeTo(usd, 6) } })),
  );
});

const user = '0x00000000000000000000000000000000000000aa';
const fill = (oid: number, side: 'B' | 'A', sz: string, px: string, startPosition: string) => {
  const [dir, hash] = [side === 'B' ? 'Open Long' : 'Close Long', `0x${String(oid).repeat(64)}`];
  const time = 1_760_000_000_000 + oid * 60_000;
  return { user, coin: 'ETH', px, sz, side, time, startPosition, dir, hash, oid, fee: '0' };
};

async function imported(fills: readonly object[]) {
  const [{ env }, { env: other }] = [newUser(), newUser()];
  const load = `sandbox import ${file(JSON.stringify(fills))} --preset hyperliquid-fills --own-time`;
  const report = await runJson(load, { env });
  const [position] = await runJson(`--sandbox profile positions ${user} closed --chains all`, { env });
  const told = [(await run(load, { env: other })).err, (await run(load, { env: other })).err];
  return { report, stats: position.metadata.positionStats, told };
}

test('fills that are missing inside a position make its figures unavailable, and the import says of how many', async () => {
  const whole = [fill(1, 'B', '10', '100', '0'), fill(2, 'B', '5', '102', '10'), fill(3, 'A', '15', '110', '15')];
  const all = await imported(whole);
  expect([all.report.unavailable, all.told]).toEqual([0, ['', '']]);
  expect(all.stats).toMatchObject({ unavailable: false, realizedGainsUSD: 140 });
  const cut = await imported(whole.filter(({ oid }) => oid !== 2));
  expect(cut.report).toMatchObject({ imported: 2, rejected: 0, unavailable: 1 });
  // The second time nothing is new.
  expect(cut.told).toEqual(['Positions with missing trades: 1. Their figures are unavailable.\n', '']);
  expect(cut.stats).toMatchObject({ unavailable: true, realizedGainsUSD: 100, receivedCostBasisUSD: 550 });
});

test('a text that would be stored otherwise is refused, and a column whose name has spaces is named', async () => {
  const { env } = newUser();
  const trade = { time: '2026-11-20T09:00:00Z', chain: 'base', trader: alice, token, side: 'buy', usd: 1 };
  const names = [
    { symbol: 'A\0B' },
    { name: '\ud800' },
    { name: 'n'.repeat(201) },
    { symbol: 'A B', name: 'n'.repeat(200) },
  ];
  const path = file(names.map((each) => JSON.stringify({ ...trade, 'Size T': 5, ...each })).join('\n'));
  const argv = ['sandbox', 'import', path, '--map', 'Size T=amount', '--json'];
  const { out, err } = await run(argv, { env, now });
  expect(JSON.parse(out)).toMatchObject({ imported: 1, rejected: 3 });
  for (const refused of ['symbol "A\\u0000B"', 'name "\\ud800"', 'name "nnn']) expect(err).toContain(refused);
});

test.each([
  ['value=usdd', '--map value=usdd: "usdd" is not a field of a trade'],
  ['value=usd,total=USD', '--map names two columns for usd: value and total'],
])('--map %s is exit 2 that names what is wrong, also for NDJSON', async (map, why) => {
  expect(await run(`sandbox import ${file('{"time":1}')} --map ${map}`)).toEqual(failure(2, why));
});

test('a trade of more than 1e60 tokens or dollars is refused', async () => {
  const trade = `sandbox trade --chain base --trader ${alice} --token ${token} --side buy`;
  expect(await run(`${trade} --amount 1e308 --usd 1`)).toEqual(failure(2, '--amount 1e+308'));
  expect(await run(`${trade} --amount 1 --usd 1e61`)).toEqual(failure(2, '--usd 1e+61'));
});
