import type { Card, Comment, TradeItem } from '../model/position.ts';
import type { Figure } from './format.ts';
import { addressCell, formatAmount, formatCount, formatTime, formatUsd, nameOrAddress, pnl } from './format.ts';
import type { Block, Column } from './view.ts';

/** The trader and the token of a position card, `long x5` on perps. Shared by every list of cards. */
export const cardColumns: readonly Column<Card>[] = [
  {
    key: 'trader',
    header: 'Trader',
    help: 'name of the holder, or their wallet',
    value: ({ actor }) => actor.name ?? actor.address,
    show: ({ actor }) => nameOrAddress(actor),
    cut: 'end',
    keep: 12,
  },
  {
    key: 'token',
    header: 'Token',
    help: 'token symbol; several tokens may share one',
    value: ({ metadata }) => metadata.tokenSymbol ?? metadata.tokenAddress,
    show: ({ metadata }) => metadata.tokenSymbol ?? addressCell(metadata.tokenAddress),
    cut: 'end',
  },
  { key: 'chain', header: 'Chain', help: 'chain of the token', value: ({ metadata }) => metadata.tokenChain, drop: 4 },
  {
    key: 'side',
    header: 'Side',
    help: 'long or short on perps, in tables with the leverage; spot otherwise',
    value: ({ metadata }) => metadata.perpPositionType ?? 'spot',
    show: ({ metadata }) => sideOf(metadata.perpPositionType, metadata.perpLeverage),
    drop: 2,
  },
  {
    key: 'realizedUsd',
    header: 'Realized',
    help: 'realized PnL of the position, all time, in USD',
    value: ({ metadata }) => metadata.positionStats.realizedGainsUSD,
    show: ({ metadata }) => pnl(metadata.positionStats.realizedGainsUSD),
    align: 'right',
  },
  {
    key: 'amount',
    header: 'Holding',
    help: 'tokens held; on perps the margin part, negative on shorts',
    value: ({ metadata }) => metadata.positionAmount,
    show: ({ metadata }) => formatAmount(metadata.positionAmount, { compact: true }),
    align: 'right',
    drop: 3,
  },
  {
    key: 'costUsd',
    header: 'Cost',
    help: 'cost basis of what is held, in USD; on perps the margin posted',
    value: ({ metadata }) => metadata.positionStats.holdingsCostBasisUSD,
    show: ({ metadata }) => formatUsd(metadata.positionStats.holdingsCostBasisUSD),
    align: 'right',
    drop: 3,
  },
  {
    key: 'boughtUsd',
    header: 'Bought',
    help: 'bought in all, in USD; on perps divided by leverage',
    value: ({ metadata }) => metadata.positionStats.boughtUSD,
    show: ({ metadata }) => formatUsd(metadata.positionStats.boughtUSD, { compact: true }),
    align: 'right',
    drop: 7,
  },
  {
    key: 'soldUsd',
    header: 'Sold',
    help: 'sold in all, in USD; on perps divided by leverage',
    value: ({ metadata }) => metadata.positionStats.soldUSD,
    show: ({ metadata }) => formatUsd(metadata.positionStats.soldUSD, { compact: true }),
    align: 'right',
    drop: 7,
  },
  {
    key: 'comments',
    header: 'Comments',
    help: 'comments on its trades',
    value: ({ metrics }) => metrics.commentCount,
    show: ({ metrics }) => formatCount(metrics.commentCount),
    align: 'right',
    drop: 6,
  },
  {
    key: 'lastTradeAt',
    header: 'Last trade',
    help: 'time of the latest trade, UTC; Unix seconds for machines',
    value: lastTradeAt,
    show: (card) => formatTime(lastTradeAt(card)),
    drop: 5,
  },
  {
    key: 'status',
    header: 'Status',
    help: 'open while what is left is worth 1 USD or more, else closed',
    value: ({ metadata }) => statusOf(metadata.positionStats.isOpen),
    extra: true,
  },
  {
    key: 'leverage',
    header: 'Leverage',
    help: 'leverage of the position now; perps only',
    value: ({ metadata }) => metadata.perpLeverage,
    show: ({ metadata }) => formatAmount(metadata.perpLeverage),
    extra: true,
  },
  {
    key: 'amountWithLeverage',
    header: 'Exposure',
    help: 'tokens times leverage, negative on shorts; perps only',
    value: ({ metadata }) => metadata.positionAmountWithLeverage,
    show: ({ metadata }) => formatAmount(metadata.positionAmountWithLeverage),
    extra: true,
  },
  {
    key: 'copies',
    header: 'Copies',
    help: 'copy-trades of its comments',
    value: ({ metrics }) => metrics.copyCount,
    show: ({ metrics }) => copiesOf(metrics),
    extra: true,
  },
  { key: 'likes', header: 'Likes', help: 'likes', value: ({ metrics }) => metrics.likeCount, extra: true },
  { key: 'replies', header: 'Replies', help: 'replies', value: ({ metrics }) => metrics.replyCount, extra: true },
  {
    key: 'buyers24h',
    header: 'Buyers 24h',
    help: 'distinct addresses that bought the token in the last 24 hours',
    value: (card) => card.totalCompletions,
    extra: true,
  },
  {
    key: 'unavailable',
    header: 'Partly unknown',
    help: 'whether the service lacks part of the history behind the figures',
    value: ({ metadata }) => metadata.positionStats.unavailable,
    extra: true,
  },
  {
    key: 'address',
    header: 'Address',
    help: 'wallet of the holder',
    value: ({ actor }) => actor.address,
    extra: true,
    cut: 'middle',
  },
  {
    key: 'tokenAddress',
    header: 'Token address',
    help: 'contract address or mint; on hyperliquid the coin',
    value: ({ metadata }) => metadata.tokenAddress,
    extra: true,
    cut: 'middle',
  },
  {
    key: 'transactionHash',
    header: 'Transaction',
    help: 'the latest trade; absent in token positions',
    value: (card) => card.transactionHash,
    extra: true,
    cut: 'middle',
  },
  { key: 'itemId', header: 'Position', help: 'id, for position get', value: (card) => card.itemId, drop: 1 },
];

