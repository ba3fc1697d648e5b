import type { Card } from '../../model/position.ts';
import { totalUsd, unrealizedUsd, unrealizedWithReceivedUsd } from '../../model/unrealized.ts';
import { formatUsd, pnl } from '../../output/format.ts';
import { cardBlocks, cardColumns } from '../../output/trade-cards.ts';
import type { Column, Shown, View } from '../../output/view.ts';
import { positionsChart, tradesChart } from './chart.ts';
import type { CardAnswer, CardsAnswer } from './endpoints.ts';
import type { PriceOf } from './prices.ts';

/** What a price of the user's adds to a card; without one the columns are there to be named, and empty. */
function priceColumns(priceOf: PriceOf | undefined): Column<Card>[] {
  const priceUsd = ({ metadata }: Card) => priceOf?.(metadata) ?? null;
  const unrealized = (card: Card) => unrealizedUsd(card.metadata, priceUsd(card));
  const total = (card: Card) => totalUsd(card.metadata, priceUsd(card));
  const withReceived = (card: Card) => unrealizedWithReceivedUsd(card.metadata, priceUsd(card));
  const extra = priceOf === undefined ? { extra: true } : {};
  const gain = (value: number | null, card: Card): Shown =>
    priceUsd(card) === null ? { text: 'no price', tone: 'muted' } : pnl(value);
  return [
    {
      key: 'priceUsd',
      header: 'Price',
      help: 'the price given with --price or --prices-file, in USD; empty: none was given',
      value: priceUsd,
      show: (card) => formatUsd(priceUsd(card)),
      align: 'right',
      drop: 5,
      ...extra,
    },
    {
      key: 'unrealizedUsd',
      header: 'Unrealized',
      help: 'gain on what is held at that price, in USD: what it is worth less its cost basis; on perps with leverage, on shorts the other way round',
      value: unrealized,
      show: (card) => gain(unrealized(card), card),
      align: 'right',
      ...extra,
    },
    {
      key: 'totalUsd',
      header: 'Total PnL',
      help: 'realized plus unrealized PnL, in USD',
      value: total,
      show: (card) => gain(total(card), card),
      align: 'right',
      ...extra,
    },
    {
      key: 'unrealizedWithReceivedUsd',
      header: 'With received',
      help: 'the same less the cost basis of received tokens (the other formula in use), in USD; empty where both agree',
      value: withReceived,
      show: (card) => pnl(withReceived(card)),
      align: 'right',
      drop: 7,
      ...extra,
    },
  ];
}

function columnsWith(priceOf: PriceOf | undefined): Column<Card>[] {
  const after = cardColumns.findIndex((column) => column.key === 'costUsd') + 1;
  return [...cardColumns.slice(0, after), ...priceColumns(priceOf), ...cardColumns.slice(after)];
}

/** Two figures where the formulas in use disagree: said once, since a narrow table shows only the first. */
function receivedNote(shown: readonly Card[], priceOf: PriceOf | undefined): string[] {
  const several = shown.filter(({ metadata }) => {
    const price = priceOf?.(metadata) ?? null;
    return unrealizedWithReceivedUsd(metadata, price) !== null;
  });
  if (several.length === 0) return [];
  return [
    `${several.length} of these hold received tokens, where two formulas are in use: unrealizedUsd leaves their cost basis out, unrealizedWithReceivedUsd takes it off (--columns).`,
  ];
}

/** Position cards of one token, one a line; with prices also what is not realized yet. */
export function ofToken(priceOf?: PriceOf): View<CardsAnswer, Card> {
  return {
    layout: 'table',
    rows: (shown) => shown,
    columns: columnsWith(priceOf),
    empty: 'There are no such positions in this token.',
    notes: (shown) => receivedNote(shown, priceOf),
  };
}

/** Position cards of one trader, one a line; with prices also what is not realized yet. */
export function ofProfile(priceOf?: PriceOf): View<CardsAnswer, Card, { chains?: unknown }> {
  return {
    ...ofToken(priceOf),
    empty: 'There are no such positions. Perps are shown with --chains hyperliquid or all.',
    chart: positionsChart,
  };
}

/** One position: every figure, then its trades with their comments and replies. */
export function one(priceOf?: PriceOf): View<CardAnswer, Card> {
  return {
    layout: 'record',
    rows: (card) => [card],
    columns: columnsWith(priceOf).map((column) =>
      shownAlways.includes(column.key) ? { ...column, extra: false } : column,
    ),
    notes: (card) => receivedNote([card], priceOf),
    blocks: cardBlocks,
    chart: tradesChart,
  };
}

/** Named only for lists: a single position has room for them. */
const shownAlways = ['status', 'amountWithLeverage', 'copies', 'buyers24h', 'address', 'tokenAddress', 'itemId'];
