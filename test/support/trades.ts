import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadEvent } from '../../src/sandbox/ledger/read-rows.ts';
import { type ReadOptions, readTrades } from '../../src/sandbox/ledger/read-trades.ts';
import type { Trade } from '../../src/sandbox/ledger/trade.ts';
import { run, temporaryFolder } from './harness.ts';

export const now = Date.parse('2026-11-20T12:00:00Z');

export const wallet = (digit: string) => `0x${digit.repeat(40)}`;

/** A buy on base, with these fields changed. */
export function tradeOf(more: Partial<Trade>): Trade {
  const fixed = { chain: 'base', trader: wallet('1'), token: '0xaaaa', side: 'buy', amount: 1, usd: 10 } as const;
  return { ...fixed, direction: null, leverage: 1, atMs: now, tx: null, rowKey: '', ...more };
}

/** A sandbox that holds these trades and nothing else: rows of time, chain, trader, token, side, amount, usd, direction, leverage. */
export async function worldOf(rows: readonly string[]): Promise<Record<string, string>> {
  const env = { SOTRA_DATA_DIR: temporaryFolder() };
  const file = join(temporaryFolder(), 'trades.csv');
  const lines = rows.map((row, index) => {
    const [time, chain, trader, token = '', side, amount, usd, direction = '', leverage = ''] = row.split(' ');
    const symbol = token.slice(-2);
    return [time, chain, trader, token, symbol, side, amount, usd, direction, leverage, `0xhash${index}`].join();
  });
  writeFileSync(file, ['time,chain,trader,token,symbol,side,amount,usd,direction,leverage,tx', ...lines].join('\n'));
  const { code, err } = await run(`sandbox import ${file}`, { env, now });
  if (code > 0) throw new Error(err);
  return env;
}

/** What reading a file gave, sorted by kind. */
export async function collectEvents(source: AsyncIterable<Uint8Array>, options: Partial<ReadOptions>) {
  const events: ReadEvent[] = [];
  const all = { chain: undefined, preset: undefined, map: {}, ...options };
  for await (const batch of readTrades({ name: 'file', bytes: source }, all)) events.push(...batch);
  return {
    trades: events.flatMap((event) => (event.kind === 'trade' ? [event.trade] : [])),
    lines: events.flatMap((event) => (event.kind === 'trade' ? [event.line] : [])),
    rejected: events.flatMap((event) => (event.kind === 'rejected' ? [event.row] : [])),
  };
}

/** The bytes in pieces of a size that cuts lines, characters and quoted cells apart. */
export async function* inPieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** How many trades have a key that one before them has. */
export function countRepeats(trades: readonly { rowKey: string }[]): number {
  return trades.length - new Set(trades.map((trade) => trade.rowKey)).size;
}
