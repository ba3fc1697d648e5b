import type { Chain } from '../../api/chain.ts';
import { local } from '../../api/endpoint.ts';
import { chainKind, walletKind } from '../../api/formats.ts';
import { choice, number, optional, text } from '../../api/kind.ts';

export interface Trade {
  chain: Chain;
  /** Wallet address: EVM lowercase, Solana as it is. */
  trader: string;
  /** Contract address or mint; on hyperliquid the coin's symbol. EVM lowercase. */
  token: string;
  tokenSymbol?: string;
  tokenName?: string;
  /** Total token supply, if known; price times supply is the market cap. */
  tokenSupply?: number;
  side: 'buy' | 'sell';
  direction: 'long' | 'short' | null;
  /** Perps: notional divided by margin. 1 on spot. */
  leverage: number;
  /** Tokens, > 0; on perps the full (leveraged) size. */
  amount: number;
  usd: number;
  atMs: number;
  tx: string | null;
  orderId?: string;
  /** Tokens held (unsigned) before this trade in its own position, when the source says so (exchange fills). */
  startAmount?: number | undefined;
  /** What tells this row from another row with the same other fields: the same row twice is one trade. */
  rowKey: string;
}

/** A trade that happens now. */
export interface LiveTrade extends Pick<Trade, 'chain' | 'trader' | 'token' | 'side' | 'amount' | 'usd'> {
  direction?: 'long' | 'short' | undefined;
  leverage?: number | undefined;
  /** Transaction hash, or the order id on hyperliquid; random if absent. */
  tx?: string | undefined;
}

/** The parameters of a trade that is made now. */
export const tradeParams = {
  chain: local(chainKind, 'chain'),
  trader: local(walletKind, 'wallet of the trader'),
  token: local(text(), 'contract address or mint; on hyperliquid the symbol', { takesAddress: 'token' }),
  side: local(choice(['buy', 'sell']), 'side'),
  amount: local(number(1e-60, 1e60), 'number of tokens; on hyperliquid with leverage'),
  usd: local(number(0, 1e60), 'value in US dollars'),
  direction: local(optional(choice(['long', 'short'])), 'hyperliquid: direction (default: long)'),
  leverage: local(optional(number(1)), 'hyperliquid: size divided by margin (default: 1)'),
  tx: local(optional(text()), 'transaction hash, or order id on hyperliquid (default: random)', {
    valueName: 'hash',
  }),
};

/** A trade that happened, and how many deliveries it made. */
export interface MadeTrade extends Omit<LiveTrade, 'direction' | 'leverage' | 'tx'> {
  /** Unix seconds. */
  timestamp: number;
  transactionHash: string;
  positionId: string;
  deliveries: number;
  /** The same trade was there before: nothing was added. */
  isRepeated: boolean;
}

/** SQL condition: the value is in a list, given as `JSON.stringify(list)`. */
export const oneOf = 'IN (SELECT value FROM json_each(?))';

/** The same with the list as a named parameter. */
export const inList = (name: string) => `IN (SELECT value FROM json_each(:${name}))`;

export interface StoredTrade
  extends Pick<Trade, 'chain' | 'token' | 'side' | 'leverage' | 'amount' | 'usd' | 'atMs' | 'tx'> {
  id: number;
  positionId: string;
  wallet: string;
  /** `''` on spot. */
  direction: '' | 'long' | 'short';
  startAmount: number | null;
  orderId: string | null;
  intent: 'enter' | 'exit';
}

/** The id of the position of a trade, of the table `trade t`. */
export const positionId = '(SELECT p.id FROM position p WHERE p.key = t.position_key)';

/** The columns of a StoredTrade, of the table `trade t`. */
export const tradeColumns = `t.id, ${positionId} AS positionId, t.chain, t.wallet, t.token, t.side, t.direction,
  t.leverage, t.amount, t.usd, t.start_amount AS startAmount, t.at_ms AS atMs, t.tx, t.order_id AS orderId, t.intent`;

/** Items by what `getKey` gives for them, in their order. */
export function groupBy<Item, Key>(items: Iterable<Item>, getKey: (item: Item) => Key): Map<Key, [Item, ...Item[]]> {
  const groups = new Map<Key, [Item, ...Item[]]>();
  for (const item of items) {
    const key = getKey(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
