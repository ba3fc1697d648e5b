import { column } from '../../output/columns.ts';
import { nameOrAddress } from '../../output/format.ts';
import type { Column, View } from '../../output/view.ts';
import type { TokenCommentsAnswer } from './endpoints.ts';

type Item = TokenCommentsAnswer[number];

const holdingHelp = 'tokens the trader holds now; on perps the margin part, negative on shorts';
const pnlOf = ({ positionDetails }: Item) => positionDetails?.positionStats?.realizedGainsUSD;
const extra = { extra: true };
const hash = { extra: true, cut: 'middle' } as const;

const columns: readonly Column<Item>[] = [
  column.time('at', 'Time', 'time of the comment', ({ timestamp }) => timestamp, { drop: 3 }),
  column.text('author', 'Trader', 'author: name or address', ({ actor }) => actor.name ?? actor.address, {
    show: ({ actor }) => nameOrAddress(actor),
    cut: 'end',
    keep: 12,
  }),
  column.text('direction', 'Trade', 'the trade it is about: buy or sell', ({ trade }) => trade.direction, { drop: 1 }),
  column.compactUsd('usd', 'Value', 'value of the trade in USD; on perps with leverage', ({ trade }) => trade.usdCost, {
    drop: 2,
  }),
  column.text('text', 'Comment', 'the text', ({ comment }) => comment.commentText, { cut: 'end', keep: 24 }),
  column.compactAmount(
    'holding',
    'Holding',
    holdingHelp,
    ({ positionDetails }) => positionDetails?.positionAmount,
    extra,
  ),
  column.pnl('realizedUsd', 'PnL', 'realized PnL of the position, in USD', pnlOf, extra),
  column.count('likes', 'Likes', 'likes of the comment', ({ comment }) => comment.metrics?.likeCount, extra),
  column.count('copies', 'Copies', 'copy trades of the comment', ({ comment }) => comment.metrics?.copyCount, extra),
  column.text('side', 'Side', 'long or short; perps only', ({ trade }) => trade.perpPositionType, extra),
  column.text(
    'tokenCommentCount',
    'On token',
    'comments on the token in all',
    ({ token }) => token.commentCount,
    extra,
  ),
  column.text('address', 'Address', 'wallet of the author', ({ actor }) => actor.address, hash),
  column.text('transactionHash', 'Transaction', 'the trade', ({ comment }) => comment.transactionHash, hash),
  column.text('uid', 'Comment id', 'id of the comment, for comment copy', ({ comment }) => comment.uid),
  column.text('itemId', 'Item', 'id of the item', extra),
];

/** Comments on a token, one a line, with the trade each is about. */
export const comments: View<TokenCommentsAnswer, Item> = {
  layout: 'table',
  rows: (items) => items,
  columns,
  empty: 'Nobody has commented on this token.',
};
