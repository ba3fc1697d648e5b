import { useMemo } from 'preact/hooks';
import type { Card, Profile } from '../../api/answers.ts';
import { chainTitles, formatChain, leaderboardChains } from '../../api/chain.ts';
import { realizedOverTime } from '../../api/holding.ts';
import { counted, formatTime, formatUsd } from '../../lib/output/format.ts';
import type { ServedTable } from '../activity.ts';
import { AnswerTable, Cell, DataTable } from './data-table.tsx';
import { Panel } from './detail.tsx';
import { Choice } from './form.tsx';
import { type CallAnswer, useCall } from './queries.ts';
import { type Route, setQuery, writeHref } from './route.ts';
import { AnswerNote, CopyButton, Facts, Text } from './text.tsx';

const chains = [['', 'all four'], ...leaderboardChains.map((each) => [each, chainTitles[each]] as const)] as const;
const windows = [
  ['', '30 days'],
  ['7d', '7 days'],
] as const;

/** The leaderboard. */
export function Board({ route }: { route: Route }) {
  const { chain = '', timeframe = '' } = route.query;
  const input = { limit: 250, ...(chain !== '' && { chains: [chain] }), ...(timeframe !== '' && { timeframe }) };
  const answer = useCall<{ traders: { profile: Profile }[] }>('leaderboard.list', input);
  const { data } = answer;
  const [id] = route.parts;
  return (
    <div class="inspect">
      <section class="browse" aria-label="Board">
        <search class="tools">
          <Choice label="Chain" value={chain} options={chains} onChange={(next) => setQuery(route, { chain: next })} />
          <Choice
            label="Window"
            value={timeframe}
            options={windows}
            onChange={(next) => setQuery(route, { timeframe: next })}
          />
          <CopyButton text={data?.command} caption="Copy as command" />
        </search>
        {chain !== '' && <p class="muted">PnL covers {formatChain(chain)}; ROI, wins and trades cover all chains.</p>}
        <AnswerTable
          label="Traders"
          empty="No trader matches."
          ids={data?.data.traders.map(({ profile }) => profile.id)}
          {...{ answer, route }}
        />
      </section>
      {id !== undefined && <TraderPanel key={id} id={id} route={route} />}
    </div>
  );
}

const sameInAll = ['trader'];
/** Positions of each status that the page asks for: as many as the service gives at once. */
const maxPositions = 100;

/** A trader: figures, PnL over time, open and closed positions. */
function TraderPanel({ id, route }: { id: string; route: Route }) {
  const profile = useCall<Profile>('profile.get', { identifier: id });
  const positions = (status: string) => ({
    identifier: id,
    status,
    sort: 'latest',
    chains: ['all'],
    limit: maxPositions,
  });
  const open = useCall<Card[]>('profile.positions', positions('open'));
  const closed = useCall<Card[]>('profile.positions', positions('closed'));
  const cards = useMemo(() => [...(open.data?.data ?? []), ...(closed.data?.data ?? [])], [open.data, closed.data]);
  const { data } = profile;
  const figures = data?.tables.find(({ title }) => title === 'Trading');
  return (
    <Panel
      label="Trader"
      closeHref={writeHref('board', [], route.query)}
      bar={<CopyButton text={data?.command} caption="Copy as command" />}
    >
      <AnswerNote label="Trader" answers={[profile, open, closed]} />
      {data !== undefined && (
        <>
          <Text as="h2" text={data.data.name ?? id} />
          <Identity table={data.tables[0]} />
          {figures !== undefined && <DataTable label="Trading" table={figures} empty="No figures." />}
        </>
      )}
      <RealizedChart cards={cards} />
      <Positions title="Open positions" answer={open} />
      <Positions title="Closed positions" answer={closed} />
    </Panel>
  );
}

function Positions({ title, answer }: { title: string; answer: CallAnswer<Card[]> }) {
  const [table] = answer.data?.tables ?? [];
  if (table === undefined) return null;
  return (
    <>
      <h3>{table.rows.length < maxPositions ? title : `${title}, the latest ${maxPositions}`}</h3>
      <DataTable label={title} table={table} empty="None." omit={sameInAll} />
    </>
  );
}

/** The profile as the terminal shows it, without the name. */
function Identity({ table }: { table: ServedTable | undefined }) {
  const [cells = []] = table?.rows ?? [];
  const shown = (table?.columns ?? []).flatMap(({ key, title, help, extra }, index) =>
    extra || key === 'name' ? [] : [[title, <Cell cell={cells[index]} />, cells[index]?.tone, help] as const],
  );
  return <Facts kind="counters" facts={shown} />;
}

const [width, height] = [600, 160];

/** The realized PnL over time as steps, from zero to the sum of all. */
function RealizedChart({ cards }: { cards: readonly Card[] }) {
  const points = useMemo(() => realizedOverTime(cards), [cards]);
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return null;
  const values = [0, ...points.map(({ value }) => value)];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (atSec: number) => ((atSec - first.atSec) / (last.atSec - first.atSec || 1)) * width;
  const y = (value: number) => height - ((value - low) / (high - low || 1)) * height;
  const steps = points.map(({ atSec, value }) => `H${x(atSec).toFixed(1)}V${y(value).toFixed(1)}`).join('');
  const total = formatUsd(last.value, { signed: true });
  const label = `${total} realized by ${counted(cards.length, 'position')}`;
  return (
    <>
      <h3>Realized PnL of these positions over time</h3>
      <figure class="chart">
        <svg viewBox={`0 -4 ${width} ${height + 8}`} preserveAspectRatio="none" role="img" aria-label={label}>
          <path class="zero" d={`M0 ${y(0)}H${width}`} />
          <path class="line" d={`M0 ${y(0)}${steps}`} />
        </svg>
        <figcaption>
          <span>{formatTime(first.atSec).slice(0, 10)}</span>
          <strong>{total}</strong>
          <span>{formatTime(last.atSec).slice(0, 10)}</span>
        </figcaption>
      </figure>
    </>
  );
}
