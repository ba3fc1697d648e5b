import type { Trade } from '../../src/sandbox/trades/trade.ts';
import recorded from './hyperliquid-fills.json' with { type: 'json' };
import type { Person } from './person.ts';
import { demoTokens } from './tokens.ts';

interface Fill {
  atMs: number;
  coin: string;
  /** Signed: bought is positive. */
  size: number;
  price: number;
  startPosition: number;
  orderId: string;
  tx: string;
}

/**
 * The real account of the recorded fills, as a person the service has no name for: the recording holds an address and
 * nothing else, so no handle and no words are made up for it.
 */
export const recordedAccount: Person = {
  addresses: [recorded.account],
  name: null,
  images: { raw: null, xs: null, sm: null },
  metadata: {},
  isNSFW: false,
  tracking: 'active',
};

/**
 * Gives the 500 recorded fills as perp trades in the order in which they happened, all moved by one constant so that the
 * last is at `lastMs`; their spacing (five and a half minutes of May 2023 in all) stays. A fill that crosses zero becomes
 * two trades, so there are a few more than 500. Leverage is 1: the recording does not say.
 */
export function recordedTrades(lastMs: number): Trade[] {
  const fills = readFills();
  const shiftMs = lastMs - (fills.at(-1)?.atMs ?? lastMs);
  const held = openingPositions(fills);
  return fills.flatMap((fill, place) => {
    const before = held.get(fill.coin) ?? 0;
    held.set(fill.coin, tidy(before + fill.size));
    return cutAtZero(fill, before).map(({ size, start, end }) => ({
      chain: 'hyperliquid' as const,
      trader: recorded.account,
      token: fill.coin,
      tokenSymbol: fill.coin,
      tokenName: demoTokens.find(({ address }) => address === fill.coin)?.name ?? fill.coin,
      side: size > 0 ? ('buy' as const) : ('sell' as const),
      direction: (start || end) > 0 ? ('long' as const) : ('short' as const),
      leverage: 1,
      amount: Math.abs(size),
      usd: tidy(Math.abs(size) * fill.price),
      atMs: fill.atMs + shiftMs,
      tx: fill.tx,
      orderId: fill.orderId,
      startAmount: Math.abs(start),
      rowKey: `demo:fill:${place}${start === 0 && before !== 0 ? ':flip' : ''}`,
    }));
  });
}

function readFills(): Fill[] {
  let tx = '';
  return recorded.fills.map((line) => {
    const [atMs = '', coin = '', side = '', size = '', price = '', start = '', orderId = '', hash] = line.split(' ');
    tx = hash ?? tx;
    const signed = side === 'B' ? Number(size) : -Number(size);
    return { atMs: Number(atMs), coin, size: signed, price: Number(price), startPosition: Number(start), orderId, tx };
  });
}

/**
 * Signed position of each coin before its first fill, reckoned back from its last one. The exchange reports both halves of
 * a trade of the account with itself as starting from the same position, and cut one such pair in two at the 500th fill:
 * walking with our own sum keeps longs and shorts apart where the reported starts would not.
 */
function openingPositions(fills: readonly Fill[]): Map<string, number> {
  const sums = new Map<string, number>();
  const openings = new Map<string, number>();
  for (const { coin, size, startPosition } of fills) {
    const sum = sums.get(coin) ?? 0;
    openings.set(coin, tidy(startPosition - sum));
    sums.set(coin, tidy(sum + size));
  }
  return openings;
}

/** The fill as one part, or as two where it goes through zero: the closing one first. */
function cutAtZero(fill: Fill, before: number): { size: number; start: number; end: number }[] {
  const after = tidy(before + fill.size);
  if (before * after >= 0) return [{ size: fill.size, start: before, end: after }];
  return [
    { size: -before, start: before, end: 0 },
    { size: after, start: 0, end: after },
  ];
}

/** Takes the noise of binary fractions off a sum of decimals. */
function tidy(value: number): number {
  return Number(value.toFixed(8));
}
