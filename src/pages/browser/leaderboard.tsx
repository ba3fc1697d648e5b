import { chainTitles, leaderboardChains } from '../../model/chain.ts';
import type { Profile } from '../../model/profile.ts';
import { chooseTone, counted, formatCount, formatPercent, formatRatio, formatUsd } from '../../output/format.ts';
import { useCall } from './ask.ts';
import { Chart } from './chart.tsx';
import { useMemo } from './preact.ts';
import { type Route, setQuery, writeHref } from './route.ts';
import { OpenList, Realized, Section } from './service-parts.tsx';
import { Choice, Row, seen } from './text.tsx';

interface Standing {
  profile: Profile;
  pnl: { total: number };
  hasComments?: boolean;
  rank: number;
}

const shownBars = 40;

/** Who gained most; a bar and a row for each trader. */
export function Leaderboard({ route, version }: { route: Route; version: number }) {
  const { chain = '', timeframe = '', comments = '', limit = '100' } = route.query;
  const input = {
    limit: Number(limit),
    ...(chain !== '' && { chains: [chain] }),
    ...(timeframe !== '' && { timeframe }),
    ...(comments !== '' && { onlyWithComments: true }),
  };
  const { data, commands, error } = useCall<{ traders: Omit<Standing, 'rank'>[] }>('leaderboard list', input, version);
  const traders = useMemo(() => data?.traders.map((trader, index) => ({ ...trader, rank: index + 1 })), [data]);
  const points = useMemo(() => traders?.slice(0, shownBars).map(makeBarPoint) ?? [], [traders]);
  const set = (key: string) => (value: string) => setQuery(route, { [key]: value });
  return (
    <Section title="Leaderboard" error={error} commands={commands}>
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
      {traders !== undefined && traders.length > 0 && (
        <Chart label={describeBars(traders.length)} points={points} shape="bars" axes={{ x: 'rank', y: axisUsd }} />
      )}
      <OpenList
        label="Traders"
        items={traders}
        keyOf={({ profile }) => profile.id}
        hrefFor={({ profile }) => writeHref('trader', [profile.id])}
        empty="No trader fits these filters."
        render={(trader) => renderTrader(trader, timeframe)}
      />
    </Section>
  );
}

function describeBars(count: number): string {
  return count > shownBars ? `Realized PnL of the first ${shownBars} traders` : 'Realized PnL of these traders';
}

const axisUsd = (value: number) => formatUsd(value, { compact: true });

function makeBarPoint({ profile, pnl: { total }, rank }: Standing) {
  const title = seen(`${rank}. ${profile.name}: ${formatUsd(total, { signed: true })}`);
  return { x: rank, y: total < 0 ? null : total, loss: total < 0 ? total : null, title };
}

function renderTrader({ profile, pnl, hasComments, rank }: Standing, timeframe: string) {
  const { metadata } = profile;
  const [roi, winRate, trades] =
    timeframe === '7d'
      ? [metadata.roiPercent7d, metadata.winRate7d, metadata.tradeCount7d]
      : [metadata.roiPercent30d, metadata.winRate30d, metadata.tradeCount30d];
  return (
    <Row
      before={<span class="rank">{formatCount(rank)}</span>}
      title={profile.name}
      after={<Realized usd={pnl.total} />}
      about={
        <>
          <span class={chooseTone(roi)}>{formatPercent(roi, { signed: true })}</span> ROI, {formatRatio(winRate)} won,{' '}
          {counted(trades, 'trade')}
          {hasComments ? ', comments' : ''}
        </>
      }
    />
  );
}
