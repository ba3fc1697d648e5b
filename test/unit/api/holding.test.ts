import { expect, test } from 'vitest';
import { type Holding, totalUsd, unrealizedUsd, unrealizedWithReceivedUsd } from '../../../src/api/holding.ts';
import { fc } from '../../support/draw.ts';

const spot = (positionAmount: number, holdingsCostBasisUSD: number, more: Partial<Holding['positionStats']> = {}) => ({
  positionAmount,
  positionStats: { realizedGainsUSD: 0, holdingsCostBasisUSD, ...more },
});

const perp = (
  perpPositionType: string | null,
  positionAmountWithLeverage: number,
  costWithLeverage: number,
): Holding => ({
  perpPositionType,
  positionAmount: positionAmountWithLeverage / 5,
  positionAmountWithLeverage,
  positionStats: {
    realizedGainsUSD: 40,
    holdingsCostBasisUSD: costWithLeverage / 5,
    holdingsCostBasisUSDWithLeverage: costWithLeverage,
  },
});

test.each([
  ['spot above its cost', spot(100, 200), 3, 100],
  ['spot below its cost', spot(100, 200), 1.5, -50],
  ['spot at its cost', spot(100, 200), 2, 0],
  ['spot at a price of zero', spot(100, 200), 0, -200],
  ['nothing held', spot(0, 0), 3, 0],
  ['a long that rose', perp('long', 2.5, 5000), 2200, 500],
  ['a long that fell', perp('long', 2.5, 5000), 1800, -500],
  ['a short that fell', perp('short', -2.5, 5000), 1800, 500],
  ['a short that rose', perp('short', -2.5, 5000), 2200, -500],
  ['a short whose amount came without a sign', perp('short', 2.5, 5000), 1800, 500],
  ['a short whose cost basis came with a sign', perp('short', -2.5, -5000), 1800, 500],
  ['a perp without a side is not a short, whatever the sign of its amount', perp(null, -2.5, 5000), 1800, -500],
])('unrealized PnL of %s', (_, holding, price, expected) => {
  expect(unrealizedUsd(holding, price)).toBeCloseTo(expected, 9);
});

test('without a price there is no figure, and never a zero', () => {
  for (const holding of [spot(100, 200), perp('long', 2.5, 5000), perp('short', -2.5, 5000)])
    for (const price of [null, undefined]) {
      expect(unrealizedUsd(holding, price)).toBe(null);
      expect(totalUsd(holding, price)).toBe(null);
      expect(unrealizedWithReceivedUsd(holding, price)).toBe(null);
    }
});

test('a perp without its figures with leverage has no unrealized PnL: the margin part would say something else', () => {
  const holding = { perpPositionType: 'long', positionAmount: 0.5, positionStats: spot(0.5, 1000).positionStats };
  expect(unrealizedUsd(holding, 2200)).toBe(null);
});

test('total PnL is realized plus unrealized', () => {
  expect(totalUsd(spot(100, 200, { realizedGainsUSD: 70 }), 3)).toBe(170);
  expect(totalUsd(perp('short', -2.5, 5000), 2200)).toBe(-460);
});

test('the second formula takes the cost of received tokens off too, and is given only if it differs', () => {
  expect(unrealizedWithReceivedUsd(spot(100, 200, { holdingReceivedCostBasisUSD: 30 }), 3)).toBe(70);
  expect(unrealizedUsd(spot(100, 200, { holdingReceivedCostBasisUSD: 30 }), 3)).toBe(100);
  expect(unrealizedWithReceivedUsd(spot(100, 200, { holdingReceivedCostBasisUSD: 0 }), 3)).toBe(null);
  expect(unrealizedWithReceivedUsd(spot(100, 200), 3)).toBe(null);
  expect(unrealizedWithReceivedUsd(perp('long', 2.5, 5000), 2200)).toBe(null);
});

const figure = fc.double({ min: 0, max: 1e9, noNaN: true });

test('what a long gains, the short of the same size and cost loses', () => {
  fc.assert(
    fc.property(figure, figure, figure, (size, cost, price) => {
      const long = unrealizedUsd(perp('long', size, cost), price) ?? Number.NaN;
      expect(unrealizedUsd(perp('short', -size, cost), price)).toBe(0 - long);
    }),
  );
});

test('holding tokens bought at the present price gains nothing, and each dollar of price is worth the amount', () => {
  fc.assert(
    fc.property(figure, fc.integer({ min: 0, max: 1e6 }), fc.integer({ min: 0, max: 1e6 }), (amount, paid, rise) => {
      const holding = spot(amount, amount * paid);
      expect(unrealizedUsd(holding, paid)).toBe(0);
      const expected = amount * rise;
      expect(Math.abs((unrealizedUsd(holding, paid + rise) ?? 0) - expected)).toBeLessThanOrEqual(
        amount * (paid + rise) * 1e-15,
      );
    }),
  );
});

test.each([
  [
    'a perp of which the service still names an amount',
    { perpPositionType: 'long', positionAmount: 2, positionAmountWithLeverage: 20 },
  ],
  ['a short one', { perpPositionType: 'short', positionAmount: -2, positionAmountWithLeverage: -20 }],
  ['a rest of a token', { positionAmount: 3 }],
])('%s gains nothing any more once it is closed, at any price and without one', (_, held) => {
  const stats = {
    realizedGainsUSD: 12,
    holdingsCostBasisUSD: 40,
    holdingsCostBasisUSDWithLeverage: 400,
    holdingReceivedCostBasisUSD: 5,
  };
  const holding = { ...held, positionStats: { ...stats, isOpen: false } } as Holding;
  for (const price of [0, 1, 1000, null, undefined])
    expect([
      unrealizedUsd(holding, price),
      totalUsd(holding, price),
      unrealizedWithReceivedUsd(holding, price),
    ]).toEqual([0, 12, null]);
});
