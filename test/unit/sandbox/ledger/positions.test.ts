import { describe, expect, test } from 'vitest';
import {
  applyTrade,
  type PositionState,
  positionStats,
  type TradeEffect,
} from '../../../../src/sandbox/ledger/positions.ts';
import type { Trade } from '../../../../src/sandbox/ledger/trade.ts';
import { fc } from '../../../support/draw.ts';
import { tradeOf } from '../../../support/trades.ts';

type Fill = Pick<Trade, 'side' | 'amount' | 'usd'> & Partial<Trade>;

const minute = 60_000;

/** The fills of one trader in one token, a minute apart unless they say otherwise; every position that came of them. */
function run(fills: Fill[]) {
  const positions: PositionState[] = [];
  const effects: TradeEffect[] = [];
  let newest: PositionState | undefined;
  fills.forEach((fill, index) => {
    const on = fill.direction ? { chain: 'hyperliquid', token: 'BTC' } : {};
    const trade = tradeOf({ ...on, atMs: index * minute, rowKey: String(index), ...fill });
    const { position, opened, effect } = applyTrade(newest, trade);
    expect(opened).toBe(newest === undefined || position.ordinal === newest.ordinal + 1);
    newest = position;
    positions[position.ordinal - 1] = position;
    effects.push(effect);
  });
  const last = positions.at(-1);
  if (last === undefined) throw new Error('no fills');
  return { positions, effects, last, stats: positionStats(last, null) };
}

const buy = (amount: number, usd: number, more: Partial<Trade> = {}): Fill => ({ side: 'buy', amount, usd, ...more });
const sell = (amount: number, usd: number, more: Partial<Trade> = {}): Fill => ({ side: 'sell', amount, usd, ...more });

/** A fill of a long, of which so much was held before it. */
const longFrom = (startAmount: number) => ({ direction: 'long', startAmount }) as const;

/** Of a position that is open and complete. */
const complete = { receivedCostBasisUSD: 0, holdingReceivedCostBasisUSD: 0, isOpen: true, unavailable: false };

