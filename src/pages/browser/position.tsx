import { readHeld } from '../../model/holding.ts';
import type { Card, TradeItem } from '../../model/position.ts';
import { chooseTone, counted, formatAmount, formatTime, formatUsd } from '../../output/format.ts';
import { useCall } from './ask.ts';
import { Chart, type ChartPoint } from './chart.tsx';
import { useMemo } from './preact.ts';
import { Moment, OpenList, Section, TokenLink, TraderLink, Usd } from './service-parts.tsx';
import { type Fact, Facts, Row, seen, Text } from './text.tsx';

/** A position: figures, its trades on a chart and as a list, and what was said. */
export function Position({ id, version }: { id: string; version: number }) {
  const { data: card, error, commands } = useCall<Card>('position get', { id }, version);
  if (card === undefined)
    return (
      <Section title="Position" error={error}>
        {error === '' && <p class="empty">Loading …</p>}
      </Section>
    );
  const { tokenChain, tokenAddress, tokenSymbol, trades } = card.metadata;
  const comments = trades.flatMap((trade) => trade.comments ?? []);
  return (
    <>
      <Section title="Position" error={error} commands={commands}>
        <p>
          <TraderLink id={card.actor.address} name={card.actor.name ?? ''} /> in{' '}
          <TokenLink chain={tokenChain} address={tokenAddress} symbol={tokenSymbol ?? ''} />
        </p>
        <Figures card={card} />
      </Section>
      {trades.length > 0 && (
        <Section title="Trades">
          <Prices trades={trades} />
          <OpenList
            label="Trades"
            items={trades.map((trade, index) => ({ trade, key: String(index) }))}
            keyOf={({ key }) => key}
            empty="None."
            render={({ trade }) => renderTrade(trade)}
          />
        </Section>
      )}
      <Section title="Comments">
        {comments.length === 0 && <p class="muted">None.</p>}
        {comments.map((comment) => (
          <blockquote key={comment.uid}>
            <p>
              <Text text={comment.commentText} />
            </p>
            <footer class="muted">
              <TraderLink id={comment.signerAddress} name="" />, <Moment atSec={comment.timestamp} />
            </footer>
            {comment.replies?.map((reply) => (
              <blockquote key={reply.id}>
                <p>
                  <Text text={reply.text} />
                </p>
                <footer class="muted">
                  <TraderLink id={reply.author.address} name={reply.author.name ?? ''} />,{' '}
                  <Moment atSec={reply.timestamp} />
                </footer>
              </blockquote>
            ))}
          </blockquote>
        ))}
      </Section>
    </>
  );
}

function Figures({ card }: { card: Card }) {
  const { positionStats: stats, perpPositionType, perpLeverage } = card.metadata;
  const figures: readonly Fact[] = [
    ['State', stats.isOpen === undefined ? '–' : stats.isOpen ? 'open' : 'closed'],
    ['Realized PnL', formatUsd(stats.realizedGainsUSD, { signed: true }), chooseTone(stats.realizedGainsUSD)],
    ['Amount held', formatAmount(readHeld(card.metadata).amount)],
    ['Cost of what is held', formatUsd(stats.holdingsCostBasisUSD)],
    ['Bought', formatUsd(stats.boughtUSD)],
    ['Sold', formatUsd(stats.soldUSD)],
    ...(typeof perpPositionType === 'string' ? [['Perp', `${perpPositionType}, ${perpLeverage ?? 1}x`] as const] : []),
  ];
  return <Facts kind="counters" facts={figures} />;
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

function renderTrade({ direction, tokenAmount, usdCost, timestamp, transactionHash }: TradeItem) {
  return (
    <Row
      title={direction}
      tone={direction === 'sell' ? 'loss' : 'gain'}
      after={
        <>
          <span>{formatAmount(tokenAmount)}</span>
          <span class="last">
            <Usd value={usdCost} />
          </span>
        </>
      }
      about={
        <>
          <Moment atSec={timestamp} /> <Text text={transactionHash ?? ''} />
        </>
      }
    />
  );
}
