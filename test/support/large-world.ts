import { readFileSync, writeFileSync } from 'node:fs';
import { type Db, openDb } from '../../src/sandbox/db/store.ts';
import { ensureWorld } from '../../src/sandbox/db/world.ts';
import { addTrades } from '../../src/sandbox/ledger/add-trades.ts';
import type { Trade } from '../../src/sandbox/ledger/trade.ts';
import { size } from './size.ts';

export const largeNow = Date.parse('2026-11-20T12:00:00Z');
export const dayMs = 86_400_000;
const tradeCount = size(6000, 24_000);

/** The wallets of the large world. */
export function traderOf(index: number): string {
  return `0x${(index + 1).toString(16).padStart(40, '0')}`;
}

/** The tokens of the large world. */
export function tokenOf(index: number): string {
  return `0x${(index + 1).toString(16).padStart(40, 'f')}`;
}

/** Trade number so and so of 300 wallets in 40 tokens over 40 days, oldest first; the last is at noon. */
export function tradeAt(index: number): Trade {
  const trader = (index * 7) % 300;
  const round = Math.floor(index / 300);
  return {
    chain: index % 3 === 0 ? 'base' : 'ethereum',
    trader: traderOf(trader),
    token: tokenOf((trader + (round % 4)) % 40),
    side: round % 3 === 2 ? 'sell' : 'buy',
    direction: null,
    leverage: 1,
    amount: 1 + (index % 5),
    usd: (1 + (index % 5)) * (10 + ((index * 13) % 17)),
    atMs: largeNow - Math.floor(((tradeCount - 1 - index) * 40 * dayMs) / tradeCount),
    tx: `0x${index.toString(16).padStart(64, '0')}`,
    rowKey: `large ${index}`,
  };
}

let made: Buffer | undefined;

/** A world with many trades, made once in a process; the caller closes it. */
export function largeWorld(file: string): Db {
  if (made !== undefined) writeFileSync(file, made, { mode: 0o600 });
  const db = openDb(file);
  if (made !== undefined) return db;
  ensureWorld(db, largeNow, 'empty');
  addTrades(
    db,
    Array.from({ length: tradeCount }, (_, index) => tradeAt(index)),
  );
  db.run('VACUUM INTO ?', [`${file}.copy`]);
  made = readFileSync(`${file}.copy`);
  return db;
}
