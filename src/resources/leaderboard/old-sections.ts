import { flagsOf } from '../../cli/globals.ts';
import type { InputOf } from '../../contract/endpoint.ts';
import { leaderboardChains } from '../../model/chain.ts';
import type * as endpoints from './endpoints.ts';

/** The V2 command for each section. */
export function listEquivalents({ sections, ...rest }: InputOf<typeof endpoints.sections.params>): string[] {
  if (sections === undefined)
    return [
      `Section all is now: ${writeCommand({}, rest)}`,
      `The sections of one chain are now: ${writeCommand({ chains: ['<chain>'] }, rest)} (${leaderboardChains.join(', ')})`,
    ];
  return [...new Set(sections)].map((key) => {
    const board = findBoard(key);
    return `Section ${key} ${board === undefined ? 'has no equivalent in V2.' : `is now: ${writeCommand(board, rest)}`}`;
  });
}

type ListInput = InputOf<typeof endpoints.list.params>;

/** The filter of the V2 board that takes the place of an old section; `undefined` where none does. Source: section "GET /v2/leaderboard", listEquivalents. */
function findBoard(key: string): Pick<ListInput, 'chains'> | undefined {
  const chain = leaderboardChains.find((name) => key === `chain-${name}`);
  if (chain === undefined) return key === 'all' ? {} : undefined;
  return { chains: [chain] };
}

function writeCommand(
  { chains }: { chains?: readonly string[] | undefined },
  { limit, timeframe }: Pick<ListInput, 'limit' | 'timeframe'>,
): string {
  const flags = flagsOf({ '--chains': chains, '--limit': limit, '--timeframe': timeframe });
  return ['sotra leaderboard list', ...flags].join(' ');
}
