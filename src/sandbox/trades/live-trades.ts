import { randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { local } from '../../contract/endpoint.ts';
import { usageError } from '../../errors.ts';
import { encodeBase58, isEvmAddress, normalizeAddress } from '../../model/address.ts';
import { type Chain, chains } from '../../model/chain.ts';
import { chainSchema, walletSchema } from '../../model/identifier.ts';
import { moreChains } from '../db/clock.ts';
import type { Db } from '../db/store.ts';
import { digestOf } from '../seeded.ts';
import { storedToken } from '../social/lookup.ts';
import { addTrades } from './add-trades.ts';
import type { LiveTrade, MadeTrade, Trade } from './trade.ts';

/** What a trade that happens now says of itself. */
export const tradeParams = {
  chain: local(chainSchema, 'where'),
  trader: local(walletSchema, 'wallet that trades'),
  token: local(z.string().min(1), 'contract address or mint; on hyperliquid the symbol', { takesAddress: 'token' }),
  side: local(z.enum(['buy', 'sell']), 'buy or sell'),
  amount: local(z.number().min(1e-60).max(1e60), 'tokens; on hyperliquid the full size, with leverage'),
  usd: local(z.number().min(0).max(1e60), 'value in US dollars'),
  direction: local(z.enum(['long', 'short']).optional(), 'hyperliquid: which position (default: long)'),
  leverage: local(z.number().min(1).optional(), 'hyperliquid: size divided by margin (default: 1)'),
  tx: local(z.string().min(1).optional(), 'transaction hash, or order id on hyperliquid (default: a random one)'),
};

/** `flag` stands before the names of inputs. Errors: `usage` for what only perps have. */
export function checkLiveTrade({ chain, direction, leverage }: LiveTrade, flag = ''): void {
  if (chain !== 'hyperliquid' && (direction !== undefined || leverage !== undefined))
    throw usageError(`${flag}direction and ${flag}leverage are for hyperliquid, not for ${chain}`, 'Omit them.');
}

/** Makes a checked trade happen at a time of the sandbox, with everything that follows. */
export function addTradeNow(db: Db, input: LiveTrade, nowMs: number): MadeTrade {
  const known = [...chains, ...moreChains(db)];
  if (!known.includes(input.chain))
    throw usageError(
      `chain ${input.chain}: must be one of ${known.join(', ')}`,
      'sotra sandbox start --chains names more.',
    );
  const trade = liveTrade({ ...input, token: storedToken(db, input.chain, input.token) }, nowMs);
  const { chain, trader, token, side, amount, usd } = trade;
  const rowKey = digestOf(trade.rowKey);
  const before = findStored(db, rowKey);
  if (before !== undefined && (before.amount !== amount || before.usd !== usd))
    throw usageError(
      `tx ${input.tx}: this trade is there already, of ${before.amount} tokens for ${before.usd} USD`,
      'Repeat it as it was, or give another hash.',
    );
  const { deliveries } = addLiveTrades(db, [trade], nowMs);
  const stored = findStored(db, rowKey);
  return {
    chain,
    trader,
    token,
    side,
    amount,
    usd,
    timestamp: Math.floor((stored?.atMs ?? nowMs) / 1000),
    transactionHash: trade.tx ?? trade.orderId ?? '',
    positionId: stored?.positionId ?? '',
    deliveries,
    isRepeated: before !== undefined,
  };
}

function findStored(db: Db, rowKey: string) {
  return db.get<{ atMs: number; amount: number; usd: number; positionId: string }>(
    'SELECT at_ms AS atMs, amount, usd, position_id AS positionId FROM trade WHERE row_key = ?',
    [rowKey],
  );
}

function madeHash(chain: Chain): string {
  const bytes = new Uint8Array(chain === 'solana' ? 64 : 32);
  crypto.getRandomValues(bytes);
  if (chain === 'hyperliquid') return String(randomInt(1e11, 9e11));
  return chain === 'solana' ? encodeBase58(bytes) : `0x${Buffer.from(bytes).toString('hex')}`;
}

/** Stores trades that happen now, with the deliveries they make for webhooks, all or nothing; gives the number of both. */
export function addLiveTrades(db: Db, trades: readonly Trade[], nowMs: number): { trades: number; deliveries: number } {
  const newest = () => db.get<{ seq: number | null }>('SELECT max(seq) AS seq FROM delivery')?.seq ?? 0;
  return db.transaction(() => {
    const before = newest();
    const { added } = addTrades(db, trades, nowMs);
    return { trades: added, deliveries: newest() - before };
  });
}

/** A live trade as it is stored: its own row, at the sandbox's time. */
export function liveTrade(trade: LiveTrade, atMs: number): Trade {
  const isPerp = trade.chain === 'hyperliquid';
  const hash = trade.tx ?? madeHash(trade.chain);
  const isOrder = isPerp && !hash.startsWith('0x');
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
    tx: isOrder ? null : hash,
    ...(isOrder ? { orderId: hash } : {}),
    rowKey: trade.tx === undefined ? `live:${randomUUID()}` : typedKey(trade, trade.tx),
  };
}

/** A transaction may hold several swaps: one by each trader in each token and on each side. */
function typedKey({ chain, trader, token, side }: LiveTrade, tx: string): string {
  const parts = [tx.startsWith('0x') ? tx.toLowerCase() : tx, normalizeAddress(trader), normalizeAddress(token), side];
  return `live:${chain}:${parts.join(' ')}`;
}
