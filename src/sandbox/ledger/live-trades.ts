import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { encodeBase58, normalizeAddress } from '../../api/address.ts';
import { type Chain, chains } from '../../api/chain.ts';
import { SotraError, usageError } from '../../errors.ts';
import type { Io } from '../../lib/io.ts';
import { moreChains, worldOffset } from '../db/settings.ts';
import type { Db } from '../db/store.ts';
import { digestText, type Random, randomFrom } from '../seeded.ts';
import { storedToken } from '../service/identifiers.ts';
import { addTrades } from './add-trades.ts';
import type { LiveTrade, MadeTrade, Trade } from './trade.ts';

/** `flag` stands before the names of inputs. Errors: `usage` for what only perps have. */
export function checkLiveTrade({ chain, direction, leverage }: LiveTrade, flag = ''): void {
  if (chain !== 'hyperliquid' && (direction !== undefined || leverage !== undefined))
    throw usageError(`${flag}direction and ${flag}leverage are for hyperliquid, not for ${chain}`, 'Omit them.');
}

/** Makes a checked trade happen, with everything that follows; `nowMs` as tables hold it. */
export function addTradeNow(db: Db, input: LiveTrade, nowMs: number): MadeTrade {
  const known = [...chains, ...moreChains(db)];
  if (!known.includes(input.chain))
    throw usageError(
      `chain ${input.chain}: must be one of ${known.join(', ')}`,
      'sotra sandbox start --chains names more.',
    );
  const trade = liveTrade({ ...input, token: storedToken(db, input.chain, input.token) }, nowMs);
  const { chain, trader, token, side, amount, usd } = trade;
  const rowKey = digestText(trade.rowKey);
  const before = findStored(db, rowKey);
  if (before !== undefined && (before.amount !== amount || before.usd !== usd))
    throw usageError(
      `tx ${input.tx}: this trade is there already, of ${before.amount} tokens for ${before.usd} USD`,
      'Repeat it as it was, or give another hash.',
    );
  const { deliveries } = addLiveTrades(db, [trade], nowMs);
  const stored = findStored(db, rowKey);
  return {
    ...{ chain, trader, token, side, amount, usd },
    timestamp: Math.floor(((stored?.atMs ?? nowMs) + worldOffset(db)) / 1000),
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
export function liveTrade(trade: LiveTrade, atMs: number): Trade {
  const isPerp = trade.chain === 'hyperliquid';
  const hash = trade.tx ?? madeHash(trade.chain);
  const isOrder = isPerp && !hash.startsWith('0x');
  const { chain, side, amount, usd } = trade;
  return {
    ...{ chain, side, amount, usd, atMs },
    trader: normalizeAddress(trade.trader),
    token: normalizeAddress(trade.token),
    direction: isPerp ? (trade.direction ?? 'long') : null,
    leverage: isPerp ? (trade.leverage ?? 1) : 1,
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

const tickMs = 20;
/** After a clock that was set ahead, or a machine that slept, what is due comes in parts: between them signals and deliveries have their turn. */
export const maxAtOnce = 1000;

/** What is due by the time since the beginning, until `take` gives nothing more, or the signal: what was made so far is still reported. */
export async function* paceTrades(
  { now, sleep, signal }: Pick<Io, 'now' | 'sleep' | 'signal'>,
  take: (elapsedMs: number) => Trade[] | undefined,
): AsyncGenerator<Trade[]> {
  const startMs = now();
  for (let due = take(0); due !== undefined && !signal.aborted; due = take(now() - startMs)) {
    if (due.length > 0) yield due;
    await sleep(due.length < maxAtOnce ? tickMs : 0, signal).catch(() => undefined);
  }
}

/** Made-up trades as they are due, until the time is over or the signal. Errors: `not-found` in a world without trades. */
export async function* madeTrades(
  db: Db,
  input: { perSec: number | undefined; forMs: number | undefined; seed?: string | undefined },
  io: Pick<Io, 'now' | 'random' | 'sleep' | 'signal'>,
): AsyncGenerator<Trade[]> {
  const markets = knownMarkets(db);
  if (markets.length === 0)
    throw new SotraError('not-found', 'this world has no trades to continue from', {
      hint: 'Import trades first (sotra sandbox import), use --replay, or the built-in world (sotra sandbox reset).',
    });
  const random: Random = randomFrom(input.seed ?? String(io.random()));
  const [perSec, forMs] = [input.perSec ?? 1, input.forMs ?? 60_000];
  let made = 0;
  yield* paceTrades(io, (elapsedMs) => {
    const left = Math.floor((Math.min(elapsedMs, forMs) / 1000) * perSec) - made;
    if (elapsedMs >= forMs && left <= 0) return undefined;
    const due = Math.min(Math.max(0, left), maxAtOnce);
    made += due;
    return Array.from({ length: due }, () => liveTrade(makeTrade(db, random.pick(markets), random), io.now()));
  });
}

interface Market {
  chain: Chain;
  trader: string;
  token: string;
  direction: '' | 'long' | 'short';
  price: number;
}

function knownMarkets(db: Db): Market[] {
  return db.all<Market>(
    `SELECT p.chain, p.wallet AS trader, p.token, p.direction, k.price FROM position p JOIN token k ON k.chain = p.chain AND k.address = p.token
     WHERE p.superseded = 0 AND k.price > 0 ORDER BY p.latest_ms DESC, p.id LIMIT 2000`,
  );
}

const buyShare = 0.65;

/** A made-up trade in one of the markets: mostly buys, at a price near the last; a sell gives up part of what is held. */
function makeTrade(db: Db, { chain, trader, token, direction, price }: Market, random: Random): LiveTrade {
  const held = db.value<number>(
    'SELECT amount FROM position WHERE wallet = ? AND chain = ? AND token = ? AND direction = ? AND superseded = 0',
    [trader, chain, token, direction],
  );
  const isShort = direction === 'short';
  const enters = random.chance(buyShare) || held === undefined || held * price < 1;
  const at = price * random.between(0.97, 1.03);
  const amount = enters ? random.between(20, 2500) / at : held * random.between(0.2, 1);
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
