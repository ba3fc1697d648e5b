import type { Card, Comment, TradeItem } from '../../model/position.ts';
import { formatUsd } from '../../output/format.ts';
import { useCall } from './ask.ts';
import { Id } from './cells.tsx';
import { Comments, Crumbs, nameToken, Positions, Section } from './service-parts.tsx';
import { seen, Text } from './text.tsx';

interface TokenComment {
  itemId: string;
  actor: Card['actor'];
  comment: Comment;
  trade: TradeItem;
}

const sameInAll = ['token', 'chain'];

/** A token: who holds it, who held it, what is said of it. */
export function Token({ chain, address }: { chain: string; address: string }) {
  const token = { chain, contractAddress: address };
  const positions = (status: string) => ({ ...token, status, limit: 100 });
  const open = useCall<Card[]>('token positions', positions('open'));
  const closed = useCall<Card[]>('token positions', positions('closed'));
  const comments = useCall<TokenComment[]>('token comments', { ...token, limit: 100 });
  const [card] = [...(open.data ?? []), ...(closed.data ?? [])];
  const name = card === undefined ? `Token on ${chain}` : nameToken(card);
  const said = comments.data?.map(({ comment, actor, trade }) => ({
    comment,
    by: actor,
    about: seen(`on a ${trade.direction} of ${formatUsd(trade.usdCost)}`),
  }));
  return (
    <>
      <Crumbs here={name} />
      <Section title={name}>
        <p class="addresses">
          <Text text={card?.metadata.tokenName ?? ''} /> <Id text={address} chain={chain} />
        </p>
      </Section>
      <Positions title="Holders" asked={open} omit={sameInAll} />
      <Positions title="Closed positions" asked={closed} omit={sameInAll} />
      <Section title="Comments" commands={comments.commands}>
        <Comments said={said} empty="Nothing is said of it yet." error={comments.error} />
      </Section>
    </>
  );
}
