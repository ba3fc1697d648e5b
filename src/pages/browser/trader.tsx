import type { Card, Comment } from '../../model/position.ts';
import type { Profile } from '../../model/profile.ts';
import {
  chooseTone,
  counted,
  formatCount,
  formatPercent,
  formatRatio,
  formatTime,
  formatUsd,
} from '../../output/format.ts';
import { useCall } from './ask.ts';
import { Chart } from './chart.tsx';
import { realizedOverTime } from './pnl.ts';
import { useMemo } from './preact.ts';
import { writeHref } from './route.ts';
import { Moment, nameCardToken, OpenList, Positions, positionHref, Section } from './service-parts.tsx';
import { type Fact, Facts, Row, Text } from './text.tsx';

const positionLimit = 100;

/** A trader: figures, PnL over time, positions, comments, followers. */
export function Trader({ id, version }: { id: string; version: number }) {
  const profile = useCall<Profile>('profile get', { identifier: id }, version);
  const positions = (status: string) => ({
    identifier: id,
    status,
    sort: 'latest',
    chains: ['all'],
    limit: positionLimit,
  });
  const open = useCall<Card[]>('profile positions', positions('open'), version);
  const closed = useCall<Card[]>('profile positions', positions('closed'), version);
  const followers = useCall<{ items: Profile[] }>('profile followers', { identifier: id, limit: 100 }, version);
  const cards = useMemo(() => [...(open.data ?? []), ...(closed.data ?? [])], [open.data, closed.data]);
  const points = useMemo(() => makeGainPoints(cards), [cards]);
  const comments = useMemo(() => listCardComments(cards), [cards]);
  return (
    <>
      <Section title={profile.data?.name ?? 'Trader'} error={profile.error} commands={profile.commands}>
        {profile.data !== undefined && <Figures profile={profile.data} />}
      </Section>
      {points.length > 0 && (
        <Section title="Realized PnL over time">
          <Chart
            label={chartLabel(points.at(-1)?.y ?? 0, cards.length)}
            points={points}
            shape="steps"
            axis={(value) => formatUsd(value, { signed: true, compact: true })}
          />
        </Section>
      )}
      <Positions title="Open positions" asked={open} />
      <Positions title="Closed positions" asked={closed} />
      <div class="columns">
        <Section title="Comments">
          <OpenList
            label="Comments"
            error={open.error || closed.error}
            items={open.data && closed.data && comments}
            keyOf={({ comment }) => comment.uid}
            hrefFor={({ card }) => positionHref(card)}
            empty="None on these positions."
            render={({ comment, card }) => (
              <Row
                title={nameCardToken(card)}
                after={<Moment atSec={comment.timestamp} />}
                about={<Text text={comment.commentText} />}
              />
            )}
          />
        </Section>
        <Section title="Followers" error={followers.error} commands={followers.commands}>
          <OpenList
            label="Followers"
            error={followers.error}
            items={followers.data?.items}
            keyOf={(each) => each.id}
            hrefFor={(each) => writeHref('trader', [each.id])}
            empty="None."
            render={(each) => <Row title={each.name} about={<Text text={each.addresses.join(', ')} />} />}
          />
        </Section>
      </div>
    </>
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

function listCardComments(cards: readonly Card[]): { comment: Comment; card: Card }[] {
  return cards
    .flatMap((card) =>
      card.metadata.trades.flatMap(({ comments = [] }) => comments.map((comment) => ({ comment, card }))),
    )
    .sort((a, b) => b.comment.timestamp - a.comment.timestamp);
}

function Figures({ profile }: { profile: Profile }) {
  const { metadata, metrics, addresses, status } = profile;
  const figures: readonly Fact[] = [
    ['PnL, 30 days', formatUsd(metadata.pnl30d, { signed: true }), chooseTone(metadata.pnl30d)],
    ['PnL, 7 days', formatUsd(metadata.pnl7d, { signed: true }), chooseTone(metadata.pnl7d)],
    ['ROI, 30 days', formatPercent(metadata.roiPercent30d, { signed: true }), chooseTone(metadata.roiPercent30d)],
    ['Won, 30 days', formatRatio(metadata.winRate30d)],
    ['Trades, 30 days', formatCount(metadata.tradeCount30d)],
    ['Followers', formatCount(metrics?.thisPartner?.followerCount)],
    ['Copied by others', formatUsd(metrics?.copytradedAllTime?.volumeUSD)],
  ];
  return (
    <>
      <Facts kind="counters" facts={figures} />
      <p class="addresses">
        {addresses.map((address) => (
          <code key={address}>
            <Text text={address} />
          </code>
        ))}
        {status !== undefined && <span class="muted"> {status}</span>}
      </p>
    </>
  );
}
