import { formatAmount, formatCount, formatTime, formatUsd, nameOrAddress, pnl } from '../../output/format.ts';
import type { Column, View } from '../../output/view.ts';
import type { TokenCommentsAnswer } from './endpoints.ts';

type Item = TokenCommentsAnswer[number];

const columns: readonly Column<Item>[] = [
  {
    key: 'at',
    header: 'Time',
    help: 'time of the comment, UTC; Unix seconds for machines',
    value: (item) => item.timestamp,
    show: (item) => formatTime(item.timestamp),
    drop: 3,
  },
  {
    key: 'author',
    header: 'Trader',
    help: 'who says it',
    value: ({ actor }) => actor.name ?? actor.address,
    show: ({ actor }) => nameOrAddress(actor),
    cut: 'end',
    keep: 12,
  },
  {
    key: 'direction',
    header: 'Trade',
    help: 'the trade it is about: buy or sell',
    value: ({ trade }) => trade.direction,
    drop: 1,
  },
  {
    key: 'usd',
    header: 'Value',
    help: 'value of the trade in USD; on perps with leverage',
    value: ({ trade }) => trade.usdCost,
    show: ({ trade }) => formatUsd(trade.usdCost, { compact: true }),
    align: 'right',
    drop: 2,
  },
  {
    key: 'text',
    header: 'Comment',
    help: 'the text',
    value: ({ comment }) => comment.commentText,
    cut: 'end',
    keep: 24,
  },
  {
    key: 'holding',
    header: 'Holding',
    help: 'tokens the trader holds now; on perps the margin part, negative on shorts',
    value: ({ positionDetails }) => positionDetails?.positionAmount,
    show: ({ positionDetails }) => formatAmount(positionDetails?.positionAmount, { compact: true }),
    align: 'right',
    extra: true,
  },
  {
    key: 'realizedUsd',
    header: 'PnL',
    help: 'realized PnL of the position, in USD',
    value: ({ positionDetails }) => positionDetails?.positionStats?.realizedGainsUSD,
    show: ({ positionDetails }) => pnl(positionDetails?.positionStats?.realizedGainsUSD),
    align: 'right',
    extra: true,
  },
  {
    key: 'likes',
    header: 'Likes',
    help: 'likes of the comment',
    value: ({ comment }) => comment.metrics?.likeCount,
    show: ({ comment }) => formatCount(comment.metrics?.likeCount),
    align: 'right',
    extra: true,
  },
  {
    key: 'copies',
    header: 'Copies',
    help: 'copy-trades of the comment',
    value: ({ comment }) => comment.metrics?.copyCount,
    show: ({ comment }) => formatCount(comment.metrics?.copyCount),
    align: 'right',
    extra: true,
  },
  {
    key: 'side',
    header: 'Side',
    help: 'long or short; perps only',
    value: ({ trade }) => trade.perpPositionType,
    extra: true,
  },
  {
    key: 'tokenCommentCount',
    header: 'On token',
    help: 'comments on the token in all',
    value: ({ token }) => token.commentCount,
    extra: true,
  },
  {
    key: 'address',
    header: 'Address',
    help: 'wallet of the author',
    value: ({ actor }) => actor.address,
    extra: true,
    cut: 'middle',
  },
  {
    key: 'transactionHash',
    header: 'Transaction',
    help: 'the trade',
    value: ({ comment }) => comment.transactionHash,
    extra: true,
    cut: 'middle',
  },
  {
    key: 'uid',
    header: 'Comment id',
    help: 'id of the comment, for comment copy',
    value: ({ comment }) => comment.uid,
  },
  { key: 'itemId', header: 'Item', help: 'id of the item', value: (item) => item.itemId, extra: true },
];

/** Comments on a token, one a line, with the trade each is about. */
export const comments: View<TokenCommentsAnswer, Item> = {
  layout: 'table',
  rows: (items) => items,
  columns,
  empty: 'Nobody has commented on this token.',
};
