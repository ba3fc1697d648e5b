import type { Card } from '../../api/position-answers.ts';
import type { Profile } from '../../api/profile-answers.ts';
import { counted, formatUsd } from '../../lib/output/format.ts';
import type { CallOutcome } from '../activity.ts';
import { Loading, ProblemNote, Record } from './cells.tsx';
import { DataTable } from './data-table.tsx';
import { Panel } from './detail.tsx';
import { LineChart } from './line-chart.tsx';
import { realizedOverTime } from './pnl.ts';
import { useMemo } from './preact.ts';
import { type Answer, findError, useCall } from './queries.ts';
import { type Route, writeHref } from './route.ts';
import { CopyButton, Text } from './text.tsx';

const positionLimit = 100;
const sameInAll = ['trader'];

/** A trader: figures, PnL over time, open and closed positions. */
export function TraderPanel({ id, route }: { id: string; route: Route }) {
  const profile = useCall<Profile>('profile.get', { identifier: id });
  const positions = (status: string) => ({
    identifier: id,
    status,
    sort: 'latest',
    chains: ['all'],
    limit: positionLimit,
  });
  const open = useCall<Card[]>('profile.positions', positions('open'));
  const closed = useCall<Card[]>('profile.positions', positions('closed'));
  const cards = useMemo(() => [...(open.data?.data ?? []), ...(closed.data?.data ?? [])], [open.data, closed.data]);
  const points = useMemo(() => realizedOverTime(cards), [cards]);
  const asked = [profile, open, closed];
  const error = asked.map(findError).find((each) => each !== null) ?? null;
  const again = () => {
    for (const each of asked) void each.refetch();
  };
  const { data } = profile;
  const figures = data?.tables.find(({ title }) => title === 'Trading');
  const total = formatUsd(points.at(-1)?.value ?? 0, { signed: true });
  return (
    <Panel
      label="Trader"
      closeHref={writeHref('board', [], route.query)}
      bar={
        data && (
          <CopyButton text={data.command} what="command">
            Copy as command
          </CopyButton>
        )
      }
    >
      <ProblemNote error={error} again={again} />
      {data === undefined && error === null && <Loading label="Trader" />}
      {data !== undefined && (
        <>
          <Text as="h2" text={data.data.name ?? id} />
          <Record table={data.tables[0]} omit={['name']} />
          {figures !== undefined && <DataTable label="Trading" table={figures} empty="No figures." />}
        </>
      )}
      {points.length > 0 && (
        <>
          <h3>Realized PnL over time</h3>
          <LineChart points={points} label={`${total} realized by ${counted(cards.length, 'position')}`} />
        </>
      )}
      <Positions title="Open positions" answer={open} />
      <Positions title="Closed positions" answer={closed} />
    </Panel>
  );
}

function Positions({ title, answer }: { title: string; answer: Answer<CallOutcome<Card[]>> }) {
  const [table] = answer.data?.tables ?? [];
  if (table === undefined) return null;
  return (
    <>
      <h3>{title}</h3>
      <DataTable label={title} table={table} empty="None." omit={sameInAll} />
    </>
  );
}