describe('worked by hand', () => {
  test('a sale uses up the oldest lots first', () => {
    const { effects, stats, last } = run([buy(10, 100), buy(10, 200), buy(10, 300), sell(25, 500)]);
    expect(effects[3]).toEqual({ ordinal: 1, intent: 'exit', realizedUsd: 50, marginCostUsd: 450, heldMs: 132_000 });
    expect(stats).toEqual({
      positionAmount: 5,
      positionStats: { boughtUSD: 600, soldUSD: 500, realizedGainsUSD: 50, holdingsCostBasisUSD: 150, ...complete },
    });
    expect(last).toMatchObject({ exited: false, sellCount: 1, openedAtMs: 0, latestAtMs: 3 * minute });
  });

  test('tokens sold beyond what is held are received at their market value, without a gain', () => {
    const { effects, last, stats } = run([buy(10, 100), sell(15, 300)]);
    expect(effects[1]).toMatchObject({ realizedUsd: 100, marginCostUsd: 200, heldMs: minute });
    expect(last).toMatchObject({ receivedMarginUsd: 100, exited: true, lots: [] });
    const figures = { receivedCostBasisUSD: 100, holdingReceivedCostBasisUSD: 0, isOpen: false };
    expect(stats.positionStats).toMatchObject(figures);
  });

  test('a sale of tokens never seen makes a position that is closed at once', () => {
    const { effects, last, stats } = run([sell(4, 20)]);
    expect(effects[0]).toEqual({ ordinal: 1, intent: 'exit', realizedUsd: 0, marginCostUsd: 20, heldMs: null });
    expect(last).toMatchObject({ ordinal: 1, exited: true, receivedMarginUsd: 20, unavailable: false });
    expect(stats.positionStats.isOpen).toBe(false);
  });

  test('an exit that leaves less than a dollar ends the position, and the next buy opens another', () => {
    const { positions, effects } = run([buy(100, 100), sell(99.75, 199.5), buy(2, 6), sell(1, 4)]);
    expect(effects.map((effect) => effect.ordinal)).toEqual([1, 1, 2, 2]);
    expect(positions[0]).toMatchObject({ exited: true, realizedUsd: 99.75, soldUsd: 199.5, openedAtMs: 0 });
    expect(positions[0]?.lots).toEqual([{ amount: 0.25, usd: 0.25, received: false, atMs: 0, leverage: 1 }]);
    expect(positions[1]).toMatchObject({ exited: false, boughtUsd: 6, soldUsd: 4, realizedUsd: 1 });
  });

  test('an exit that leaves exactly a dollar leaves the position open', () => {
    expect(run([buy(3, 3), sell(2, 2)]).last.exited).toBe(false);
    expect(run([buy(3, 3), sell(1.3, 1.3), sell(0.7, 0.7)]).last.exited).toBe(false);
    expect(run([buy(3, 3), sell(2.001, 2.001)]).last.exited).toBe(true);
  });

  test('a buy of less than a dollar is not the end of a position, and neither is the next one its beginning', () => {
    const { last, stats } = run([buy(1, 0.4), buy(1, 0.4)]);
    expect(last).toMatchObject({ ordinal: 1, exited: false });
    expect(stats.positionStats.isOpen).toBe(false);
    expect(positionStats(last, 0.5).positionStats.isOpen).toBe(true);
  });

  test('what a position is worth decides whether it shows as open, unless a later one took its place', () => {
    const { last } = run([buy(100, 100), sell(99.75, 199.5)]);
    expect(last.exited).toBe(true);
    expect(positionStats(last, null).positionStats.isOpen).toBe(false);
    expect(positionStats(last, 4).positionStats.isOpen).toBe(true);
    expect(positionStats(last, 4, { isSuperseded: true }).positionStats.isOpen).toBe(false);
    const closed = { ...last, closedByPrice: true };
    const { position } = applyTrade(closed, tradeOf({ side: 'buy', amount: 1, usd: 1 }));
    expect([position.lots.map(({ amount }) => amount), closed.lots]).toEqual([[0.25, 1], []]);
  });

  test('further sales of dust belong to the position that left it', () => {
    const { positions } = run([buy(100, 100), sell(99.5, 99.5), sell(0.5, 0.5)]);
    expect(positions).toHaveLength(1);
    expect(positions[0]).toMatchObject({ sellCount: 2, lots: [], receivedMarginUsd: 0 });
  });

  test('a short earns when the price falls, and carries negative amounts', () => {
    const short = { direction: 'short' } as const;
    const { effects, stats, last } = run([sell(2, 200, short), buy(1.5, 90, short)]);
    expect(effects.flatMap(({ intent, realizedUsd }) => [intent, realizedUsd])).toEqual(['enter', 0, 'exit', 60]);
    expect(stats).toEqual({
      positionAmount: -0.5,
      positionAmountWithLeverage: -0.5,
      perpPositionType: 'short',
      perpLeverage: 1,
      positionStats: {
        boughtUSD: 90,
        soldUSD: 200,
        realizedGainsUSD: 60,
        holdingsCostBasisUSD: 50,
        ...complete,
        boughtUSDWithLeverage: 90,
        soldUSDWithLeverage: 200,
        holdingsCostBasisUSDWithLeverage: 50,
      },
    });
    expect(last.direction).toBe('short');
  });

  test('leverage divides every figure but the gain', () => {
    const perp = { direction: 'long', leverage: 5 } as const;
    const { effects, stats } = run([buy(10, 1000, perp), sell(4, 480, perp)]);
    expect(effects[1]).toMatchObject({ realizedUsd: 80, marginCostUsd: 80 });
    expect(stats).toEqual({
      positionAmount: 1.2,
      positionAmountWithLeverage: 6,
      perpPositionType: 'long',
      perpLeverage: 5,
      positionStats: {
        boughtUSD: 200,
        soldUSD: 96,
        realizedGainsUSD: 80,
        holdingsCostBasisUSD: 120,
        ...complete,
        boughtUSDWithLeverage: 1000,
        soldUSDWithLeverage: 480,
        holdingsCostBasisUSDWithLeverage: 600,
      },
    });
  });

  test('lots keep their own leverage', () => {
    const long = { direction: 'long' } as const;
    const { stats } = run([buy(10, 100, { ...long, leverage: 10 }), buy(10, 100, { ...long, leverage: 2 })]);
    expect(stats).toMatchObject({ positionAmount: 6, positionAmountWithLeverage: 20, perpLeverage: 20 / 6 });
    expect(stats.positionStats).toMatchObject({ boughtUSD: 60, holdingsCostBasisUSD: 60 });
  });

  test('what was held before the first fill enters as an opening lot at its price', () => {
    const { effects, last } = run([sell(3, 360, longFrom(10)), sell(7, 700, longFrom(7))]);
    expect(effects.map((effect) => effect.realizedUsd)).toEqual([0, -140]);
    expect(last).toMatchObject({ ordinal: 1, unavailable: true, exited: true, receivedMarginUsd: 1200 });
  });

  test('an opening lot counts as received on spot, and as margin on perps', () => {
    const spot = run([buy(5, 50, { startAmount: 10 })]).stats.positionStats;
    const onSpot = { holdingsCostBasisUSD: 50, holdingReceivedCostBasisUSD: 100, receivedCostBasisUSD: 100 };
    expect(spot).toMatchObject(onSpot);
    const perp = run([buy(5, 50, { startAmount: 10, direction: 'long', leverage: 5 })]).stats.positionStats;
    expect(perp).toMatchObject({ holdingsCostBasisUSD: 30, holdingReceivedCostBasisUSD: 0, receivedCostBasisUSD: 20 });
  });

  test('a start that equals the known holding adds nothing', () => {
    const { last } = run([buy(5, 50, { startAmount: 0 }), buy(5, 50, { startAmount: 5 })]);
    expect(last).toMatchObject({ unavailable: false, receivedMarginUsd: 0, boughtUsd: 100 });
    // Less than a dollar is rounding.
    const bought = [buy(5, 50, { startAmount: 0 }), buy(5, 50, { startAmount: 5.09 })];
    const near = run([...bought, sell(5, 50, { startAmount: 9.91 })]);
    expect(near.last).toMatchObject({ unavailable: false, receivedMarginUsd: 0 });
  });

  test('a start above the known holding means unseen tokens came in, at the price of that moment', () => {
    const { last, effects } = run([buy(5, 50, longFrom(0)), sell(7, 140, longFrom(7))]);
    expect(last).toMatchObject({ ordinal: 1, unavailable: true, receivedMarginUsd: 40, exited: true });
    expect(effects.map((effect) => effect.realizedUsd)).toEqual([0, 50]);
  });

  test('a start below the known holding means tokens left unseen, without a gain', () => {
    const { last, effects } = run([buy(5, 50, longFrom(0)), sell(3, 60, longFrom(3))]);
    expect([last.ordinal, last.lots]).toEqual([1, []]);
    expect(last).toMatchObject({ unavailable: true, receivedMarginUsd: 0, soldUsd: 60, exited: true });
    expect(effects.map((effect) => effect.realizedUsd)).toEqual([0, 30]);
  });

  test('a start of zero means that an end was not seen: the next position is complete', () => {
    const { last } = run([buy(5, 50, longFrom(0)), buy(3, 60, longFrom(0))]);
    expect(last).toMatchObject({ ordinal: 2, unavailable: false, boughtUsd: 60, receivedMarginUsd: 0 });
    // So is less than a dollar, at the price of that moment.
    const dust = run([buy(5, 50, longFrom(0)), buy(3, 60, longFrom(0.04))]);
    expect(dust.last).toMatchObject({ ordinal: 2, unavailable: false, boughtUsd: 60 });
  });

  test('a start after a full exit means that a position began unseen', () => {
    const { positions } = run([buy(5, 50), sell(5, 50), sell(2, 20, { startAmount: 8 })]);
    expect(positions[0]).toMatchObject({ unavailable: false, exited: true, receivedMarginUsd: 0 });
    expect(positions[1]).toMatchObject({ ordinal: 2, unavailable: true, exited: false, receivedMarginUsd: 80 });
  });
});

