import type { Card, Comment, TradeItem } from '../../model/position.ts';
import { useCall } from './ask.ts';
import { writeHref } from './route.ts';
import { Moment, OpenList, Positions, Section } from './service-parts.tsx';
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
      <Positions title="Holders" asked={open} />
      <Positions title="Closed positions" asked={closed} />
      <div class="columns">
        <Section title="Comments" error={comments.error} commands={comments.commands}>
          <OpenList
            label="Comments"
            error={comments.error}
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
