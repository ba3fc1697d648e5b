import { readHeld } from '../../model/holding.ts';
import type { Card, Comment, TradeItem } from '../../model/position.ts';
import { formatAmount, formatUsd } from '../../output/format.ts';
import { useCall } from './ask.ts';
import { writeHref } from './route.ts';
import { Moment, OpenList, Positions, Realized, Section } from './service-parts.tsx';
import { Row, Text } from './text.tsx';

interface TokenComment {
  itemId: string;
  actor: Card['actor'];
  timestamp: number;
  comment: Comment;
  trade: TradeItem;
  token: { symbol?: string | null; name?: string | null };
}

/** A token: who holds it, who held it, what is said of it. */
export function Token({ chain, address, version }: { chain: string; address: string; version: number }) {
  const token = { chain, contractAddress: address };
  const positions = (status: string) => ({ ...token, status, limit: 100 });
  const open = useCall<Card[]>('token positions', positions('open'), version);
  const closed = useCall<Card[]>('token positions', positions('closed'), version);
  const comments = useCall<TokenComment[]>('token comments', { ...token, limit: 100 }, version);
  const { tokenSymbol = '', tokenName = '' } = [...(open.data ?? []), ...(closed.data ?? [])][0]?.metadata ?? {};
  return (
    <>
      <Section title={`${tokenSymbol || 'Token'} on ${chain}`}>
        <p class="addresses">
          <Text text={tokenName ?? ''} />{' '}
          <code>
            <Text text={address} />
          </code>
        </p>
      </Section>
      <div class="columns">
        <Positions title="Holders" asked={open} render={renderHolder} />
        <Positions title="Closed positions" asked={closed} render={renderHolder} />
        <Section title="Comments" error={comments.error} commands={comments.commands}>
          <OpenList
            label="Comments"
            items={comments.data}
            keyOf={({ comment }) => comment.uid}
            hrefFor={({ actor }) => writeHref('trader', [actor.address])}
            empty="Nothing is said of it yet."
            render={({ actor, comment }) => (
              <Row
                title={actor.name ?? actor.address}
                after={<Moment atSec={comment.timestamp} />}
                about={<Text text={comment.commentText} />}
              />
            )}
          />
        </Section>
      </div>
    </>
  );
}

function renderHolder(card: Card) {
  const { positionStats: stats } = card.metadata;
  return (
    <Row
      title={card.itemTitle}
      after={<Realized usd={stats.realizedGainsUSD} />}
      about={
        <>
          holds {formatAmount(readHeld(card.metadata).amount)}, cost {formatUsd(stats.holdingsCostBasisUSD)}
        </>
      }
    />
  );
}