describe('for any trades', () => {
  /** Values of a thousandth of a dollar to a million, at prices a factor of 25 apart: amounts from 1e-9 to 1e12. */
  const exponent = (min: number, max: number) => fc.double({ min, max, noNaN: true }).map((power) => 10 ** power);
  const step = fc.record({
    isEntry: fc.boolean(),
    usd: exponent(-3, 6),
    move: exponent(-0.7, 0.7),
    leverage: fc.constantFrom(1, 1, 2, 5, 40),
    sellsAll: fc.integer({ min: 0, max: 4 }).map((roll) => roll === 0),
    /** Where a fill is cut in two. */
    cut: fc.double({ min: 0.01, max: 0.99, noNaN: true }),
  });
  const history = fc.record({
    direction: fc.constantFrom(null, 'long' as const, 'short' as const),
    basePrice: exponent(-6, 6),
    steps: fc.array(step, { minLength: 1, maxLength: 40 }),
  });

  type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

  /** Fills of a history; an exit of everything sells what the fills before it left. */
  function fillsOf({ direction, basePrice, steps }: History): Fill[] {
    let held = 0;
    return steps.map(({ isEntry, usd, move, leverage, sellsAll }): Fill => {
      const price = basePrice * move;
      const amount = !isEntry && sellsAll && held > 0 ? held : usd / price;
      held = isEntry ? held + amount : Math.max(0, held - amount);
      const side = isEntry === (direction !== 'short') ? 'buy' : 'sell';
      return { side, amount, usd: amount * price, direction, leverage: direction === null ? 1 : leverage };
    });
  }

  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

  /** Amounts moved by the fills of a position; what a sale exceeds the holdings by is received first. */
  function movedIn(fills: readonly Fill[]) {
    const moved = { held: 0, turnover: 0, receivedUsd: 0 };
    for (const { side, direction, amount, usd } of fills) {
      const isEntry = (side === 'buy') === (direction !== 'short');
      const excess = isEntry ? 0 : Math.max(0, amount - moved.held);
      moved.held += isEntry ? amount : excess - amount;
      moved.turnover += amount + excess;
      moved.receivedUsd += (usd * excess) / amount;
    }
    return moved;
  }

  /** Every position of a history, with the amounts and the effects of its fills. */
  function positionsOf(past: History) {
    const fills = fillsOf(past);
    const { positions, effects } = run(fills);
    return positions.map((position) => ({
      position,
      moved: movedIn(fills.filter((_, index) => effects[index]?.ordinal === position.ordinal)),
      effects: effects.filter(({ ordinal }) => ordinal === position.ordinal),
    }));
  }

  test('tokens bought less sold plus received are the tokens held', () => {
    fc.assert(
      fc.property(history, (past) => {
        for (const { position, moved } of positionsOf(past)) {
          const held = sum(position.lots.map((lot) => lot.amount));
          expect(Math.abs(moved.held - held)).toBeLessThanOrEqual(1e-9 * moved.turnover);
          expect(position.lots.every((lot) => lot.amount > 0 && lot.usd >= 0)).toBe(true);
        }
      }),
    );
  });

  test('cost paid and received minus the cost of sales is the cost of the lots left, also as margin', () => {
    fc.assert(
      fc.property(history, (past) => {
        for (const { position, moved, effects } of positionsOf(past)) {
          const isShort = position.direction === 'short';
          const { boughtUsd, soldUsd, boughtMarginUsd, soldMarginUsd, receivedMarginUsd, realizedUsd } = position;
          const costOfSold = isShort ? boughtUsd + realizedUsd : soldUsd - realizedUsd;
          const costUsd = (isShort ? soldUsd : boughtUsd) + moved.receivedUsd - costOfSold;
          const marginSold = sum(effects.map((effect) => effect.marginCostUsd));
          const marginUsd = (isShort ? soldMarginUsd : boughtMarginUsd) + receivedMarginUsd - marginSold;
          const off = [
            costUsd - sum(position.lots.map((lot) => lot.usd)),
            marginUsd - sum(position.lots.map((lot) => lot.usd / lot.leverage)),
            sum(effects.map((effect) => effect.realizedUsd)) - realizedUsd,
          ];
          const turnover = boughtUsd + soldUsd + moved.receivedUsd;
          for (const usd of off) expect(Math.abs(usd)).toBeLessThanOrEqual(1e-9 * turnover);
        }
      }),
    );
  });

  test('a fill split in two at the same price changes nothing', () => {
    fc.assert(
      fc.property(history, (past) => {
        const fills = fillsOf(past);
        const halves = fills.flatMap((fill, index) => {
          const share = past.steps[index]?.cut ?? 0.5;
          const atMs = index * minute;
          return [share, 1 - share].map((cut) => ({ ...fill, atMs, amount: fill.amount * cut, usd: fill.usd * cut }));
        });
        const whole = run(fills).positions;
        const split = run(halves).positions;
        expect(split.map((position) => position.ordinal)).toEqual(whole.map((position) => position.ordinal));
        whole.forEach((position, index) => {
          const other = split[index];
          if (other === undefined) throw new Error('a position is missing');
          expect(other.exited).toBe(position.exited);
          const turnover = position.boughtUsd + position.soldUsd;
          const left = positionStats(position, past.basePrice).positionStats;
          const right = positionStats(other, past.basePrice).positionStats;
          for (const name of Object.keys(left) as (keyof typeof left)[]) {
            expect(Math.abs(Number(left[name] ?? 0) - Number(right[name] ?? 0)), name).toBeLessThanOrEqual(
              1e-9 * turnover,
            );
          }
        });
      }),
    );
  });
});

