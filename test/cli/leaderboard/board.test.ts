import { expect, test } from 'vitest';
import { run } from '../../support/harness.ts';

interface Trader {
  profile: { addresses: string[] };
  pnl: { total: number; perChain: Record<string, number> };
}

test('a total is the sum of its chains to the last digit, and the rank of a trader is his place with the same PnL', async () => {
  const board = await run(['--sandbox', 'leaderboard', 'list', '--limit', '250', '--json']);
  const { traders }: { traders: Trader[] } = JSON.parse(board.out);
  const chains = traders.map(({ pnl }) => Object.keys(pnl.perChain));
  expect(chains.filter(({ length }) => length > 1).length).toBeGreaterThan(10);
  expect(chains).toEqual(chains.map((each) => [...each].sort()));
  for (const { pnl } of traders) expect(Object.values(pnl.perChain).reduce((sum, usd) => sum + usd, 0)).toBe(pnl.total);
  for (const [place, { profile, pnl }] of traders.entries()) {
    if (place % 8 > 0) continue;
    const address = profile.addresses[0] ?? '';
    const rank = await run(['--sandbox', 'leaderboard', 'rank', address, '--json']);
    expect(JSON.parse(rank.out)).toEqual({ ranking: place + 1, pnl });
  }
});
