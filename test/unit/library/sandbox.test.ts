import { readdirSync } from 'node:fs';
import { createClient, SotraError } from 'sotra';
import { startSandbox } from 'sotra/sandbox';
import { expect, onTestFinished, test, vi } from 'vitest';
import { temporaryFolder } from '../../support/harness.ts';

const started = async (options?: Parameters<typeof startSandbox>[0]) => {
  const sandbox = await startSandbox(options);
  onTestFinished(sandbox.close);
  return { sandbox, client: createClient({ baseUrl: sandbox.url, apiKey: sandbox.keys[0], retries: 0 }) };
};

test('several run at once, each with its own world, clock and port, and leave nothing', async () => {
  const folder = temporaryFolder();
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const all = await Promise.all([
    started({ seed: 'empty', asOf: '2026-01-01T00:00:00Z' }),
    started({ seed: 'empty', asOf: new Date('2026-02-01T00:00:00Z') }),
    started(),
  ]);
  const trade = { chain: 'solana', side: 'buy', amount: 1, usd: 10 } as const;
  const [one, other] = all;
  one?.sandbox.trade({
    ...trade,
    trader: 'GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB',
    token: 'So11111111111111111111111111111111111111112',
  });
  const counts = await Promise.all(all.map(async ({ client }) => (await client.leaderboard.list()).traders.length));
  expect([counts[0], counts[1]]).toEqual([1, 0]);
  expect(counts[2]).toBeGreaterThan(5);
  expect(one?.sandbox.advance('8d').toISOString()).toBe('2026-01-09T00:00:00.000Z');
  expect(other?.sandbox.advance(60_000).toISOString()).toBe('2026-02-01T00:01:00.000Z');
  expect(new Set(all.map(({ sandbox }) => sandbox.url)).size).toBe(3);
  await Promise.all(all.map(({ sandbox }) => sandbox.close()));
  await expect(fetch(all[0]?.sandbox.url ?? '')).rejects.toThrow();
  expect(readdirSync(folder)).toEqual([]);
});

test('faults happen to the requests that they name', async () => {
  const { client } = await started({ seed: 'empty', faults: ['503:first=1:GET /v2/leaderboard'] });
  await expect(client.leaderboard.list()).rejects.toMatchObject({ code: 'server-error', status: 503 });
  expect(await client.leaderboard.list()).toEqual({ traders: [] });
});

test.each<[object, string]>([
  [{ port: 70_000 }, 'port 70000: must be a whole number from 0 to 65535'],
  [{ seed: 'x' }, 'seed "x": must be one of demo, empty'],
  [{ asOf: 'yesterday' }, 'asOf "yesterday": must be a time such as'],
  [{ faults: ['503'] }, 'faults "503": must be <status|drop'],
  [{ layout: 'x' }, 'layout "x": must be one of five-line, blank-line'],
  [{ seeds: 1 }, 'startSandbox has no input seeds: did you mean seed? it takes port, seed'],
])('%o is refused before anything starts', async (options, message) => {
  const refused = await startSandbox(options).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'usage', message: expect.stringContaining(message) });
  expect(refused).toBeInstanceOf(SotraError);
});

test('a trade and a time that are wrong are refused', async () => {
  const { sandbox } = await started({ seed: 'empty' });
  const refused = (act: () => unknown) => {
    try {
      act();
    } catch (thrown) {
      return thrown;
    }
    return undefined;
  };
  expect(refused(() => sandbox.trade({ chain: 'base' } as never))).toMatchObject({
    code: 'usage',
    message: expect.stringContaining('trader, token, side, amount and usd are required'),
  });
  const whole = { chain: 'base', trader: `0x${'1'.repeat(40)}`, token: 'x', side: 'buy', amount: 1, usd: 1 } as const;
  expect(refused(() => sandbox.trade({ ...whole, leverage: 2 }))).toMatchObject({
    message: 'direction and leverage are for hyperliquid, not for base',
  });
  expect(refused(() => sandbox.trade({ ...whole, amount: -1 }))).toMatchObject({ code: 'usage' });
  expect(refused(() => sandbox.trade({ ...whole, chain: 'solana' }))).toMatchObject({
    message: `trader ${whole.trader}: no wallet of solana has such an address`,
  });
  const late = refused(() => sandbox.advance(1e300));
  expect(late).toMatchObject({ message: expect.stringContaining('is after the year 9999') });
  expect(late).not.toHaveProperty('hint');
  expect(refused(() => sandbox.advance('soon'))).toMatchObject({ message: expect.stringContaining('advance "soon"') });
  await sandbox.close();
  const closed = { code: 'usage', message: 'the sandbox is closed' };
  expect([refused(() => sandbox.trade(whole)), refused(() => sandbox.advance('1h'))]).toMatchObject([closed, closed]);
});

