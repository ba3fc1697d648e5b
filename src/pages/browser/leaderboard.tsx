import { chainTitles, formatChain, leaderboardChains } from '../../api/chain.ts';
import type { Profile } from '../../api/profile-answers.ts';
import { useCall } from './ask.ts';
import { DataTable } from './data-table.tsx';
import { type Field, FilterBar } from './form.tsx';
import { useFrame } from './frame.ts';
import { useMemo } from './preact.ts';
import { type Route, setQuery, writeHref } from './route.ts';
import { Section } from './service-parts.tsx';

const noFilters = { chain: '', timeframe: '', comments: '', limit: '100' };
const fields: readonly Field<keyof typeof noFilters>[] = [
  ['chain', 'Chain', [['', 'all four'], ...leaderboardChains.map((each) => [each, chainTitles[each]] as const)]],
  [
    'timeframe',
    'Period',
    [
      ['', '30 days'],
      ['7d', '7 days'],
    ],
  ],
  [
    'comments',
    'Traders',
    [
      ['', 'all'],
      ['only', 'with comments'],
    ],
  ],
  ['limit', 'How many', ['10', '50', '100', '250']],
];

/** Who gained most. */
export function Leaderboard({ route }: { route: Route }) {
  const filters = { ...noFilters, ...route.query };
  const { chain, timeframe, comments, limit } = filters;
  const input = {
    limit: Number(limit),
    ...(chain !== '' && { chains: [chain] }),
    ...(timeframe !== '' && { timeframe }),
    ...(comments !== '' && { onlyWithComments: true }),
  };
  const { data, table, commands, error } = useCall<{ traders: { profile: Profile }[] }>('leaderboard.list', input);
  const hrefs = useMemo(() => data?.traders.map(({ profile }) => writeHref('trader', [profile.id])) ?? [], [data]);
  const { examples } = useFrame().facts;
  return (
    <Section title="Leaderboard" commands={commands}>
      <FilterBar fields={fields} values={filters} onChange={(values) => setQuery(route, values, noFilters)} />
      {chain !== '' && (
        <p class="muted">PnL is of {formatChain(chain)} alone; ROI, wins and trades are of all chains together.</p>
      )}
      <DataTable
        label="Traders"
        empty="No trader fits these filters. Another board:"
        line={examples['leaderboard.list']}
        {...{ table, hrefs, error }}
      />
    </Section>
  );
}
