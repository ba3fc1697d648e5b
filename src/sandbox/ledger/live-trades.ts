import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { encodeBase58, isSolanaAddress, normalizeAddress, tokenProblem } from '../../api/address.ts';
import { type Chain, chains } from '../../api/chain.ts';
import { usageError } from '../../errors.ts';
import { moreChains, secondsOf } from '../db/settings.ts';
import type { Db } from '../db/store.ts';
import { storedToken } from '../service/identifiers.ts';
import { addTrades } from './add-trades.ts';
import { type LiveTrade, type MadeTrade, positionId, type Trade } from './trade.ts';

/** `flag` is put before the names of inputs. Errors: `usage` for a trader or a token of another chain, and for what only perps have. */
export function checkLiveTrade({ chain, trader, token, direction, leverage }: LiveTrade, flag = ''): void {
  if (isSolanaAddress(trader) !== (chain === 'solana'))
    throw usageError(`${flag}trader ${trader}: no wallet of ${chain} has such an address`);
  if (chain !== 'hyperliquid' && (direction !== undefined || leverage !== undefined))
    throw usageError(`${flag}direction and ${flag}leverage are for hyperliquid, not for ${chain}`, 'Omit them.');
  const problem = tokenProblem(chain, token);
  if (problem !== undefined) throw usageError(`${flag}token ${token.slice(0, 100)}: ${problem}`);
}

/** Makes a checked trade happen, with everything that follows; `nowMs` as stored in tables. */
export function addTradeNow(db: Db, input: LiveTrade, nowMs: number): MadeTrade {
  const known = [...chains, ...moreChains(db)];
  if (!known.includes(input.chain))
    throw usageError(
      `chain ${input.chain}: must be one of ${known.join(', ')}`,
      'sotra sandbox start --chains names more.',
    );
  const trade = liveTrade({ ...input, token: storedToken(db, input.chain, input.token) }, nowMs);
  const { chain, trader, token, side, amount, usd, rowKey } = trade;
  const before = findStored(db, rowKey);
  if (before !== undefined && (before.amount !== amount || before.usd !== usd))
    throw usageError(
      `tx ${input.tx}: this trade already exists, with ${before.amount} tokens for ${before.usd} USD`,
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
    timestamp: secondsOf(db)(stored?.atMs ?? nowMs),
    transactionHash: trade.tx ?? trade.orderId ?? '',
    positionId: stored?.positionId ?? '',
    deliveries,
    isRepeated: before !== undefined,
  };
}

function findStored(db: Db, rowKey: string) {
  return db.get<{ atMs: number; amount: number; usd: number; positionId: string }>(
    `SELECT at_ms AS atMs, amount, usd, ${positionId} AS positionId FROM trade t WHERE row_key = ?`,
    [rowKey],
  );
}

function madeHash(chain: Chain): string {
  if (chain === 'hyperliquid') return String(randomInt(1e11, 9e11));
  return chain === 'solana' ? encodeBase58(randomBytes(64)) : `0x${randomBytes(32).toString('hex')}`;
}

/** Stores trades that happen now, whatever time they name, with the deliveries they make for webhooks, all or nothing; gives the number of both. */
export function addLiveTrades(db: Db, trades: readonly Trade[], nowMs: number): { trades: number; deliveries: number } {
  const newest = () => db.value<number>('SELECT max(id) FROM outbox') ?? 0;
  return db.transaction(() => {
    const before = newest();
    const now = trades.map((trade) => ({ ...trade, atMs: nowMs }));
    const { added } = addTrades(db, now, nowMs);
    return { trades: added, deliveries: newest() - before };
  });
}

/** A live trade as it is stored: its own row, at the sandbox's time. */
export function liveTrade({ chain, side, amount, usd, tx, ...given }: LiveTrade, atMs: number): Trade {
  const isPerp = chain === 'hyperliquid';
  const hash = tx ?? madeHash(chain);
  const isOrder = isPerp && !hash.startsWith('0x');
  const [trader, token] = [normalizeAddress(given.trader), normalizeAddress(given.token)];
  const direction = isPerp ? (given.direction ?? 'long') : null;
  // A transaction may hold several swaps: one by each trader in each token, on each side and, on perps, in each direction.
  const swap = [hash.startsWith('0x') ? hash.toLowerCase() : hash, trader, token, side, direction ?? ''];
  return {
    chain,
    trader,
    token,
    side,
    direction,
    leverage: isPerp ? (given.leverage ?? 1) : 1,
    amount,
    usd,
    atMs,
    tx: isOrder ? null : hash,
    ...(isOrder ? { orderId: hash } : {}),
    rowKey: tx === undefined ? `live:${randomUUID()}` : `live:${chain}:${swap.join(' ')}`,
  };
}
