import type { InputOf } from '../../contract/endpoint.ts';
import { leaderboardChains } from '../../model/chain.ts';
import type { list } from './endpoints.ts';

type ListInput = InputOf<typeof list.params>;

/** The filter of the V2 board that takes the place of an old section; `undefined` where none does. Source: section "GET /v2/leaderboard", equivalents. */
export function boardOf(key: string): Pick<ListInput, 'chains'> | undefined {
  const chain = leaderboardChains.find((name) => key === `chain-${name}`);
  if (chain === undefined) return key === 'all' ? {} : undefined;
  return { chains: [chain] };
}

export function boardCommand(
  { chains }: { chains?: readonly string[] | undefined },
  { limit, timeframe }: Pick<ListInput, 'limit' | 'timeframe'>,
): string {
  const flags = { chains, limit, timeframe };
  const typed = Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : `--${flag} ${value}`));
  return ['sotra leaderboard list', ...typed].join(' ');
}
