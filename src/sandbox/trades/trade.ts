import type { Chain } from '../../model/chain.ts';

export interface Trade {
  chain: Chain;
  /** Wallet address: EVM lowercase, Solana as it is. */
  trader: string;
  /** Contract address or mint; on hyperliquid the coin's symbol. EVM lowercase. */
  token: string;
  tokenSymbol?: string;
  tokenName?: string;
  /** Total token supply, where known; makes a market cap out of a price. */
  tokenSupply?: number;
  side: 'buy' | 'sell';
  /** Perps: which position the trade belongs to. `null` on spot. */
  direction: 'long' | 'short' | null;
  /** Perps: notional divided by margin. 1 on spot. */
  leverage: number;
  /** Tokens, > 0; on perps the full (leveraged) size. */
  amount: number;
  /** USD value, >= 0; on perps the notional. */
  usd: number;
  atMs: number;
  /** Transaction hash, or `null` where the source kept none. */
  tx: string | null;
  orderId?: string;
  /** Tokens held (unsigned) before this trade in its own position, when the source says so (exchange fills). */
  startAmount?: number;
  /** What tells this row from another row with the same other fields: the same row twice is one trade. */
  rowKey: string;
}

/** What a trade that happens now says of itself; the rest follows from the moment and the chain. */
export interface LiveTrade {
  chain: Chain;
  trader: string;
  token: string;
  side: 'buy' | 'sell';
  amount: number;
  usd: number;
  direction?: 'long' | 'short' | null | undefined;
  leverage?: number | undefined;
  /** Transaction hash, or the order id on hyperliquid; made up where absent. */
  tx?: string | undefined;
}

/** A trade that happened, and how many deliveries it made. */
export interface MadeTrade {
  chain: string;
  trader: string;
  token: string;
  side: string;
  amount: number;
  usd: number;
  /** Unix seconds. */
  timestamp: number;
  transactionHash: string;
  positionId: string;
  deliveries: number;
}
