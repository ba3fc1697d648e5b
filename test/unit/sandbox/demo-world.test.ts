import { readFileSync } from 'node:fs';
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
const recordedAccount = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const recorded = trades.filter(({ trader }) => trader === recordedAccount);

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
