import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { setMeta } from '../../../../src/sandbox/db/settings.ts';
import { type Db, openDb } from '../../../../src/sandbox/db/store.ts';
import { ensureWorld } from '../../../../src/sandbox/db/world.ts';
import { addTrades } from '../../../../src/sandbox/ledger/add-trades.ts';
import { keepTotals, rankProfiles, readFigures } from '../../../../src/sandbox/ledger/figures.ts';
import type { Trade } from '../../../../src/sandbox/ledger/trade.ts';
import { serve } from '../../../../src/sandbox/serve/serve.ts';
import { temporaryFolder, until } from '../../../support/harness.ts';
import { size, some } from '../../../support/size.ts';
import { now, tradeOf, wallet } from '../../../support/trades.ts';

const dayMs = 86_400_000;
const tradeCount = size(6000, 24_000);

const addressOf = (index: number, filling: string) => `0x${(index + 1).toString(16).padStart(40, filling)}`;

/** Trade number so and so of 300 wallets in 40 tokens over 40 days, oldest first; the last is at noon. */
function tradeAt(index: number): Trade {
  const trader = (index * 7) % 300;
  const round = Math.floor(index / 300);
  const amount = 1 + (index % 5);
  return tradeOf({
    chain: index % 3 === 0 ? 'base' : 'ethereum',
    trader: addressOf(trader, '0'),
    token: addressOf((trader + (round % 4)) % 40, 'f'),
    side: round % 3 === 2 ? 'sell' : 'buy',
    amount,
    usd: amount * (10 + ((index * 13) % 17)),
    atMs: now - Math.floor(((tradeCount - 1 - index) * 40 * dayMs) / tradeCount),
    rowKey: `large ${index}`,
  });
}

let made: Buffer | undefined;

/** A world with many trades, made once in a process; the caller closes it. */
function largeWorld(file: string): Db {
  if (made !== undefined) writeFileSync(file, made, { mode: 0o600 });
  const db = openDb(file);
  if (made !== undefined) return db;
  ensureWorld(db, now, 'empty');
  addTrades(
    db,
    Array.from({ length: tradeCount }, (_, index) => tradeAt(index)),
  );
  db.run('VACUUM INTO ?', [`${file}.copy`]);
  made = readFileSync(`${file}.copy`);
  return db;
}

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
  for (const [timeframe, days] of Object.entries({ '7d': 7, '30d': 30 })) {
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
    for (const ms of some(moments, 2)) expectRight(db, now + ms);
    keepTotals(db, now);
    // At the edge of 30 days are then sales, which change the board.
    const atMs = now + dayMs / 4;
    const whole = rankProfiles(db, atMs, {});
    expect(db.value('SELECT count(*) FROM total')).toBeGreaterThan(300);
    const ids = (board: Parameters<typeof rankProfiles>[2]) => rankProfiles(db, now, board).map((row) => row.profileId);
    expect(ids({})).toEqual(ids({ chains: ['base', 'solana', 'ethereum', 'hyperliquid'] }));
    for (const ms of some(moments, 3)) expectRight(db, now + ms);
    // Kept a little before or after that moment, they give the same board and figures.
    const profileIds = whole.map(({ profileId }) => profileId);
    const figures = readFigures(db, atMs, profileIds);
    for (const ms of [3_000_000, -3_000_000]) {
      keepTotals(db, atMs + ms);
      expect(rankProfiles(db, atMs, {})).toEqual(whole);
      expect(readFigures(db, atMs, profileIds)).toEqual(figures);
      expect([...readFigures(db, atMs, profileIds.slice(0, 1)).keys()]).toEqual(profileIds.slice(0, 1));
    }
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
      const whole = rankProfiles(db, now, { chains });
      expect(whole).toHaveLength(size);
      expect(rankProfiles(db, now, { chains, limit: 20 })).toEqual(whole.slice(0, 20));
    }
  } finally {
    db.close();
  }
});

test('a board has all who trade, or those who are eligible in public, and of them those who comment', () => {
  const db = openDb(join(temporaryFolder(), 'sandbox.db'));
  ensureWorld(db, now, 'empty');
  // Three trades of 500 USD in seven days, of which one is too small, too old, or not there.
  const more = { c: [7 * dayMs, 500, 3], d: [1, 500, 2], e: [1, 500, 3] } as const;
  const traders = { a: [1, 500, 3], b: [1, 499.99, 3], ...more } as const;
  const trades = Object.entries(traders).flatMap(([trader, [ago, usd, count]]) =>
    Array.from({ length: count }, (_, index) => {
      const first = index === 0 ? { atMs: now - ago, usd } : { atMs: now - index, usd: 500 };
      return tradeOf({ trader: wallet(trader), rowKey: `${trader} ${index}`, ...first });
    }),
  );
  addTrades(db, trades.slice(0, 4), now);
  addTrades(db, trades.slice(4), now);
  const ids = db.all<{ id: string; address: string }>('SELECT profile_id AS id, address FROM wallet');
  const named = new Map(ids.map(({ id, address }) => [id, address.at(-1)]));
  const board = (more: Parameters<typeof rankProfiles>[2] = {}, atMs = now) =>
    new Set(rankProfiles(db, atMs, more).map(({ profileId }) => named.get(profileId)));
  expect([board(), board({ onlyWithComments: true })]).toEqual([new Set('abcde'), new Set()]);
  for (const [id, atMs] of Object.entries({ a: now, b: now, c: now + 1, e: now - 30 * dayMs }))
    db.run("INSERT INTO comment VALUES (?, ?, NULL, 'base', '', '', ?, '', ?, 0)", [id, id, wallet(id), atMs]);
  expect([board({ onlyWithComments: true }), board({ onlyWithComments: false })]).toEqual([
    new Set('ab'),
    new Set('abcde'),
  ]);
  setMeta(db, 'eligibility', 'public');
  expect([board(), board({ onlyWithComments: true }), board({}, now + 7 * dayMs - 2)]).toEqual([
    new Set('ae'),
    new Set('a'),
    new Set(),
  ]);
  setMeta(db, 'eligibility', 'any');
  expect(board()).toEqual(new Set('abcde'));
  db.close();
});

test('a served sandbox to which nobody writes keeps its totals up to date', async () => {
  const db = largeWorld(join(temporaryFolder(), 'sandbox.db'));
  let nowMs = now;
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
