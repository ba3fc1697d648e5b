import type { FeedAnswer } from '../../api/feed-answers.ts';
import type { Card } from '../../api/position-answers.ts';
import { column } from '../../lib/output/columns.ts';
import { formatUsd } from '../../lib/output/format.ts';
import { cardColumns } from '../../lib/output/trade-cards.ts';
import type { Column, View } from '../../lib/output/view.ts';

const latestHelp = 'the latest trade: buy or sell; tables add its value and whether the service recommends the card';
const forYouHelp = 'why the service recommends the card, with a score; needs --include-for-you';

const latestColumns: readonly Column<Card>[] = [
  column.text('latest', 'Latest', latestHelp, (card) => findLatest(card)?.direction, { show: sayTrade }),
  column.usd('latestUsd', 'Latest USD', 'value of the latest trade, in USD', (card) => findLatest(card)?.usdCost, {
    extra: true,
  }),
  column.text('forYou', 'For you', forYouHelp, ({ forYouTrade }) => forYouTrade && formatTags(forYouTrade.alphaTags), {
    extra: true,
  }),
];

const firstColumns = ['lastTradeAt', 'trader', 'token'];
const first = firstColumns.flatMap((key) => cardColumns.filter((column) => column.key === key));
const others = cardColumns.filter((column) => !firstColumns.includes(column.key));

export const cards: View<FeedAnswer, Card> = {
  layout: 'table',
  rows: (answer) => answer.items,
  columns: [...first.map(({ drop: _, ...column }) => column), ...latestColumns, ...others],
  empty: 'No cards in this feed.',
};

function findLatest({ metadata }: Card): Card['metadata']['trades'][number] | undefined {
  return metadata.trades[0];
}

function sayTrade(card: Card): string {
  const trade = findLatest(card);
  const forYou = card.forYouTrade === undefined ? '' : ', for you';
  return trade === undefined ? '–' : `${trade.direction} ${formatUsd(trade.usdCost)}${forYou}`;
}

function formatTags(tags: Readonly<Record<string, number>> | undefined): string {
  return Object.entries(tags ?? {})
    .map(([tag, score]) => `${tag} ${score.toFixed(1)}`)
    .join(', ');
}