/** What a card's trades say, as blocks below it: the trades as the service orders them, then each comment with its replies. */
export function cardBlocks({ metadata }: Card): Block[] {
  const trades: Block = { title: 'Trades', layout: 'table', columns: tradeColumns, rows: metadata.trades };
  return [trades, ...metadata.trades.flatMap(commentBlocks)];
}

function commentBlocks(trade: TradeItem): Block[] {
  return (trade.comments ?? []).flatMap((comment) => [
    {
      title: `Comment on the ${trade.direction} of ${formatTime(trade.timestamp)}`,
      layout: 'record',
      columns: commentColumns,
      rows: [comment],
    },
    { title: 'Replies', layout: 'record', columns: replyColumns, rows: comment.replies ?? [] },
  ]);
}

/** One trade a line: when, what, for how much. Amounts in tokens and USD; on perps with leverage. */
const tradeColumns: readonly Column<TradeItem>[] = [
  {
    key: 'at',
    header: 'Time',
    help: 'time of the trade, UTC; Unix seconds for machines',
    value: (trade) => trade.timestamp,
    show: (trade) => formatTime(trade.timestamp),
  },
  {
    key: 'direction',
    header: 'Trade',
    help: 'buy or sell',
    value: (trade) => trade.direction,
  },
  {
    key: 'intent',
    header: 'Intent',
    help: 'enter adds to the position, exit takes from it',
    value: (trade) => trade.intent,
    drop: 2,
  },
  {
    key: 'side',
    header: 'Side',
    help: 'long or short with leverage on perps; spot otherwise',
    value: (trade) => trade.perpPositionType ?? trade.classification,
    show: (trade) => sideOf(trade.perpPositionType, trade.perpLeverage),
    drop: 3,
  },
  {
    key: 'amount',
    header: 'Amount',
    help: 'tokens',
    value: (trade) => trade.tokenAmount,
    show: (trade) => formatAmount(trade.tokenAmount),
    align: 'right',
  },
  {
    key: 'usd',
    header: 'Value',
    help: 'value in USD',
    value: (trade) => trade.usdCost,
    show: (trade) => formatUsd(trade.usdCost),
    align: 'right',
  },
  {
    key: 'priceUsd',
    header: 'Price',
    help: 'value divided by amount, in USD',
    value: priceOf,
    show: (trade) => formatUsd(priceOf(trade)),
    align: 'right',
    drop: 1,
  },
  {
    key: 'marketCapUsd',
    header: 'Market cap',
    help: 'market cap at the trade, in USD',
    value: (trade) => trade.marketCap,
    show: (trade) => formatUsd(trade.marketCap, { compact: true }),
    align: 'right',
    drop: 4,
  },
  {
    key: 'comments',
    header: 'Comments',
    help: 'comments on the trade',
    value: (trade) => trade.comments?.length ?? 0,
    drop: 5,
  },
  {
    key: 'transactionHash',
    header: 'Transaction',
    help: 'transaction hash, or an order id',
    value: (trade) => trade.transactionHash,
    cut: 'middle',
  },
];

