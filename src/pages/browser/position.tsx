import type { Card, TradeItem } from '../../model/position.ts';
import { counted, formatAmount, formatTime, formatUsd, shortAddress } from '../../output/format.ts';
import { useCall } from './ask.ts';
import { Record } from './cells.tsx';
import { Chart, type ChartPoint } from './chart.tsx';
import { DataTable } from './data-table.tsx';
import { useMemo } from './preact.ts';
import { writeHref } from './route.ts';
import { Comments, Crumbs, nameCardToken, nameToken, Section, TraderLink } from './service-parts.tsx';
import { seen, Text } from './text.tsx';

/** A position: figures, its trades on a chart and as a table, and what was said. */
export function Position({ id }: { id: string }) {
  const { data: card, tables, error, commands } = useCall<Card>('position get', { id });
  const said = card?.metadata.trades.flatMap(({ comments = [], direction, timestamp }) =>
    comments.map((comment) => ({
      comment,
      by: { address: comment.signerAddress, name: comment.signerAddress === card.actor.address ? card.actor.name : '' },
      about: seen(`on the ${direction} of ${formatTime(timestamp)}`),
    })),
  );
  const trades = tables.find(({ title }) => title === 'Trades');
  if (card === undefined && error !== '') return <Crumbs here="Position" />;
  return (
    <>
      <Crumbs here={card === undefined ? 'Position' : nameCardToken(card)} above={card && [linkTrader(card)]} />
      <Section title="Position" commands={commands}>
        {card !== undefined && (
          <p>
            <TraderLink id={card.actor.address} name={card.actor.name ?? ''} /> in{' '}
            <Text
              as="a"
              href={writeHref('token', [card.metadata.tokenChain, card.metadata.tokenAddress])}
              text={nameToken(card)}
            />
          </p>
        )}
        <Record table={tables[0]} omit={['trader', 'token']} />
      </Section>
      <Section title="Trades">
        {card !== undefined && card.metadata.trades.length > 0 && <Prices trades={card.metadata.trades} />}
        <DataTable label="Trades" table={trades} chain={card?.metadata.tokenChain} error={error} empty="None." />
      </Section>
      <Section title="Comments">
        <Comments said={said} empty="None." error={error} />
      </Section>
    </>
  );
}

function linkTrader({ actor: { name, address } }: Card): readonly [text: string, href: string] {
  return [name || shortAddress(address), writeHref('trader', [address])];
}

function Prices({ trades }: { trades: readonly TradeItem[] }) {
  const points = useMemo(() => listPrices(trades), [trades]);
  const sells = points.filter(({ mark }) => mark === 'sell').length;
  const label = `Price in USD: ${counted(points.length - sells, 'buy')} ▲, ${counted(sells, 'sell')} ▼`;
  return <Chart label={label} points={points} shape="line" axis={(value) => formatUsd(value)} />;
}

/** The price of each trade, oldest first. */
function listPrices(trades: readonly TradeItem[]): ChartPoint[] {
  return trades
    .filter(({ tokenAmount }) => tokenAmount > 0)
    .map((trade) => ({
      x: trade.timestamp,
      y: trade.usdCost / trade.tokenAmount,
      mark: trade.direction === 'sell' ? ('sell' as const) : ('buy' as const),
      title: tradeTitle(trade),
    }))
    .toReversed();
}

function tradeTitle({ direction, tokenAmount, usdCost, timestamp }: TradeItem): string {
  return seen(`${direction} ${formatAmount(tokenAmount)} for ${formatUsd(usdCost)}, ${formatTime(timestamp)}`);
}
