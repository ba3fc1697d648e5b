import { randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { local } from '../../contract/endpoint.ts';
import { usageError } from '../../errors.ts';
import { encodeBase58, isEvmAddress, normalizeAddress } from '../../model/address.ts';
import { type Chain, chains } from '../../model/chain.ts';
import { chainSchema } from '../../model/chain-schema.ts';
import { walletSchema } from '../../model/identifier.ts';
import { moreChains } from '../db/clock.ts';
import type { Db } from '../db/store.ts';
import { storeTradeEvents } from '../deliver/events.ts';
import { digestOf } from '../seeded.ts';
import { matchCopies } from '../social/comments.ts';
import { addWallet, storedToken } from '../social/lookup.ts';
import { type AddedTrade, heldOf, openLines } from './position-lines.ts';
import { openFromUsd } from './positions.ts';
import { type LiveTrade, type MadeTrade, oneOf, type Trade } from './trade.ts';
import { ownString } from './trade-text.ts';

export interface AddCounts {
  added: number;
  /** Rows that were already there: the same row twice is one trade. */
  repeated: number;
}

/**
 * Stores trades and updates their positions, all or nothing. A trade that is older than its position's latest makes that one line of
 * positions start over. `liveAtMs`: they happen now, by the sandbox's clock, so webhooks get their events.
 */
export function addTrades(db: Db, trades: readonly Trade[], liveAtMs?: number): AddCounts {
  return db.transaction(() => {
    if (liveAtMs !== undefined) for (const trade of trades) endIfClosed(db, trade);
    const book = openBook(db);
    const result = book.add(trades);
    const ids = book.finish();
    if (liveAtMs !== undefined) storeTradeEvents(db, ids, liveAtMs);
    return result;
  });
}

/**
 * Ends the position of a trade's line where answers call it closed by its price alone: who buys again enters a new one, which what is left of
 * this one begins.
 */
function endIfClosed(db: Db, { trader, chain, token, direction }: Trade): void {
  db.run(
    `UPDATE position SET state = json_set(state, '$.exited', json('true'), '$.closedByPrice', json('true'))
     WHERE wallet = ? AND chain = ? AND token = ? AND direction = ? AND superseded = 0 AND amount > 0 AND NOT state ->> '$.exited'
       AND amount * (SELECT k.price FROM token k WHERE k.chain = position.chain AND k.address = position.token) < ?`,
    [trader, chain, token, direction ?? '', openFromUsd],
  );
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

interface Book {
  /** Stores trades; their positions follow with `finish` at the latest. */
  add: (trades: readonly Trade[]) => AddCounts;
  /** Stores the positions that are held in memory, so that their indexes can be made next. */
  savePositions: () => void;
  /** Stores positions, tokens and wallets as the trades left them; gives the ids of the new trades, in the order they came. */
  finish: () => number[];
}

interface BookOptions {
  /** Positions held in memory, about 1 KB each; the ones that came first are stored first. */
  maxHeld?: number;
  /** Takes those trades out of a lot that are stored already, by the digests of their row keys; the database is asked where absent. */
  dropStored?: (lot: Map<string, Trade>) => void;
}

/** Call all of it in one transaction. It holds no more than one lot of trades and `maxHeld` positions in memory. */
export function openBook(db: Db, { maxHeld = 300_000, dropStored = queryStored(db) }: BookOptions = {}): Book {
  const lines = openLines(db, maxHeld);
  const tokens = new Map<Chain, Map<string, TokenAfter>>();
  const tokensOf = (chain: Chain) => {
    const known = tokens.get(chain) ?? new Map<string, TokenAfter>();
    tokens.set(chain, known);
    return known;
  };
  const wallets = new Map<string, number>();
  const ids: number[] = [];
  return {
    add: (trades) => {
      const lot = new Map<string, Trade>();
      for (const trade of trades) {
        const rowKey = digestOf(trade.rowKey);
        if (!lot.has(rowKey)) lot.set(rowKey, trade);
      }
      dropStored(lot);
      const ordered = [...lot].sort(([, a], [, b]) => a.atMs - b.atMs);
      for (const [rowKey, trade] of ordered) {
        ids.push(insertTrade(db, trade, rowKey, lines.add(trade)));
        updateToken(tokensOf(trade.chain), trade);
        if (!wallets.has(trade.trader)) wallets.set(trade.trader, trade.atMs);
      }
      return { added: ordered.length, repeated: trades.length - ordered.length };
    },
    savePositions: lines.save,
    finish: () => {
      for (const ofChain of tokens.values()) for (const token of ofChain.values()) saveToken(db, token);
      for (const [trader, atMs] of wallets) addWallet(db, trader, atMs);
      lines.finish();
      matchCopies(db, ids);
      return ids;
    },
  };
}

function queryStored(db: Db): NonNullable<BookOptions['dropStored']> {
  return (lot) => {
    const stored = db.all<{ rowKey: string }>(`SELECT row_key AS rowKey FROM trade WHERE row_key ${oneOf}`, [
      JSON.stringify([...lot.keys()]),
    ]);
    for (const { rowKey } of stored) lot.delete(rowKey);
  };
}

/** Keeps the digests of all stored trades in memory, some 90 bytes each: for many trades, and while their index is away. */
export function rememberStored(db: Db): NonNullable<BookOptions['dropStored']> {
  const known = new Set<string>();
  const step = 10_000;
  for (let last: number | undefined = 0; last !== undefined; ) {
    const rows: { id: number; rowKey: string }[] = db.all(
      'SELECT id, row_key AS rowKey FROM trade WHERE id > ? ORDER BY id LIMIT ?',
      [last, step],
    );
    for (const { rowKey } of rows) known.add(rowKey);
    last = rows.at(-1)?.id;
  }
  return (lot) => {
    for (const rowKey of lot.keys()) {
      if (known.has(rowKey)) lot.delete(rowKey);
      known.add(rowKey);
    }
  };
}

function insertTrade(db: Db, trade: Trade, rowKey: string, { positionId, effect }: AddedTrade): number {
  return db.insert(
    `INSERT INTO trade (row_key, chain, wallet, token, side, direction, leverage, amount, usd, start_amount, at_ms, tx, order_id,
      position_id, intent, realized_usd, margin_cost_usd, held_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      rowKey,
      trade.chain,
      trade.trader,
      trade.token,
      trade.side,
      trade.direction ?? '',
      trade.leverage,
      trade.amount,
      trade.usd,
      trade.startAmount ?? null,
      trade.atMs,
      trade.tx,
      trade.orderId ?? null,
      positionId,
      effect.intent,
      effect.realizedUsd,
      effect.marginCostUsd,
      heldOf(effect),
    ],
  );
}

interface TokenAfter {
  chain: string;
  address: string;
  symbol: string | null;
  name: string | null;
  supply: number | null;
  price: number;
  priceMs: number;
}

function updateToken(tokens: Map<string, TokenAfter> | undefined, trade: Trade): void {
  const { chain, token: address, atMs } = trade;
  const empty = { chain, address, symbol: null, name: null, supply: null, price: 0, priceMs: atMs };
  const token: TokenAfter = tokens?.get(address) ?? empty;
  if (token === empty) tokens?.set(address, token);
  token.symbol = ownText(trade.tokenSymbol, token.symbol);
  token.name = ownText(trade.tokenName, token.name);
  token.supply = trade.tokenSupply ?? token.supply;
  if (atMs < token.priceMs) return;
  token.price = trade.usd / trade.amount;
  token.priceMs = atMs;
}

function ownText(text: string | undefined, before: string | null): string | null {
  return text === undefined || text === before ? before : ownString(text);
}

function saveToken(db: Db, { chain, address, symbol, name, supply, price, priceMs }: TokenAfter): void {
  db.run(
    `INSERT INTO token (chain, address, symbol, name, supply, price, price_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (chain, address) DO UPDATE SET
       symbol = coalesce(excluded.symbol, symbol), name = coalesce(excluded.name, name), supply = coalesce(excluded.supply, supply),
       price = CASE WHEN excluded.price_ms >= coalesce(price_ms, 0) THEN excluded.price ELSE price END,
       price_ms = max(excluded.price_ms, coalesce(price_ms, 0))`,
    [chain, address, symbol, name, supply, price, priceMs],
  );
}
