import type { Card } from '../../api/position-answers.ts';
import type { Profile } from '../../api/profile-answers.ts';
import { counted, formatTime, formatUsd } from '../../lib/output/format.ts';
import { useCall } from './ask.ts';
import { Record } from './cells.tsx';
import { Chart } from './chart.tsx';
import { DataTable } from './data-table.tsx';
import { realizedOverTime } from './pnl.ts';
import { useMemo } from './preact.ts';
import { writeHref } from './route.ts';
import { Comments, Crumbs, nameCardToken, Positions, type Said, Section } from './service-parts.tsx';
import { seen } from './text.tsx';

const positionLimit = 100;
const sameInAll = ['trader'];

/** A trader: figures, PnL over time, positions, comments, followers and whom they follow. */
export function Trader({ id }: { id: string }) {
  const { data: profile, tables, error, commands } = useCall<Profile>('profile.get', { identifier: id });
  const positions = (status: string) => ({
    identifier: id,
    status,
    sort: 'latest',
    chains: ['all'],
    limit: positionLimit,
  });
  const open = useCall<Card[]>('profile.positions', positions('open'));
  const closed = useCall<Card[]>('profile.positions', positions('closed'));
  const cards = useMemo(() => [...(open.data ?? []), ...(closed.data ?? [])], [open.data, closed.data]);
  const points = useMemo(() => makeGainPoints(cards), [cards]);
  const said = useMemo(() => listSaid(cards), [cards]);
  const name = profile?.name ?? 'Trader';
  const figures = tables.find(({ title }) => title === 'Trading');
  return (
    <>
      <Crumbs here={name} />
      <Section title={name} commands={commands}>
        {error === '' && <Record table={tables[0]} omit={['name']} />}
        {figures !== undefined && <DataTable label="Trading" table={figures} isPlain error="" empty="No figures." />}
      </Section>
      {points.length > 0 && (
        <Section title="Realized PnL over time">
          <Chart
            label={chartLabel(points.at(-1)?.y ?? 0, cards.length)}
            points={points}
            axis={(value) => formatUsd(value, { signed: true, compact: true })}
          />
        </Section>
      )}
      <Positions title="Open positions" asked={open} omit={sameInAll} />
      <Positions title="Closed positions" asked={closed} omit={sameInAll} />
      <Section title="Comments">
        <Comments
          said={open.data && closed.data && said}
          empty="None on these positions."
          error={open.error || closed.error}
        />
      </Section>
      <Profiles id={id} title="Followers" endpoint="profile.followers" />
      <Profiles id={id} title="Follows" endpoint="profile.follows" />
    </>
  );
}

interface ProfilesProps {
  id: string;
  title: string;
  endpoint: string;
}

function Profiles({ id, title, endpoint }: ProfilesProps) {
  const input = { identifier: id, limit: 100 };
  const { data, table, error, commands } = useCall<{ items: Profile[] }>(endpoint, input);
  const hrefs = data?.items.map((each) => writeHref('trader', [each.id])) ?? [];
  return (
    <Section title={title} commands={commands}>
      <DataTable label={title} empty="None." {...{ table, hrefs, error }} />
    </Section>
  );
}

function makeGainPoints(cards: readonly Card[]) {
  return realizedOverTime(cards).map(({ atSec, value }) => ({
    x: atSec,
    y: value,
    title: `${formatUsd(value, { signed: true })} up to ${formatTime(atSec)}`,
  }));
}

function chartLabel(total: number, count: number): string {
  return `${formatUsd(total, { signed: true })} realized by the ${counted(count, 'position')} below`;
}

/** Newest first. */
function listSaid(cards: readonly Card[]): Said[] {
  const said = cards.flatMap((card) => {
    const about = seen(`on ${nameCardToken(card)}`);
    const { trades } = card.metadata;
    return trades.flatMap(({ comments = [] }) => comments.map((comment) => ({ comment, by: card.actor, about })));
  });
  return said.sort((a, b) => b.comment.timestamp - a.comment.timestamp);
}
