import { expect, test } from 'vitest';
import { answering, run, temporaryFolder } from '../../../support/harness.ts';

const traders = Object.entries<Record<string, number>>({
  ann: { base: 300_000, solana: 100_000 },
  bob: { base: 4000 },
  cid: { base: 2000, hyperliquid: -102_000 },
  dan: { base: 0 },
}).map(([name, perChain]) => ({
  profile: { id: name, name, images: {}, addresses: [`0x${'1'.repeat(40)}`], metadata: {} },
  pnl: { total: Object.values(perChain).reduce((sum, usd) => sum + usd, 0), perChain },
  hasComments: false,
}));

test('--chart draws bars on a linear scale, losses to the left of zero, each in one color', async () => {
  const { env } = await answering({ traders });
  const chart = await run('leaderboard list --chart', { env, tty: 80 });
  expect(chart.out).toBe(`Realized PnL by trader

1 ann  +$400K               │███████████████████████████████████████████████████
2 bob    +$4K               │█
3 cid  -$100K  █████████████│
4 dan   $0.00               │
`);
  const colored = await run('leaderboard list --chart', { env, tty: 80, colors: true });
  expect(colored.out).toContain(`\u001b[32m+$400K\u001b[39m               │\u001b[32m${'█'.repeat(51)}\u001b[39m\n`);
  expect(colored.out).toContain(`  \u001b[31m${'█'.repeat(13)}\u001b[39m│\n`);
});

test.each([
  'leaderboard list',
  'profile get 0xcc950dee665699720371331c167644428c5bde06',
  'profile positions 0xcc950dee665699720371331c167644428c5bde06 closed --limit 5',
])('%s --chart draws a picture that fits the terminal', async (argv) => {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  for (const tty of [40, 72]) {
    const { code, out } = await run(`--sandbox ${argv} --chart`, { env, tty });
    expect([code, out]).toEqual([0, expect.stringContaining('█')]);
    expect(out.split('\n').filter((line) => [...line].length > tty)).toEqual([]);
  }
});

test.each([
  ['--json', 'json output'],
  ['--format csv', 'csv output'],
  ['--jq .', "option '--jq <filter>'"],
])('--chart cannot be used with %s', async (format, rival) => {
  const { code, out, err } = await run(`--sandbox leaderboard list --chart ${format}`);
  expect([code, out, err]).toEqual([2, '', expect.stringContaining(`'--chart' cannot be used with ${rival}`)]);
});
