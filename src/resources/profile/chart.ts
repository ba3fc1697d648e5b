import { chainTitles, leaderboardChains } from '../../model/chain.ts';
import type { Profile } from '../../model/profile.ts';
import type { Bar, ChartModel } from '../../output/view.ts';

/** Realized PnL of 7 days against that of 30, in all and by chain; chains without figures are left out. */
export function profileChart([profile]: readonly Profile[]): ChartModel {
  return {
    kind: 'bars',
    title: `Realized PnL of ${profile?.name ?? 'the profile'}: 7 days against 30`,
    series: ['7 days', '30 days'],
    bars: profile === undefined ? [] : barsOf(profile),
  };
}

function barsOf({ metadata }: Profile): Bar[] {
  const scopes = [
    { name: 'All chains', week: metadata.pnl7d, month: metadata.pnl30d },
    ...leaderboardChains.map((chain) => ({
      name: chainTitles[chain],
      week: figureOf(metadata.perChainPnl7d?.[chain]),
      month: figureOf(metadata.perChainPnl30d?.[chain]),
    })),
  ];
  return scopes
    .filter(({ week, month }) => (week ?? month ?? null) !== null)
    .flatMap(({ name, week = null, month = null }) => [
      { label: `${name} 7d`, totalUsd: week, partsUsd: [week, null] },
      { label: `${name} 30d`, totalUsd: month, partsUsd: [null, month] },
    ]);
}

function figureOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
