import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Db } from '../../../../src/sandbox/db/store.ts';
import { keepTotals, rankProfiles, readFigures } from '../../../../src/sandbox/ledger/figures.ts';
import { serve } from '../../../../src/sandbox/serve/serve.ts';
import { temporaryFolder } from '../../../support/harness.ts';
import { dayMs, largeNow, largeWorld } from '../../../support/large-world.ts';
import { some } from '../../../support/size.ts';
import { until } from '../../../support/until.ts';

interface Sums {
  pnl: number;
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
    const sum = sums.get(`${wallet} ${chain}`) ?? { pnl: 0, volumeUsd: 0 };
    sums.set(`${wallet} ${chain}`, { pnl: sum.pnl + pnl, volumeUsd: sum.volumeUsd + usd });
  }
  return sums;
}

function expectRight(db: Db, nowMs: number): void {
  const profileIds = db.all<{ id: string }>('SELECT DISTINCT profile_id AS id FROM wallet').map(({ id }) => id);
  const rows = db.all<TradeRow>('SELECT wallet, chain, at_ms AS atMs, realized_usd AS pnl, usd FROM trade');
  for (const [timeframe, days] of [
    ['7d', 7],
    ['30d', 30],
  ] as const) {
    const right = addedUp(rows, nowMs, days);
    const all = [...readFigures(db, nowMs, profileIds).values()].flat();
    const figures = all.filter((each) => each.timeframe === timeframe);
    expect(figures).toHaveLength(right.size);
    const textOf = ({ pnl, volumeUsd }: Sums) => `${pnl.toFixed(6)} ${volumeUsd.toFixed(6)}`;
    const found = figures.map((figure) => [`${figure.wallet} ${figure.chain}`, textOf(figure)]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries([...right].map(([key, sum]) => [key, textOf(sum)])));
  }
}

test('the figures of both windows sum the trades in them, at any moment, with and without kept totals', () => {
  const db = largeWorld(join(temporaryFolder(), 'sandbox.db'));
  try {
    // Some minutes: the trades at the edges come and go. Some days: all of them do.
    const moments = [0, 60_000, -7_200_000, 1, 3 * dayMs, -5 * dayMs];
    for (const ms of some(moments, 2)) expectRight(db, largeNow + ms);
    keepTotals(db, largeNow);
    const whole = rankProfiles(db, largeNow - 7_200_000, {});
    expect(db.value('SELECT count(*) FROM total')).toBeGreaterThan(300);
    const ids = (board: Parameters<typeof rankProfiles>[2]) =>
      rankProfiles(db, largeNow, board).map((row) => row.profileId);
    expect(ids({})).toEqual(ids({ chains: ['base', 'solana', 'ethereum', 'hyperliquid'] }));
    for (const ms of some(moments, 3)) expectRight(db, largeNow + ms);
    // Kept at another moment, they give the same board.
    keepTotals(db, largeNow - 7_200_000);
    expect(rankProfiles(db, largeNow - 7_200_000, {})).toEqual(whole);
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
      const whole = rankProfiles(db, largeNow, { chains });
      expect(whole).toHaveLength(size);
      expect(rankProfiles(db, largeNow, { chains, limit: 20 })).toEqual(whole.slice(0, 20));
    }
  } finally {
    db.close();
  }
});

test('a served sandbox to which nobody writes keeps its totals up to date', async () => {
  const db = largeWorld(join(temporaryFolder(), 'sandbox.db'));
  let nowMs = largeNow;
  let wake = () => {};
  const sleep = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (ms === 300_000) wake = resolve;
      signal.addEventListener('abort', () => resolve());
    });
  const served = await serve({ db, port: 0, wire: {}, faults: [], io: { now: () => nowMs, sleep }, warn: () => {} });
  onTestFinished(served.close);
  const count = () => db.value("SELECT count(*) FROM total WHERE timeframe = '7d' AND chain = ''");
  expect(count()).toBe(300);
  nowMs += 8 * dayMs;
  wake();
  await until(() => count() === 0);
});