test('a sale beyond what is held counts the rest at its own leverage as margin', () => {
  const { effects, last } = run([
    buy(10, 100, { direction: 'long', leverage: 2 }),
    sell(15, 300, { direction: 'long', leverage: 5 }),
  ]);
  // 100 of notional at 2x, then 5 tokens worth 100 at 5x.
  expect(effects[1]).toMatchObject({ realizedUsd: 100, marginCostUsd: 70 });
  expect(last).toMatchObject({ receivedMarginUsd: 20 });
});

test('a sale beyond what is held by less than rounding receives nothing', () => {
  const amount = 10 * (1 + 1e-13);
  const { effects, last } = run([buy(10, 100), sell(amount, 120)]);
  expect(amount).toBeGreaterThan(10);
  expect(last.receivedMarginUsd).toBe(0);
  expect(effects[1]?.realizedUsd).toBe(20);
});

test('a closed short holds zero, not minus zero, at the leverage of its last trade', () => {
  const { stats } = run([
    sell(2, 100, { direction: 'short', leverage: 4 }),
    buy(2, 90, { direction: 'short', leverage: 3 }),
  ]);
  expect([stats.positionAmount, stats.positionAmountWithLeverage]).toStrictEqual([0, 0]);
  expect(stats).toMatchObject({ perpLeverage: 3, positionStats: { realizedGainsUSD: 10, isOpen: false } });
});
