import { join } from 'node:path';
import { expect, test } from 'vitest';
import { getMeta } from '../../../../src/sandbox/db/clock.ts';
import { type Db, openDb } from '../../../../src/sandbox/db/store.ts';
import { moveWorld, placeDemo, resetWorld } from '../../../../src/sandbox/db/world.ts';
import { standings } from '../../../../src/sandbox/social/standings.ts';
import { addTrades } from '../../../../src/sandbox/trades/add-trades.ts';
import { windowFigures } from '../../../../src/sandbox/trades/figures.ts';
import { temporaryFolder } from '../../../support/harness.ts';
import { dayMs, largeNow, largeWorld, tokenOf, tradeAt, traderOf } from '../../../support/large-world.ts';
import { size, some } from '../../../support/size.ts';

interface Sums {
  pnl: number;
  trades: number;
  volumeUsd: number;
}

interface TradeRow {
  wallet: string;
  chain: string;
  atMs: number;
  pnl: number;
  usd: number;
}

/** The figures of a window by another road: every trade is read and added up here. */
function addedUp(rows: readonly TradeRow[], nowMs: number, days: number): Map<string, Sums> {
  const sums = new Map<string, Sums>();
  for (const { wallet, chain, atMs, pnl, usd } of rows) {
    if (atMs > nowMs || atMs <= nowMs - days * dayMs) continue;
    const sum = sums.get(`${wallet} ${chain}`) ?? { pnl: 0, trades: 0, volumeUsd: 0 };
    sums.set(`${wallet} ${chain}`, { pnl: sum.pnl + pnl, trades: sum.trades + 1, volumeUsd: sum.volumeUsd + usd });
  }
  return sums;
}

function expectRight(db: Db, nowMs: number): void {
  const rows = db.all<TradeRow>('SELECT wallet, chain, at_ms AS atMs, realized_usd AS pnl, usd FROM trade');
  for (const [timeframe, days] of [
    ['7d', 7],
    ['30d', 30],
  ] as const) {
    const right = addedUp(rows, nowMs, days);
    const figures = windowFigures(db, timeframe, nowMs);
    expect(figures).toHaveLength(right.size);
    const textOf = ({ trades, pnl, volumeUsd }: Sums) => `${trades} ${pnl.toFixed(6)} ${volumeUsd.toFixed(6)}`;
    const found = figures.map((figure) => [`${figure.wallet} ${figure.chain}`, textOf(figure)]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries([...right].map(([key, sum]) => [key, textOf(sum)])));
  }
}

const isKept = (db: Db) => db.get('SELECT 1 FROM figure LIMIT 1') !== undefined;

const live = (index: number, atMs: number) => ({
  ...tradeAt(index),
  trader: traderOf(index),
  token: tokenOf(1),
  side: 'sell' as const,
  usd: 5000,
  atMs,
  rowKey: `live ${index}`,
});

test('in a large world the figures of both windows are those of its trades, at any moment and after any change', () => {
  const file = join(temporaryFolder(), 'sandbox.db');
  const db = largeWorld(file);
  const other = openDb(file);
  try {
    expectRight(db, largeNow);
    expect(isKept(db)).toBe(true);
    // Some minutes: the trades at the edges come and go. Some days: all of them do. Then back.
    for (const ms of some([1, 60_000, 600_000, 7_200_000, 3 * dayMs, -3_600_000, -5 * dayMs, 0], 1))
      expectRight(db, largeNow + ms);
    const many = Array.from({ length: size(500, 3000) }, (_, index) => ({
      ...live(index + 10, largeNow - dayMs),
      trader: traderOf(index),
    }));
    const changes: readonly [change: () => void, laterMs: number][] = [
      [() => addTrades(db, [live(5, largeNow), live(6, largeNow - 1000)]), 0],
      // Older than what is there: positions start over, and figures of old trades change.
      [() => addTrades(db, [live(7, largeNow - 20 * dayMs)]), 1],
      // Another process writes.
      [() => addTrades(other, [live(8, largeNow - dayMs)]), 2],
      [() => moveWorld(db, -2 * dayMs), 0],
      [() => addTrades(db, many), 0],
    ];
    for (const [change, laterMs] of some(changes, 2)) {
      change();
      expectRight(db, largeNow + laterMs);
    }
    expectRight(other, largeNow + 3);
  } finally {
    db.close();
    other.close();
  }
});

test('a demo world comes with its figures, those of its trades at any moment, and after a reset', () => {
  const file = join(temporaryFolder(), 'sandbox.db');
  placeDemo(file, largeNow);
  const db = openDb(file);
  try {
    for (const [reset, nowMs] of [
      [false, largeNow],
      [true, largeNow + 5 * dayMs],
    ] as const) {
      if (reset) resetWorld(db, nowMs, 'demo');
      expect([getMeta(db, 'figures.atMs'), isKept(db)]).toEqual([String(nowMs), true]);
      for (const laterMs of [0, 1, 600_000, dayMs / 4, dayMs, 3 * dayMs]) expectRight(db, nowMs + laterMs);
    }
    addTrades(db, [live(5, largeNow + 8 * dayMs)]);
    expectRight(db, largeNow + 8 * dayMs);
  } finally {
    db.close();
  }
});

test('while another process writes, a large world answers from its trades and keeps nothing', () => {
  const file = join(temporaryFolder(), 'sandbox.db');
  const db = largeWorld(file);
  const other = openDb(file);
  try {
    other.transaction(() => {
      other.run("INSERT INTO meta (key, value) VALUES ('some', 'thing')");
      expectRight(db, largeNow);
      expect(isKept(db)).toBe(false);
    });
    expectRight(db, largeNow);
    expect(isKept(db)).toBe(true);
  } finally {
    db.close();
    other.close();
  }
});

test('on a full disk a large world answers from its trades and keeps nothing', () => {
  const db = largeWorld(join(temporaryFolder(), 'sandbox.db'));
  try {
    // No page more than there is: what SQLite says then is what it says of a full disk.
    const { pages } = db.get<{ pages: number }>('SELECT page_count AS pages FROM pragma_page_count') ?? { pages: 0 };
    db.exec(`PRAGMA max_page_count = ${pages}`);
    expectRight(db, largeNow);
    expect(isKept(db)).toBe(false);
  } finally {
    db.close();
  }
});

test('the best of a board are the first of the whole board, on every choice of chains', () => {
  const db = largeWorld(join(temporaryFolder(), 'sandbox.db'));
  try {
    const sizes = [
      [undefined, 300],
      [['base'], 100], // every third trade, and so every third wallet
      [['base', 'ethereum'], 300],
      [['solana'], 0],
    ] as const;
    for (const [chains, size] of sizes) {
      const whole = standings(db, largeNow, { chains });
      expect(whole).toHaveLength(size);
      expect(standings(db, largeNow, { chains, limit: 20 })).toEqual(whole.slice(0, 20));
    }
  } finally {
    db.close();
  }
});
