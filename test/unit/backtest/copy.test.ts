import { expect, test } from 'vitest';
import { copyPositions } from '../../../src/backtest/copy.ts';

type Position = Parameters<typeof copyPositions>[0][number];
type Trade = Position['metadata']['trades'][number];

const stats = { boughtUSD: 0, soldUSD: 0, realizedGainsUSD: 0, holdingsCostBasisUSD: 0, isOpen: false };
const swap = (direction: string, timestamp: number, tokenAmount: number, usdCost: number): Trade => ({
  ...{ direction, timestamp, tokenAmount, usdCost },
});

/** Its trades are typed oldest first; the service shows the newest first. */
function position(
  trades: Trade[],
  positionStats: Partial<typeof stats & { receivedCostBasisUSD: number }> = {},
  metadata: Partial<Position['metadata']> = {},
): Position {
  const token = { tokenChain: 'base', tokenSymbol: 'CAT', tokenAddress: `0x${'C4'.repeat(20)}`, positionAmount: 0 };
  return {
    itemId: 'card',
    metadata: { ...token, ...metadata, positionStats: { ...stats, ...positionStats }, trades: trades.toReversed() },
  };
}

const terms = { usd: 100, delaySec: 0, feeShare: 0, sinceSec: 0 };

test('half sold at 3 and half at 4 of what was bought at 2, with a fee of 1% on each trade', () => {
  const trades = [swap('buy', 1000, 10, 20), swap('sell', 5000, 5, 15), swap('sell', 9000, 5, 20)];
  const bought = position(trades, { boughtUSD: 20, soldUSD: 35, realizedGainsUSD: 15 });
  const [copy] = copyPositions([bought], [], { ...terms, feeShare: 0.01 });
  // 99 USD buy 49.5: 24.75 of them bring 74.25 less 0.7425, the others 99 less 0.99.
  expect(copy).toMatchObject({
    ...{ token: 'CAT', chain: 'base', side: 'spot', entries: 1, exits: 2, investedUsd: 100 },
    ...{ heldUsd: 0, heldPriceAtSec: null, laterPrices: 0, isPartial: false },
    ...{ ownCostUsd: 20, ownPnlUsd: 15, ownPnlPercent: 75 },
  });
  expect(copy?.returnedUsd).toBeCloseTo(171.5175, 9);
  expect(copy?.pnlUsd).toBeCloseTo(71.5175, 9);
  expect(copy?.pnlPercent).toBeCloseTo(71.5175, 9);
  expect(copy?.trades[1]).toMatchObject({ action: 'exit', atSec: 5000, priceUsd: 3, priceOf: 'own' });
  expect(copy?.trades[1]?.gainUsd).toBeCloseTo(23.5075, 9);
});

test('the price is that of the trade nearest in time to the copy, and what is held has the last price', () => {
  const others = [
    { tokenChain: 'base', tokenAddress: `0x${'c4'.repeat(20)}`, trade: swap('buy', 1100, 2, 5) },
    { tokenChain: 'base', tokenAddress: `0x${'c4'.repeat(20)}`, trade: swap('sell', 2000, 1, 3) },
    { tokenChain: 'solana', tokenAddress: `0x${'c4'.repeat(20)}`, trade: swap('sell', 1060, 1, 900) },
  ];
  const open = position(
    [swap('buy', 1000, 10, 20)],
    { boughtUSD: 20, holdingsCostBasisUSD: 20, isOpen: true },
    { positionAmount: 10 },
  );
  const late = (delaySec: number) => copyPositions([open], others, { ...terms, delaySec })[0];
  // 60 seconds late the trade of 1100 is 40 away and the own one 60: 100 USD buy 40 at 2.5, worth 3 each.
  expect(late(60)).toMatchObject({
    ...{ laterPrices: 1, heldUsd: 120, heldPriceAtSec: 2000, pnlUsd: 20, pnlPercent: 20 },
    ...{ ownPnlUsd: 10, ownPnlPercent: 50 },
    trades: [{ atSec: 1060, priceUsd: 2.5, priceAtSec: 1100, priceOf: 'later', usd: 100, gainUsd: null }],
  });
  // 40 seconds late the own one is 40 away and the other 60: 50 at 2.
  expect(late(40)).toMatchObject({ laterPrices: 0, heldUsd: 150, trades: [{ priceUsd: 2, priceOf: 'own' }] });
});

test('a short is entered by a sell and gains what the price falls, without leverage', () => {
  const trades = [swap('sell', 1000, 10, 1000), swap('buy', 2000, 10, 800)];
  const figures = { boughtUSD: 160, soldUSD: 200, realizedGainsUSD: 200 };
  const short = position(trades, figures, {
    tokenChain: 'hyperliquid',
    tokenAddress: 'ETH',
    perpPositionType: 'short',
  });
  expect(copyPositions([short], [], terms)).toMatchObject([
    { side: 'short', entries: 1, exits: 1, investedUsd: 100, returnedUsd: 120, pnlUsd: 20, ownPnlPercent: 20 },
  ]);
});

test('entries before the time are not copied, and exits sell the share that the trader sold', () => {
  const trades = [swap('buy', 1000, 10, 10), swap('buy', 5000, 10, 20), swap('sell', 6000, 5, 20)];
  const card = position(trades, { boughtUSD: 30, soldUSD: 20 });
  // 50 tokens at 2; a quarter brings 50, the rest is worth 150.
  expect(copyPositions([card], [], { ...terms, sinceSec: 2000 })).toMatchObject([
    { entries: 1, exits: 1, investedUsd: 100, returnedUsd: 50, heldUsd: 150, pnlUsd: 100 },
  ]);
  expect(copyPositions([card], [], { ...terms, sinceSec: 5001 })).toEqual([]);
});

test('what was received cannot be copied, and missing trades are said', () => {
  expect(copyPositions([position([swap('sell', 1000, 10, 20)], { receivedCostBasisUSD: 20 })], [], terms)).toEqual([]);
  const received = position([swap('buy', 1000, 10, 20)], { boughtUSD: 20, receivedCostBasisUSD: 5 });
  const untold = position([swap('buy', 1000, 10, 20)], { boughtUSD: 21 });
  expect(copyPositions([received, untold], [], terms)).toMatchObject([{ isPartial: true }, { isPartial: true }]);
});
