import { randomInt, randomUUID } from 'node:crypto';
import { encodeBase58, isEvmAddress, normalizeAddress } from '../../model/address.ts';
import type { Chain } from '../../model/chain.ts';
import type { Db } from '../db/store.ts';
import type { Random } from '../random.ts';
import { addTrades } from './add-trades.ts';
import type { Trade } from './trade.ts';

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

/** A live trade as it is stored: its own row, at the sandbox's time. */
export function liveTrade(trade: LiveTrade, atMs: number): Trade {
  const isPerp = trade.chain === 'hyperliquid';
  const mark = trade.tx ?? madeHash(trade.chain);
  const isOrder = isPerp && !mark.startsWith('0x');
  return {
    chain: trade.chain,
    trader: normalizeAddress(trade.trader),
    token: isEvmAddress(trade.token) ? trade.token.toLowerCase() : trade.token,
    side: trade.side,
    direction: isPerp ? (trade.direction ?? 'long') : null,
    leverage: isPerp ? (trade.leverage ?? 1) : 1,
    amount: trade.amount,
    usd: trade.usd,
    atMs,
    tx: isOrder ? null : mark,
    ...(isOrder ? { orderId: mark } : {}),
    rowKey: `live:${randomUUID()}`,
  };
}

function madeHash(chain: Chain): string {
  const bytes = new Uint8Array(chain === 'solana' ? 64 : 32);
  crypto.getRandomValues(bytes);
  if (chain === 'hyperliquid') return String(randomInt(1e11, 9e11));
  return chain === 'solana' ? encodeBase58(bytes) : `0x${Buffer.from(bytes).toString('hex')}`;
}

/** A wallet that trades a token. */
export interface Market {
  chain: Chain;
  trader: string;
  token: string;
  direction: '' | 'long' | 'short';
  price: number;
}

/** Who trades what in this world, for trades that are made up; empty in an empty world. */
export function knownMarkets(db: Db): Market[] {
  return db.all<Market>(
    `SELECT p.chain, p.wallet AS trader, p.token, p.direction, k.price FROM position p JOIN token k ON k.chain = p.chain AND k.address = p.token
     WHERE p.superseded = 0 AND k.price > 0 ORDER BY p.latest_ms / 1000 DESC, p.id LIMIT 2000`,
  );
}

const buyShare = 0.65;

/** A made-up trade in one of the markets: mostly buys, at a price near the last; a sell gives up part of what is held. */
export function makeTrade(db: Db, { chain, trader, token, direction, price }: Market, random: Random): LiveTrade {
  const held = db.get<{ amount: number }>(
    'SELECT amount FROM position WHERE wallet = ? AND chain = ? AND token = ? AND direction = ? AND superseded = 0',
    [trader, chain, token, direction],
  );
  const isShort = direction === 'short';
  const enters = random.chance(buyShare) || held === undefined || held.amount * price < 1;
  const at = price * random.between(0.97, 1.03);
  const amount = enters ? random.between(20, 2500) / at : held.amount * random.between(0.2, 1);
  const side = enters !== isShort ? 'buy' : 'sell';
  return {
    chain,
    trader,
    token,
    side,
    amount,
    usd: amount * at,
    direction: direction === '' ? null : direction,
    leverage: direction === '' ? 1 : random.whole(1, 10),
  };
}

/** What came of live trades. */
export interface LiveResult {
  trades: number;
  /** Deliveries that they made for webhooks. */
  deliveries: number;
}

/** Stores trades that happen now, with the deliveries they make, all or nothing. */
export function addLiveTrades(db: Db, trades: readonly Trade[], nowMs: number): LiveResult {
  const newest = () => db.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM delivery')?.seq ?? 0;
  return db.transaction(() => {
    const before = newest();
    const { added } = addTrades(db, trades, nowMs);
    return { trades: added, deliveries: newest() - before };
  });
}
