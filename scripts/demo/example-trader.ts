import type { Trade } from '../../src/sandbox/trades/trade.ts';
import type { Person } from './person.ts';

const address = '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf';

/** Whoever signs with the private key 1, which everybody knows: the examples of `comment post` carry its signatures. */
export const exampleTrader: Person = {
  addresses: [address],
  name: null,
  images: { raw: null, xs: null, sm: null },
  metadata: {},
  isNSFW: false,
  tracking: 'active',
};

/** The two trades that those examples are about, made when the world began. */
export function exampleTrades(startMs: number): Trade[] {
  const bought = { trader: address, side: 'buy', leverage: 1 } as const;
  return [
    {
      ...bought,
      chain: 'base',
      token: '0x4ed4e862860bed51a9570b96d89af5e1b0efefed',
      tokenSymbol: 'DEGEN',
      direction: null,
      amount: 10_000,
      usd: 41,
      atMs: startMs + 60_000,
      tx: '0x5cdbd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad911',
      rowKey: 'demo:example:spot',
    },
    {
      ...bought,
      chain: 'hyperliquid',
      token: 'ETH',
      direction: 'long',
      amount: 0.02,
      usd: 60,
      atMs: startMs + 120_000,
      tx: `0x${'7e5f4552'.repeat(8)}`,
      orderId: '52012345678',
      rowKey: 'demo:example:perp',
    },
  ];
}
