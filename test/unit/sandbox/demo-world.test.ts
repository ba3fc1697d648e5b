import { readFileSync } from 'node:fs';
import { base58 } from '@scure/base';
import { expect, test } from 'vitest';
import { readRows } from '../../../scripts/demo/make.ts';
import type { Trade } from '../../../src/sandbox/ledger/trade.ts';

interface Comment {
  id: string;
  trade_id: number;
  wallet: string;
  chain: string;
  token: string;
  text: string;
  at_ms: number;
}

const trades = readRows<Trade>('trade');
const comments = readRows<Comment>('comment');
const wallets = new Map(
  readRows<{ address: string; profile_id: string }>('wallet').map(({ address, profile_id }) => [address, profile_id]),
);
const newestMs = trades.at(-1)?.atMs ?? 0;
const recordedAccount = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const recorded = trades.filter(({ trader }) => trader === recordedAccount);

test('trades are sorted by time and have the addresses and hashes of their chain', () => {
  const times = trades.map(({ atMs }) => atMs);
  expect(times).toEqual([...times].sort((one, other) => one - other));
  for (const { chain, trader, token, tx, orderId, direction, amount, usd } of trades) {
    expect(wallets.has(trader)).toBe(true);
    if (chain === 'solana')
      expect([trader, token, tx ?? ''].map((text) => base58.decode(text).length)).toEqual([32, 32, 64]);
    else {
      expect(trader).toMatch(/^0x[0-9a-f]{40}$/);
      expect(tx).toMatch(/^0x[0-9a-f]{64}$/);
      expect(token).toMatch(chain === 'hyperliquid' ? /^[A-Z]{2,5}$/ : /^0x[0-9a-f]{40}$/);
    }
    expect([direction !== undefined, orderId !== undefined]).toEqual(Array(2).fill(chain === 'hyperliquid'));
    expect(Math.min(amount, usd)).toBeGreaterThan(0);
  }
});

test('a comment is by the trader, once per trade, and on a trade worth at least 10 USD', () => {
  expect(new Set(comments.map(({ trade_id }) => trade_id)).size).toBe(62);
  for (const { trade_id, wallet, chain, token, at_ms, text } of comments) {
    const trade = trades[trade_id - 1];
    expect(trade).toMatchObject({ trader: wallet, chain, token });
    expect(trade?.usd).toBeGreaterThanOrEqual(10);
    expect(at_ms).toBeGreaterThanOrEqual(trade?.atMs ?? Number.POSITIVE_INFINITY);
    expect(at_ms).toBeLessThanOrEqual(newestMs);
    expect(text).not.toMatch(/[{}]|undefined|NaN/);
  }
});

test('a copy is a buy of the commented token by another trader within the hour', () => {
  const copies = readRows<{ comment_id: string; wallet: string; usd: number; at_ms: number }>('copy');
  expect(copies).toHaveLength(34);
  for (const copy of copies) {
    const comment = comments.find(({ id }) => id === copy.comment_id);
    const buy = trades.find(({ trader, atMs }) => trader === copy.wallet && atMs === copy.at_ms);
    expect(buy).toMatchObject({ side: 'buy', usd: copy.usd, chain: comment?.chain, token: comment?.token });
    expect(wallets.get(copy.wallet)).not.toBe(wallets.get(comment?.wallet ?? ''));
    expect(copy.at_ms - (comment?.at_ms ?? 0)).toBeGreaterThan(0);
    expect(copy.at_ms - (comment?.at_ms ?? 0)).toBeLessThan(3_600_000);
  }
});

test('nothing is made up about the real account of the recorded fills', () => {
  const profile = readRows<{ id: string; name?: string; handles: string }>('profile').find(
    ({ id }) => id === wallets.get(recordedAccount),
  );
  expect([profile?.name, profile?.handles]).toEqual([undefined, '{}']);
  expect(comments.some(({ wallet }) => wallet === recordedAccount)).toBe(false);
});

test('the fills are those of the recording', () => {
  const recording = readFileSync('test/data/trades-hyperliquid/api_responses/get_user_fills.json', 'utf8');
  const [{ response }] = JSON.parse(recording);
  const shiftMs = recorded.reduce((last, { atMs }) => Math.max(last, atMs), 0) - 1683245884863;
  // Sizes are summed: a fill that crosses zero is two trades.
  const left = new Map<string, number>();
  for (const { token, side, orderId, tx, atMs, amount, usd } of recorded) {
    const key = [token, side, orderId, tx, atMs - shiftMs, (usd / amount).toFixed(6)].join(' ');
    left.set(key, (left.get(key) ?? 0) + amount);
  }
  for (const { coin, side, oid, hash, time, px, sz } of response) {
    const key = [coin, side === 'B' ? 'buy' : 'sell', oid, hash, time, Number(px).toFixed(6)].join(' ');
    left.set(key, (left.get(key) ?? Number.NaN) - Number(sz));
  }
  expect(response).toHaveLength(500);
  for (const rest of left.values()) expect(rest).toBeCloseTo(0, 6);
});
