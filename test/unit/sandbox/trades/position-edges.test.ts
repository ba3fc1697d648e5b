import { expect, test } from 'vitest';
import {
  applyTrade,
  type Lot,
  type PositionState,
  positionStats,
  useLots,
} from '../../../../src/sandbox/trades/positions.ts';
import type { Trade } from '../../../../src/sandbox/trades/trade.ts';

type Fill = Pick<Trade, 'side' | 'amount' | 'usd'> & Partial<Trade>;

function fillAll(fills: readonly Fill[]): { last: PositionState; effects: ReturnType<typeof applyTrade>['effect'][] } {
  let last: PositionState | undefined;
  const effects = fills.map((fill, index) => {
    const { position, effect } = applyTrade(last, {
      chain: 'hyperliquid',
      trader: '0x00000000000000000000000000000000000000aa',
      token: 'BTC',
      direction: 'long',
      leverage: 1,
      atMs: index * 1000,
      tx: null,
      rowKey: String(index),
      ...fill,
    });
    last = position;
    return effect;
  });
  if (last === undefined) throw new Error('no fills');
  return { last, effects };
}

test('a sale beyond what is held counts the rest at its own leverage as margin', () => {
  const { effects, last } = fillAll([
    { side: 'buy', amount: 10, usd: 100, leverage: 2 },
    { side: 'sell', amount: 15, usd: 300, leverage: 5 },
  ]);
  // 100 of notional at 2x, then 5 tokens worth 100 at 5x.
  expect(effects[1]).toMatchObject({ realizedUsd: 100, costUsd: 200, marginCostUsd: 70 });
  expect(last).toMatchObject({ receivedAmount: 5, receivedUsd: 100, receivedMarginUsd: 20 });
});

test('a sale beyond what is held by less than rounding receives nothing', () => {
  const amount = 10 * (1 + 1e-13);
  const { effects, last } = fillAll([
    { side: 'buy', amount: 10, usd: 100 },
    { side: 'sell', amount, usd: 120 },
  ]);
  expect(amount).toBeGreaterThan(10);
  expect([last.receivedAmount, last.receivedUsd]).toEqual([0, 0]);
  expect(effects[1]?.realizedUsd).toBe(20);
});

test('an exit is called an exit, and nothing was held where nothing was known', () => {
  const { effects } = fillAll([{ side: 'sell', amount: 4, usd: 40 }]);
  expect(effects[0]).toEqual({
    ordinal: 1,
    intent: 'exit',
    realizedUsd: 0,
    costUsd: 40,
    marginCostUsd: 40,
    heldMs: null,
  });
});

test('a closed short holds zero, not minus zero, at the leverage of its last trade', () => {
  const { last } = fillAll([
    { side: 'sell', amount: 2, usd: 100, direction: 'short', leverage: 4 },
    { side: 'buy', amount: 2, usd: 90, direction: 'short', leverage: 3 },
  ]);
  const stats = positionStats(last, 45);
  expect(Object.is(stats.positionAmount, 0)).toBe(true);
  expect(Object.is('positionAmountWithLeverage' in stats ? stats.positionAmountWithLeverage : undefined, 0)).toBe(true);
  expect(stats).toMatchObject({ perpLeverage: 3, positionStats: { realizedGainsUSD: 10, isOpen: false } });
});

test('a position is open from a dollar on, give or take what rounding does to it', () => {
  const { last } = fillAll([{ side: 'buy', amount: 1, usd: 1, direction: null, chain: 'base' }]);
  const isOpenAt = (priceUsd: number) => positionStats(last, priceUsd).positionStats.isOpen;
  expect([isOpenAt(1), isOpenAt(1 - 1e-12), isOpenAt(0.99), isOpenAt(0)]).toEqual([true, true, false, false]);
});

const lot = (amount: number, usd: number, more: Partial<Lot> = {}): Lot => {
  return { amount, usd, received: false, atMs: 0, leverage: 1, ...more };
};

test('a sale takes a lot whole, its rounding with it, and leaves what is more than that', () => {
  const lots = [lot(1, 10), lot(2, 40, { atMs: 500, leverage: 2 })];
  expect(useLots(lots, 2, 1000)).toEqual({ amount: 2, usd: 30, marginUsd: 20, amountMs: 1500 });
  expect(lots).toEqual([lot(1, 20, { atMs: 500, leverage: 2 })]);
  expect(useLots(lots, 1 - 1e-13, 1000)).toMatchObject({ amount: 1, usd: 20 });
  expect(lots).toEqual([]);
  const rest = [lot(1, 10)];
  expect(useLots(rest, 1 - 1e-9, 0).amount).toBe(1 - 1e-9);
  expect(rest).toHaveLength(1);
});

test('a sale of nothing takes nothing, also where nothing is held, and time never runs backwards', () => {
  const lots = [lot(1, 10)];
  expect(useLots(lots, 0, 5)).toEqual({ amount: 0, usd: 0, marginUsd: 0, amountMs: 0 });
  expect(lots).toEqual([lot(1, 10)]);
  expect(useLots([], 5, 5)).toEqual({ amount: 0, usd: 0, marginUsd: 0, amountMs: 0 });
  expect(useLots([lot(1, 10, { atMs: 9 })], 1, 5).amountMs).toBe(0);
});
