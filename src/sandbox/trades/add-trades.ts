import { createHexSet } from '../../model/address-set.ts';
import { type Chain, chains } from '../../model/chain.ts';
import { digestDigits, digestOf } from '../db/ids.ts';
import type { Db } from '../db/store.ts';
import { noteTrades } from '../deliver/events.ts';
import { matchCopies } from '../social/copies.ts';
import { addWallet } from '../social/profiles.ts';
import { touchFigures } from './figures.ts';
import { heldOf, openLines, type Taken } from './position-lines.ts';
import type { Trade } from './trade.ts';
import { ownString } from './trade-text.ts';

export interface Added {
  /** Trades that were new. */
  added: number;
  /** Rows that were already there: the same row twice is one trade. */
  repeated: number;
}

/**
 * Stores trades and updates the positions they belong to, those and no others; all or nothing. Trades are taken in time order;
 * one that is older than its position's latest makes that one line of positions start over from its own trades. `liveAtMs`: they happen
 * now, by the sandbox's clock, so webhooks are told of them.
 */
export function addTrades(db: Db, trades: readonly Trade[], liveAtMs?: number): Added {
  return db.transaction(() => {
    const book = openBook(db);
    const result = book.add(trades);
    const ids = book.finish();
    if (liveAtMs !== undefined) noteTrades(db, ids, liveAtMs);
    return result;
  });
}

/** Trades on their way into the database, one lot after another. */
export interface Book {
  /** Stores trades; their positions follow with `finish` at the latest. */
  add: (trades: readonly Trade[]) => Added;
  /** Stores the positions that are held in memory, so that their indexes can be made next. */
  savePositions: () => void;
  /** Stores positions, tokens and wallets as the trades left them; gives the ids of the new trades, in the order they came. */
  finish: () => number[];
}

/** Positions that a book holds in memory, about 1 KB each; the ones that came first are stored first. */
const maxHeld = 300_000;

interface BookOptions {
  /** Positions held in memory. */
  most?: number;
  /** How trades are told that are stored already; the database is asked where absent. */
  dropStored?: DropStored;
}

/** Takes those trades out of a lot that are stored already, by the digests of their row keys. */
type DropStored = (lot: Map<string, Trade>) => void;

/**
 * Opens a book; call all of it in one transaction. It takes no more memory than one lot of trades and so many positions, however many
 * trades come.
 */
export function openBook(db: Db, { most = maxHeld, dropStored = byQuestion(db) }: BookOptions = {}): Book {
  const lines = openLines(db, most);
  const tokens = new Map<Chain, Map<string, TokenAfter>>(chains.map((chain) => [chain, new Map()]));
  const wallets = new Map<string, number>();
  const ids: number[] = [];
  const store = (trade: Trade, rowKey: string): number => {
    const id = insertTrade(db, trade, rowKey, lines.take(trade));
    noteToken(tokens.get(trade.chain), trade);
    if (!wallets.has(trade.trader)) wallets.set(trade.trader, trade.atMs);
    return id;
  };
  return {
    add: (trades) => {
      const fresh = newTrades(trades, dropStored);
      const ordered = [...fresh].sort(([, a], [, b]) => a.atMs - b.atMs);
      for (const [rowKey, trade] of ordered) ids.push(store(trade, rowKey));
      return { added: ordered.length, repeated: trades.length - ordered.length };
    },
    savePositions: lines.save,
    finish: () => {
      for (const ofChain of tokens.values()) for (const token of ofChain.values()) updateToken(db, token);
      for (const [trader, atMs] of wallets) addWallet(db, trader, atMs);
      lines.finish();
      touchFigures(db, [...wallets.keys()]);
      matchCopies(db, ids);
      return ids;
    },
  };
}

/** The trades that are not stored yet, by the digest of their row key; the same row twice is one. */
function newTrades(trades: readonly Trade[], dropStored: DropStored): Map<string, Trade> {
  const lot = new Map<string, Trade>();
  for (const trade of trades) {
    const rowKey = digestOf(trade.rowKey);
    if (!lot.has(rowKey)) lot.set(rowKey, trade);
  }
  dropStored(lot);
  return lot;
}

function byQuestion(db: Db): DropStored {
  return (lot) => {
    const stored = db.all<{ rowKey: string }>(
      'SELECT row_key AS rowKey FROM trade WHERE row_key IN (SELECT value FROM json_each(?))',
      [JSON.stringify([...lot.keys()])],
    );
    for (const { rowKey } of stored) lot.delete(rowKey);
  };
}

/** Keeps the digests of all stored trades in memory, some 30 bytes each: for many trades, and while their index is away. */
export function byMemory(db: Db): DropStored {
  const known = createHexSet(digestDigits);
  const step = 10_000;
  for (let last = 0; ; ) {
    const rows = db.all<{ id: number; rowKey: string }>(
      'SELECT id, row_key AS rowKey FROM trade WHERE id > ? ORDER BY id LIMIT ?',
      [last, step],
    );
    for (const { rowKey } of rows) known.add(rowKey, 0);
    const end = rows.at(-1);
    if (end === undefined) break;
    last = end.id;
  }
  return (lot) => {
    for (const rowKey of lot.keys()) if (!known.add(rowKey, 0)) lot.delete(rowKey);
  };
}

function insertTrade(db: Db, trade: Trade, rowKey: string, { positionId, effect }: Taken): number {
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

/** What is known of a token after its trades. */
interface TokenAfter {
  chain: string;
  address: string;
  symbol: string | null;
  name: string | null;
  supply: number | null;
  price: number;
  priceMs: number;
}

function noteToken(tokens: Map<string, TokenAfter> | undefined, trade: Trade): void {
  const known = tokens?.get(trade.token);
  const token = known ?? newToken(trade);
  if (known === undefined) tokens?.set(trade.token, token);
  token.symbol = ownText(trade.tokenSymbol, token.symbol);
  token.name = ownText(trade.tokenName, token.name);
  token.supply = trade.tokenSupply ?? token.supply;
  if (trade.atMs >= token.priceMs) {
    token.price = trade.usd / trade.amount;
    token.priceMs = trade.atMs;
  }
}

/** The text where it is another than before, as one that stands for itself. */
function ownText(text: string | undefined, before: string | null): string | null {
  return text === undefined || text === before ? before : ownString(text);
}

function newToken({ chain, token, atMs }: Trade): TokenAfter {
  return { chain, address: token, symbol: null, name: null, supply: null, price: 0, priceMs: atMs };
}

function updateToken(db: Db, { chain, address, symbol, name, supply, price, priceMs }: TokenAfter): void {
  db.run(
    `INSERT INTO token (chain, address, symbol, name, supply, price, price_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (chain, address) DO UPDATE SET
       symbol = coalesce(excluded.symbol, symbol), name = coalesce(excluded.name, name), supply = coalesce(excluded.supply, supply),
       price = CASE WHEN excluded.price_ms >= coalesce(price_ms, 0) THEN excluded.price ELSE price END,
       price_ms = max(excluded.price_ms, coalesce(price_ms, 0))`,
    [chain, address, symbol, name, supply, price, priceMs],
  );
}
