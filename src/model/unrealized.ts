/** Tokens and USD, as the service names them. */
export interface Holding {
  perpPositionType?: string | null | undefined;
  positionAmount?: number | null | undefined;
  positionAmountWithLeverage?: number | null | undefined;
  positionStats: {
    realizedGainsUSD: number;
    holdingsCostBasisUSD: number;
    holdingReceivedCostBasisUSD?: number | null | undefined;
    holdingsCostBasisUSDWithLeverage?: number | null | undefined;
  };
}

/**
 * Gain or loss if sold at a price, in USD; `null` without a price or the figures for it. A short gains what the price falls below its
 * cost basis; the sign of its amount is ignored. Source: "Unrealized PnL" under "Position card (feed item)".
 */
export function unrealizedUsd(holding: Holding, priceUsd: number | null | undefined): number | null {
  if (priceUsd === null || priceUsd === undefined) return null;
  if (!isPerp(holding)) return gainOf(holding.positionAmount, priceUsd, holding.positionStats.holdingsCostBasisUSD);
  const size = sizeOf(holding.positionAmountWithLeverage);
  const longGain = gainOf(size, priceUsd, sizeOf(holding.positionStats.holdingsCostBasisUSDWithLeverage));
  return longGain === null || !isShort(holding) ? longGain : 0 - longGain;
}

/**
 * The same by the public guide's formula for spot, which counts received tokens at their market value; `null` where both agree. Source:
 * wire-facts 5.1.
 */
export function unrealizedWithReceivedUsd(holding: Holding, priceUsd: number | null | undefined): number | null {
  const received = holding.positionStats.holdingReceivedCostBasisUSD ?? 0;
  if (isPerp(holding) || received === 0) return null;
  const own = unrealizedUsd(holding, priceUsd);
  return own === null ? null : own - received;
}

/** Realized plus unrealized gain in USD. Source: wire-facts 5.1. */
export function totalUsd(holding: Holding, priceUsd: number | null | undefined): number | null {
  const unrealized = unrealizedUsd(holding, priceUsd);
  return unrealized === null ? null : holding.positionStats.realizedGainsUSD + unrealized;
}

function isPerp({ perpPositionType, positionAmountWithLeverage }: Holding): boolean {
  return typeof perpPositionType === 'string' || typeof positionAmountWithLeverage === 'number';
}

function isShort({ perpPositionType, positionAmountWithLeverage }: Holding): boolean {
  return typeof perpPositionType === 'string' ? perpPositionType === 'short' : (positionAmountWithLeverage ?? 0) < 0;
}

function sizeOf(figure: number | null | undefined): number | null {
  return figure === null || figure === undefined ? null : Math.abs(figure);
}

function gainOf(amount: number | null | undefined, priceUsd: number, costUsd: number | null | undefined) {
  if (amount === null || amount === undefined || costUsd === null || costUsd === undefined) return null;
  return amount * priceUsd - costUsd;
}
