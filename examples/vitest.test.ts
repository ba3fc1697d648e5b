import { createClient } from 'sotra';
import { type Sandbox, startSandbox } from 'sotra/sandbox';
import { afterAll, beforeAll, expect, test } from 'vitest';

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ seed: 'empty', asOf: '2026-11-20T12:00:00Z' });
});

afterAll(() => sandbox.close());

test('a trade is seen on the leaderboard', async () => {
  const client = createClient({ baseUrl: sandbox.url, apiKey: sandbox.keys[0] });
  const [trader, token] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`];
  sandbox.trade({ chain: 'base', trader, token, side: 'buy', amount: 100, usd: 1000 });
  sandbox.advance('1h');
  sandbox.trade({ chain: 'base', trader, token, side: 'sell', amount: 100, usd: 1500 });
  const { traders } = await client.leaderboard.list({ chains: ['base'] });
  expect(traders.map(({ profile, pnl }) => [profile.addresses, pnl.total])).toEqual([[[trader], 500]]);
});
