import type { Card } from '../../model/position.ts';
import { shortAddress } from '../../output/format.ts';
import type { ChartModel } from '../../output/view.ts';

/** Realized PnL of each position, in the order given. */
export function positionsChart(cards: readonly Card[]): ChartModel {
  return {
    kind: 'bars',
    title: 'Realized PnL by position, all time',
    series: ['realized'],
    bars: cards.map(({ metadata }) => ({
      label: `${symbolOf(metadata)} ${metadata.perpPositionType ?? metadata.tokenChain}`,
      totalUsd: metadata.positionStats.realizedGainsUSD,
      partsUsd: [metadata.positionStats.realizedGainsUSD],
    })),
  };
}

/** Buys and sells of one position over time, in USD. */
export function tradesChart([card]: readonly Card[]): ChartModel {
  return {
    kind: 'time',
    title:
      card === undefined ? '' : `Buys and sells of ${symbolOf(card.metadata)} on ${card.metadata.tokenChain} over time`,
    up: 'buys',
    down: 'sells',
    moments: (card?.metadata.trades ?? []).map(({ timestamp, usdCost, direction }) => ({
      atSec: timestamp,
      usd: usdCost,
      side: direction === 'sell' ? 'down' : 'up',
    })),
  };
}

function symbolOf({ tokenSymbol, tokenAddress }: Card['metadata']): string {
  return tokenSymbol ?? shortAddress(tokenAddress);
}
