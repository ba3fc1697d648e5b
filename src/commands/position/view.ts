import { totalUsd, unrealizedUsd, unrealizedWithReceivedUsd } from '../../api/holding.ts';
import type { Card } from '../../api/position-answers.ts';
import { column, listView, recordView } from '../../lib/output/columns.ts';
import { pnl, shortAddress } from '../../lib/output/format.ts';
import { cardBlocks, cardColumns } from '../../lib/output/trade-cards.ts';
import type { BarChart, Column, View } from '../../lib/output/view.ts';

/** A token as prices name it. */
export interface Priced {
  tokenChain: string;
  tokenAddress: string;
  tokenSymbol?: string | null | undefined;
}

/** Prices of tokens in USD, `null` if none is given, and notes about them for after the positions. */
export interface Prices {
  find: (token: Priced) => number | null;
  notes: () => readonly string[];
}

/** The columns that prices add; without prices they are empty, and shown only when named. */
function priceColumns(prices: Prices | undefined): Column<Card>[] {
  const priceUsd = ({ metadata }: Card) => prices?.find(metadata) ?? null;
  const unrealized = (card: Card) => unrealizedUsd(card.metadata, priceUsd(card));
  const total = (card: Card) => totalUsd(card.metadata, priceUsd(card));
  const withReceived = (card: Card) => unrealizedWithReceivedUsd(card.metadata, priceUsd(card));
  const extra = prices === undefined ? { extra: true } : {};
  const showGain = (readGain: (card: Card) => number | null) => (card: Card) => {
    const gain = readGain(card);
    return gain === null && priceUsd(card) === null ? ({ text: 'no price', tone: 'muted' } as const) : pnl(gain);
  };
  return [
    column.usd('priceUsd', 'Price', 'price given with --price or --prices-file, in USD', priceUsd, {
      drop: 5,
      ...extra,
    }),
    column.pnl('unrealizedUsd', 'Unrealized', unrealizedHelp, unrealized, { show: showGain(unrealized), ...extra }),
    column.pnl('totalUsd', 'Total PnL', 'realized plus unrealized PnL, in USD', total, {
      show: showGain(total),
      ...extra,
    }),
    column.pnl('unrealizedWithReceivedUsd', 'With received', receivedHelp, withReceived, { drop: 7, ...extra }),
  ];
}

const unrealizedHelp =
  'unrealized PnL at that price, in USD: value less cost basis; with leverage on perps, reversed for shorts';
const receivedHelp = 'unrealized PnL less the cost basis of received tokens, in USD; empty if they are the same';

function columnsWith(prices: Prices | undefined): Column<Card>[] {
  const after = cardColumns.findIndex((column) => column.key === 'costUsd') + 1;
  return [...cardColumns.slice(0, after), ...priceColumns(prices), ...cardColumns.slice(after)];
}

/** Two formulas are in use; a narrow table shows only the first. */
function receivedNote(shown: readonly Card[], prices: Prices | undefined): string[] {
  const several = shown.filter(({ metadata }) => {
    const price = prices?.find(metadata) ?? null;
    return unrealizedWithReceivedUsd(metadata, price) !== null;
  });
  if (several.length === 0) return [];
  return [
    `${several.length} of these ${several.length === 1 ? 'holds' : 'hold'} received tokens: unrealizedUsd ignores their cost basis, unrealizedWithReceivedUsd subtracts it (--columns).`,
  ];
}

function listCards(prices: Prices | undefined, more: Pick<View<readonly Card[], Card>, 'empty' | 'chart'>) {
  return listView<Card>(columnsWith(prices), {
    notes: (shown) => receivedNote(shown, prices),
    after: () => prices?.notes() ?? [],
    ...more,
  });
}

export function ofToken(prices?: Prices) {
  return listCards(prices, {
    empty: 'No such positions in this token.',
  });
}

export function ofProfile(prices?: Prices) {
  return listCards(prices, {
    empty: 'No such positions. Perps need --chains hyperliquid or all.',
    chart: positionsChart,
  });
}

export function one(prices?: Prices) {
  const columns = columnsWith(prices).map((each) =>
    shownAlways.includes(each.key) ? { ...each, extra: false } : each,
  );
  const notes = (card: Card) => receivedNote([card], prices);
  return recordView<Card>(columns, { notes, blocks: cardBlocks });
}

/** Extra in lists; a single position has room for them. */
const shownAlways = ['status', 'amountWithLeverage', 'copies', 'buyers24h', 'address', 'tokenAddress', 'itemId'];

function positionsChart(cards: readonly Card[]): BarChart {
  return {
    title: 'Realized PnL by position, all time',
    bars: cards.map(({ metadata }) => ({
      label: `${nameToken(metadata)} ${metadata.perpPositionType ?? metadata.tokenChain}`,
      usd: metadata.positionStats.realizedGainsUSD,
    })),
  };
}

function nameToken({ tokenSymbol, tokenAddress }: Card['metadata']): string {
  return tokenSymbol ?? shortAddress(tokenAddress);
}
