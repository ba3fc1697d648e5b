import type { Card, TradeItem } from './answers.ts';

type Amounts = Pick<Card['metadata'], 'perpPositionType' | 'positionAmount' | 'positionAmountWithLeverage'>;

/** Tokens and USD, as the service names them. */
export type Holding = Amounts & {
  positionStats: Pick<
    Card['metadata']['positionStats'],
    | 'realizedGainsUSD'
    | 'holdingsCostBasisUSD'
    | 'holdingReceivedCostBasisUSD'
    | 'holdingsCostBasisUSDWithLeverage'
    | 'isOpen'
  >;
};

/**
 * Gain or loss if sold at a price, in USD; `null` without a price or the figures for it. Nothing for a position that the service calls closed:
 * perps keep an amount there. A short gains what the price falls below its cost basis; the side is `perpPositionType`'s, the sign of an amount
 * says nothing. Source: "Unrealized PnL" under "Position card (feed item)"; wire-facts N3, N7.
 */
export function unrealizedUsd(holding: Holding, priceUsd: number | null | undefined): number | null {
  if (holding.positionStats.isOpen === false) return 0;
  if (priceUsd === null || priceUsd === undefined) return null;
  if (!isPerp(holding))
    return computeGain(holding.positionAmount, priceUsd, holding.positionStats.holdingsCostBasisUSD);
  const size = readSize(holding.positionAmountWithLeverage);
  const longGain = computeGain(size, priceUsd, readSize(holding.positionStats.holdingsCostBasisUSDWithLeverage));
  return longGain === null || holding.perpPositionType !== 'short' ? longGain : 0 - longGain;
}

/**
 * The same by the public guide's formula for spot, which counts received tokens at their market value; `null` if both agree. Source:
 * wire-facts 5.1.
 */
export function unrealizedWithReceivedUsd(holding: Holding, priceUsd: number | null | undefined): number | null {
  const { holdingReceivedCostBasisUSD: received, isOpen } = holding.positionStats;
  if (isPerp(holding) || !received || isOpen === false) return null;
  const own = unrealizedUsd(holding, priceUsd);
  return own === null ? null : own - received;
}

/**
 * Tokens held now; on perps the margin part, and the amount with leverage. A closed perp holds none, though the service may still give its last
 * amount.
 * Source: wire-facts N3.
 */
export function readHeld(holding: Amounts & { positionStats?: { isOpen?: boolean | undefined } | undefined }): {
  amount: number | null;
  withLeverage: number | null;
} {
  if (isPerp(holding) && holding.positionStats?.isOpen === false) return { amount: 0, withLeverage: 0 };
  return { amount: holding.positionAmount ?? null, withLeverage: holding.positionAmountWithLeverage ?? null };
}

/** Realized plus unrealized gain in USD. Source: wire-facts 5.1. */
export function totalUsd(holding: Holding, priceUsd: number | null | undefined): number | null {
  const unrealized = unrealizedUsd(holding, priceUsd);
  return unrealized === null ? null : holding.positionStats.realizedGainsUSD + unrealized;
}

function isPerp({ perpPositionType, positionAmountWithLeverage }: Amounts): boolean {
  return typeof perpPositionType === 'string' || typeof positionAmountWithLeverage === 'number';
}

function readSize(figure: number | null | undefined): number | null {
  return figure === null || figure === undefined ? null : Math.abs(figure);
}

function computeGain(amount: number | null | undefined, priceUsd: number, costUsd: number | null | undefined) {
  if (amount === null || amount === undefined || costUsd === null || costUsd === undefined) return null;
  return amount * priceUsd - costUsd;
}

interface Point {
  atSec: number;
  value: number;
}

/** The realized PnL after each closing trade, oldest first; lots are sold in the order in which they were bought. */
export function realizedOverTime(cards: readonly Card[]): Point[] {
  const gains = cards.flatMap(({ metadata }) => listGains(metadata.trades)).sort((a, b) => a.atSec - b.atSec);
  let value = 0;
  return gains.map(({ atSec, gain }) => {
    value += gain;
    return { atSec, value };
  });
}

interface Gain {
  atSec: number;
  gain: number;
}

/** Of one position, whose trades come newest first. Tokens sold beyond those bought gain nothing. */
function listGains(trades: readonly TradeItem[]): Gain[] {
  const lots: { amount: number; usd: number }[] = [];
  const gains: Gain[] = [];
  for (const { tokenAmount, usdCost, timestamp, direction, perpPositionType } of trades.toReversed()) {
    const isShort = perpPositionType === 'short';
    if ((direction === 'sell') === isShort) {
      lots.push({ amount: tokenAmount, usd: usdCost });
      continue;
    }
    let [left, gain] = [tokenAmount, 0];
    for (let lot = lots[0]; lot !== undefined && left > 0; lot = lots[0]) {
      const part = Math.min(left, lot.amount);
      const cost = (lot.usd / lot.amount) * part;
      gain += (isShort ? -1 : 1) * ((usdCost / tokenAmount) * part - cost);
      left -= part;
      if (part === lot.amount) lots.shift();
      else lots[0] = { amount: lot.amount - part, usd: lot.usd - cost };
    }
    gains.push({ atSec: timestamp, gain });
  }
  return gains;
}