const commentColumns: readonly Column<Comment>[] = [
  { key: 'text', header: 'Comment', help: 'text', value: (comment) => comment.commentText, cut: 'end' },
  { key: 'at', header: 'At', help: 'time', value: (comment) => formatTime(comment.timestamp) },
  { key: 'by', header: 'By', help: 'author', value: (comment) => comment.signerAddress },
  { key: 'likes', header: 'Likes', help: 'likes', value: ({ metrics }) => likesOf(metrics ?? {}) },
  { key: 'copies', header: 'Copies', help: 'copy-trades', value: ({ metrics }) => copiesOf(metrics ?? {}) },
  { key: 'uid', header: 'Id', help: 'comment id', value: (comment) => comment.uid },
];

type Reply = NonNullable<Comment['replies']>[number];

const replyColumns: readonly Column<Reply>[] = [
  {
    key: 'author',
    header: 'By',
    help: 'author',
    value: ({ author }) => author.name ?? author.address,
    show: ({ author }) => nameOrAddress(author),
  },
  { key: 'text', header: 'Reply', help: 'text', value: (reply) => reply.text, cut: 'end' },
  {
    key: 'at',
    header: 'At',
    help: 'time',
    value: (reply) => formatTime(reply.timestamp),
  },
  { key: 'likes', header: 'Likes', help: 'likes', value: likesOf },
];

function copiesOf({ copyCount, copyVolume }: { copyCount?: Figure; copyVolume?: string | null | undefined }): string {
  return `${formatCount(copyCount)} (${formatUsd(numberOf(copyVolume))})`;
}

function likesOf(of: { likeCount?: Figure; isLikedByUser?: boolean | undefined }): string {
  return `${formatCount(of.likeCount)}${of.isLikedByUser ? ', the viewer among them' : ''}`;
}

function sideOf(type: string | null | undefined, leverage: Figure): string {
  if (type === null || type === undefined) return 'spot';
  return leverage === null || leverage === undefined ? type : `${type} ×${formatAmount(leverage)}`;
}

function statusOf(isOpen: boolean | undefined): string | null {
  return isOpen === undefined ? null : isOpen ? 'open' : 'closed';
}

function lastTradeAt(card: Card): number {
  return card.cardLatestTradeAt ?? card.timestamp;
}

function priceOf(trade: TradeItem): number | null {
  return trade.tokenAmount === 0 ? null : trade.usdCost / trade.tokenAmount;
}

function numberOf(text: string | null | undefined): number | null {
  return text === null || text === undefined || text === '' ? null : Number(text);
}