test('what is sold at its cost is no gain, and one transaction closes a long and opens a short', async () => {
  const { sandbox, client } = await started({ seed: 'empty' });
  const trader = `0x${'1'.repeat(40)}`;
  const [spot, perp] = [
    { chain: 'base', trader, token: `0x${'2'.repeat(40)}` },
    { chain: 'hyperliquid', trader, token: 'BTC', amount: 1, usd: 100 },
  ] as const;
  sandbox.trade({ ...spot, side: 'buy', amount: 49, usd: 49 });
  sandbox.trade({ ...spot, side: 'sell', amount: 1, usd: 1 });
  const { metadata } = await client.profile.get({ identifier: trader });
  expect(metadata).toMatchObject({ pnl30d: 0, winRate30d: 0, tradeCount30d: 1 });
  sandbox.trade({ ...perp, side: 'buy' });
  sandbox.trade({ ...perp, side: 'sell', tx: '778' });
  sandbox.trade({ ...perp, side: 'sell', tx: '778', direction: 'short' });
  const [short] = await client.profile.positions({ identifier: trader, status: 'open', chains: ['hyperliquid'] });
  expect(short?.metadata).toMatchObject({ perpPositionType: 'short', positionAmount: -1 });
});

test('a trade that is repeated while its price is low does not end the position', async () => {
  const { sandbox, client } = await started({ seed: 'empty' });
  const [trader, other] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`];
  const buy = (usd: number, more: object) =>
    sandbox.trade({ chain: 'base', trader, token: other, side: 'buy', amount: 10, usd, ...more });
  buy(100, { tx: '0xa' });
  buy(0.1, { trader: other });
  expect(buy(100, { tx: '0xa' }).isRepeated).toBe(true);
  buy(100, { trader: other });
  buy(100, {});
  const open = await client.profile.positions({ identifier: trader, status: 'open' });
  expect(open).toMatchObject([{ metadata: { positionAmount: 20, positionStats: { boughtUSD: 200 } } }]);
});

test('a page of the named origin may ask, and no other by default', async () => {
  const asked = { method: 'OPTIONS', headers: { origin: 'http://a.test', 'access-control-request-method': 'GET' } };
  const { sandbox } = await started({ seed: 'empty', cors: 'http://a.test' });
  const preflight = await fetch(`${sandbox.url}/v2/leaderboard`, asked);
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, 'http://a.test']);
  expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization, content-type');
  const refusal = await fetch(`${sandbox.url}/v2/leaderboard`);
  expect([refusal.status, refusal.headers.get('access-control-allow-origin')]).toEqual([401, 'http://a.test']);
  const { sandbox: both } = await started({ seed: 'empty', cors: ['http://b.test:81', 'http://a.test'] });
  const second = await fetch(`${both.url}/v2/leaderboard`, asked);
  expect(second.headers.get('access-control-allow-origin')).toBe('http://a.test');
  for (const cors of ['*', 'http://a.test/', 'null', 'localhost:5173'])
    await expect(startSandbox({ cors })).rejects.toThrow(`cors "${cors}": must be the origin of pages`);
  const { sandbox: closed } = await started({ seed: 'empty' });
  const without = await fetch(`${closed.url}/v2/leaderboard`, asked);
  expect([without.status, without.headers.get('access-control-allow-origin')]).toEqual([403, null]);
});
