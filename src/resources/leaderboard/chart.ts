import { chainTitles, leaderboardChains } from '../../model/chain.ts';
import type { Bar, ChartModel } from '../../output/view.ts';
import type { LeaderboardAnswer } from './endpoints.ts';

type Trader = LeaderboardAnswer['traders'][number];

/** A cent: what rounding may leave between the sum of the chains and the total. */
const roundingUsd = 0.01;

/** Realized PnL by trader, split by chain; what the total holds beyond the chains known here stands as Other. */
export function leaderboardChart(traders: readonly Trader[], { timeframe }: { timeframe?: '7d' | '30d' }): ChartModel {
  const window = timeframe === undefined ? '' : `, last ${timeframe === '7d' ? '7' : '30'} days`;
  return {
    kind: 'bars',
    title: `Realized PnL by trader and chain${window}`,
    series: [...leaderboardChains.map((chain) => chainTitles[chain]), 'Other'],
    bars: traders.map(barOf),
  };
}

function barOf({ profile, pnl }: Trader, index: number): Bar {
  const chains = leaderboardChains.map((chain) => {
    const usd = pnl.perChain?.[chain];
    return typeof usd === 'number' ? usd : null;
  });
  const other = pnl.total - chains.reduce<number>((sum, usd) => sum + (usd ?? 0), 0);
  return {
    label: `${index + 1} ${profile.name}`,
    totalUsd: pnl.total,
    partsUsd: [...chains, Math.abs(other) > roundingUsd ? other : null],
  };
}
