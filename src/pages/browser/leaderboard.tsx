import { chainTitles, formatChain, leaderboardChains } from '../../model/chain.ts';
import type { Profile } from '../../model/profile.ts';
import { useCall } from './ask.ts';
import { DataTable } from './data-table.tsx';
import { useFrame } from './frame.ts';
import { useMemo } from './preact.ts';
import { type Route, setQuery, writeHref } from './route.ts';
import { Section } from './service-parts.tsx';
import { Choice } from './text.tsx';

/** Who gained most. */
export function Leaderboard({ route, version }: { route: Route; version: number }) {
  const { chain = '', timeframe = '', comments = '', limit = '100' } = route.query;
  const input = {
    limit: Number(limit),
    ...(chain !== '' && { chains: [chain] }),
    ...(timeframe !== '' && { timeframe }),
    ...(comments !== '' && { onlyWithComments: true }),
  };
  const { data, table, commands, error } = useCall<{ traders: { profile: Profile }[] }>(
    'leaderboard list',
    input,
    version,
  );
  const hrefs = useMemo(() => data?.traders.map(({ profile }) => writeHref('trader', [profile.id])) ?? [], [data]);
  const { examples } = useFrame();
  const set = (key: string) => (value: string) => setQuery(route, { [key]: value });
  return (
    <Section title="Leaderboard" commands={commands}>
      <search class="filters" aria-label="Filters">
        <Choice
          label="Chain"
          value={chain}
          onChange={set('chain')}
          options={[['', 'all four'], ...leaderboardChains.map((each) => [each, chainTitles[each]] as const)]}
        />
        <Choice
          label="Period"
          value={timeframe}
          onChange={set('timeframe')}
          options={[
            ['', '30 days'],
            ['7d', '7 days'],
          ]}
        />
        <Choice
          label="Traders"
          value={comments}
          onChange={set('comments')}
          options={[
            ['', 'all'],
            ['only', 'with comments'],
          ]}
        />
        <Choice label="How many" value={limit} onChange={set('limit')} options={['10', '50', '100', '250']} />
      </search>
      {chain !== '' && (
        <p class="muted">PnL is of {formatChain(chain)} alone; ROI, wins and trades are of all chains together.</p>
      )}
      <DataTable
        label="Traders"
        empty="No trader fits these filters. Another board:"
        line={examples['leaderboard list']}
        {...{ table, hrefs, error }}
      />
    </Section>
  );
}
