import type { Card, Comment, TradeItem } from '../../api/answers.ts';
import { readHeld } from '../../api/holding.ts';
import { column } from './columns.ts';
import { addressCell, type Figure, formatAmount, formatCount, formatTime, formatUsd, nameOrAddress } from './format.ts';
import type { Block, Column } from './view.ts';

const amountHelp = 'tokens held; on perps the margin part, on shorts negative if the service sends a sign';
const costHelp = 'cost basis of the holding, in USD; on perps the posted margin';
const perpsHelp = 'in USD; on perps divided by leverage';
const statusHelp = 'open while the holding is worth 1 USD or more, else closed';
const exposureHelp = 'tokens times leverage, on shorts negative if the service sends a sign; perps only';
const unavailableHelp = 'whether the service lacks part of the history behind the figures';
const extra = { extra: true };
const readStats = ({ metadata }: Card) => metadata.positionStats;
const readHolding = ({ metadata }: Card) => readHeld(metadata);

export const cardColumns: readonly Column<Card>[] = [
  column.text('trader', 'Trader', 'name of the holder, or their wallet', ({ actor }) => actor.name ?? actor.address, {
    show: ({ actor }) => nameOrAddress(actor),
    cut: true,
  }),
  column.text(
    'token',
    'Token',
    'symbol; several tokens may share one',
    ({ metadata }) => metadata.tokenSymbol ?? metadata.tokenAddress,
    { show: ({ metadata }) => metadata.tokenSymbol ?? addressCell(metadata.tokenAddress), cut: true },
  ),
  column.text('chain', 'Chain', 'chain of the token', ({ metadata }) => metadata.tokenChain, { drop: 4 }),
  column.text(
    'side',
    'Side',
    'long or short on perps, else spot',
    ({ metadata }) => metadata.perpPositionType ?? 'spot',
    { show: ({ metadata }) => formatSide(metadata.perpPositionType, metadata.perpLeverage), drop: 3 },
  ),
  column.pnl('realizedUsd', 'Realized', 'realized PnL, all time, in USD', (card) => readStats(card).realizedGainsUSD),
  column.compactAmount('amount', 'Holding', amountHelp, (card) => readHolding(card).amount, { drop: 2 }),
  column.usd('costUsd', 'Cost', costHelp, (card) => readStats(card).holdingsCostBasisUSD, { drop: 1 }),
  column.compactUsd('boughtUsd', 'Bought', `total bought, ${perpsHelp}`, (card) => readStats(card).boughtUSD, {
    drop: 8,
  }),
  column.compactUsd('soldUsd', 'Sold', `total sold, ${perpsHelp}`, (card) => readStats(card).soldUSD, { drop: 8 }),
  column.count('comments', 'Comments', 'comments on its trades', ({ metrics }) => metrics.commentCount, { drop: 6 }),
  column.time(
    'lastTradeAt',
    'Last trade',
    'time of the latest trade',
    (card) => card.cardLatestTradeAt ?? card.timestamp,
    { drop: 5 },
  ),
  column.text('status', 'Status', statusHelp, (card) => formatStatus(readStats(card).isOpen), extra),
  column.amount('leverage', 'Leverage', 'leverage now; perps only', ({ metadata }) => metadata.perpLeverage, extra),
  column.amount('amountWithLeverage', 'Exposure', exposureHelp, (card) => readHolding(card).withLeverage, extra),
  column.text('copies', 'Copies', 'copy trades of its comments', ({ metrics }) => metrics.copyCount, {
    show: ({ metrics }) => formatCopies(metrics),
    extra: true,
  }),
  column.text('likes', 'Likes', 'likes', ({ metrics }) => metrics.likeCount, extra),
  column.text('replies', 'Replies', 'replies', ({ metrics }) => metrics.replyCount, extra),
  column.text('buyers24h', 'Buyers 24h', 'buyers of the token in 24 hours', (card) => card.totalCompletions, extra),
  column.text('unavailable', 'Partly unknown', unavailableHelp, (card) => readStats(card).unavailable, extra),
  column.address('address', 'Address', 'wallet of the holder', ({ actor }) => actor.address, extra),
  column.address(
    'tokenAddress',
    'Token address',
    'contract, mint or coin',
    ({ metadata }) => metadata.tokenAddress,
    extra,
  ),
  column.address('transactionHash', 'Transaction', 'the latest trade', extra),
  column.text('itemId', 'Position', 'id, for position get', { drop: 7 }),
];

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

const tradeColumns: readonly Column<TradeItem>[] = [
  column.time('at', 'Time', 'time of the trade', ({ timestamp }) => timestamp),
  column.text('direction', 'Trade', 'buy or sell'),
  column.text('intent', 'Intent', 'enter or exit', { drop: 2 }),
  column.text('side', 'Side', 'long or short', (trade) => trade.perpPositionType ?? trade.classification, {
    show: (trade) => formatSide(trade.perpPositionType, trade.perpLeverage),
    drop: 3,
  }),
  column.amount('amount', 'Amount', 'tokens', ({ tokenAmount }) => tokenAmount),
  column.usd('usd', 'Value', 'in USD', ({ usdCost }) => usdCost),
  column.usd('priceUsd', 'Price', 'value divided by amount', divideValue, { drop: 1 }),
  column.compactUsd('marketCapUsd', 'Market cap', 'at the trade', ({ marketCap }) => marketCap, { drop: 4 }),
  column.text('comments', 'Comments', 'comments on it', ({ comments }) => comments?.length ?? 0, { drop: 5 }),
  column.address('transactionHash', 'Transaction', 'hash or order id'),
];

const commentColumns: readonly Column<Comment>[] = [
  column.text('text', 'Comment', 'text', ({ commentText }) => commentText, { cut: true }),
  column.text('at', 'At', 'time', ({ timestamp }) => formatTime(timestamp)),
  column.text('by', 'By', 'author', ({ signerAddress }) => signerAddress),
  column.text('likes', 'Likes', 'likes', ({ metrics }) => formatLikes(metrics ?? {})),
  column.text('copies', 'Copies', 'copy trades', ({ metrics }) => formatCopies(metrics ?? {})),
  column.text('uid', 'Id', 'comment id'),
];

const replyColumns: readonly Column<NonNullable<Comment['replies']>[number]>[] = [
  column.text('author', 'By', 'author', ({ author }) => author.name ?? author.address, {
    show: ({ author }) => nameOrAddress(author),
  }),
  column.text('text', 'Reply', 'text', { cut: true }),
  column.text('at', 'At', 'time', ({ timestamp }) => formatTime(timestamp)),
  column.text('likes', 'Likes', 'likes', formatLikes),
];

function formatCopies({
  copyCount,
  copyVolume,
}: {
  copyCount?: Figure;
  copyVolume?: string | null | undefined;
}): string {
  return `${formatCount(copyCount)} (${formatUsd(copyVolume ? Number(copyVolume) : null)})`;
}

function formatLikes(of: { likeCount?: Figure; isLikedByUser?: boolean | undefined }): string {
  return `${formatCount(of.likeCount)}${of.isLikedByUser ? ', the viewer among them' : ''}`;
}

function formatSide(type: string | null | undefined, leverage: Figure): string {
  if (type === null || type === undefined) return 'spot';
  return leverage === null || leverage === undefined ? type : `${type} ×${formatAmount(leverage)}`;
}

function formatStatus(isOpen: boolean | undefined): string | null {
  return isOpen === undefined ? null : isOpen ? 'open' : 'closed';
}

function divideValue(trade: TradeItem): number | null {
  return trade.tokenAmount === 0 ? null : trade.usdCost / trade.tokenAmount;
}
