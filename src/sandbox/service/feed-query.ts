import type { Chain } from '../../api/chain.ts';
import { type Db, newestTradeId, type SqlValue } from '../db/store.ts';
import { oneOf } from '../ledger/trade.ts';

/**
 * A place in a feed: newest first by the second of a card's latest trade, then by id. Two places lie between cards instead of
 * on one: id `''` before all cards of its second, `~` behind them.
 */
export interface FeedPlace {
  atSec: number;
  id: string;
}

export function isAbove(a: FeedPlace, b: FeedPlace): boolean {
  return a.atSec > b.atSec || (a.atSec === b.atSec && a.id < b.id);
}

export interface FeedScope {
  wallets: readonly string[];
  extra?: readonly string[];
  chains: readonly Chain[];
  onlyWithComments?: boolean | undefined;
  minTradeUsd?: number | undefined;
  /** Market cap at the card's latest trade, in USD; a card of a token without a known supply is omitted. */
  minMarketCap?: number | undefined;
  maxMarketCap?: number | undefined;
}

export interface Reach {
  way: 'older' | 'newer';
  /** Exclusive; absent: from the top. */
  from?: FeedPlace;
  count: number;
}

/** Up to so many wallets are asked for one by one, each along its index; for more, the feed of all is read through. */
const fewWallets = 200;

type Condition = readonly [sql: string, ...params: SqlValue[]];

/**
 * The cards that lie nearest to a place, nearest first, each where its latest trade of the snapshot puts it; filters look at those trades
 * alone.
 */
export function nearestCards(db: Db, scope: FeedScope, snapshot: number, reach: Reach): FeedPlace[] {
  for (;;) {
    const newest = newestTradeId(db);
    const found = readNearest(db, scope, { snapshot, newest }, reach);
    // A trade that another process stored while we read may have moved a card past the place we read at: read again.
    if (newestTradeId(db) === newest) return found;
  }
}

function readNearest(
  db: Db,
  scope: FeedScope,
  { snapshot, newest }: { snapshot: number; newest: number },
  reach: Reach,
): FeedPlace[] {
  const moved = tradedBetween(db, snapshot, newest);
  const conditions: Condition[] = [
    ...filters(scope, snapshot),
    ...(moved.length === 0 ? [] : [[`p.id NOT ${oneOf}`, JSON.stringify(moved)] as const]),
    ...pastStart(reach),
  ];
  const found = sources(scope).flatMap((source) => readPlaces(db, [source, ...conditions], reach));
  const back = findPlaces(db, scope, snapshot, moved).filter((place) => isPastStart(reach, place));
  return arrange([...found, ...back], reach);
}

/** The cards among the given ones that a feed holds, each at its place in the order of a snapshot; those without trades by then are omitted. */
export function findPlaces(db: Db, scope: FeedScope, snapshot: number, ids: readonly string[]): FeedPlace[] {
  if (ids.length === 0) return [];
  const { sql, params } = where([
    [`p.id ${oneOf}`, JSON.stringify(ids)],
    [`(p.wallet ${oneOf} OR p.id ${oneOf})`, JSON.stringify(scope.wallets), JSON.stringify(scope.extra ?? [])],
    ...filters(scope, snapshot),
  ]);
  const rows = db.all<{ id: string; atMs: number | null }>(
    `SELECT p.id, (SELECT max(t.at_ms) FROM trade t WHERE t.position_id = p.id AND t.id <= ?) AS atMs
     FROM position p JOIN token k ON k.chain = p.chain AND k.address = p.token WHERE ${sql}`,
    [snapshot, ...params],
  );
  return rows.flatMap(({ id, atMs }) => (atMs === null ? [] : [{ id, atSec: Math.floor(atMs / 1000) }]));
}

/** Ids of the cards that traded after one snapshot and up to another. */
export function tradedBetween(db: Db, after: number, upTo: number): string[] {
  return db.values<string>('SELECT DISTINCT position_id FROM trade WHERE id > ? AND id <= ?', [after, upTo]);
}

/** The places nearest to where a page begins, nearest first, as many as it holds. */
export function arrange(places: readonly FeedPlace[], { way, count }: Pick<Reach, 'way' | 'count'>): FeedPlace[] {
  const sign = way === 'older' ? 1 : -1;
  return [...places].sort((a, b) => sign * (isAbove(a, b) ? -1 : 1)).slice(0, count);
}

function readPlaces(db: Db, conditions: readonly Condition[], { way, count }: Reach): FeedPlace[] {
  const { sql, params } = where(conditions);
  const order = way === 'older' ? 'p.latest_ms / 1000 DESC, p.id' : 'p.latest_ms / 1000, p.id DESC';
  return db.all<FeedPlace & Record<string, SqlValue>>(
    `SELECT p.id, p.latest_ms / 1000 AS atSec FROM position p JOIN token k ON k.chain = p.chain AND k.address = p.token
     WHERE ${sql} ORDER BY ${order} LIMIT ?`,
    [...params, count],
  );
}

function sources({ wallets, extra = [] }: FeedScope): Condition[] {
  const listed: Condition[] =
    extra.length === 0
      ? []
      : [[`p.id ${oneOf} AND p.wallet NOT ${oneOf}`, JSON.stringify(extra), JSON.stringify(wallets)]];
  // The plus keeps the index of single wallets out, so that the feed is read in its own order.
  if (wallets.length > fewWallets) return [[`+p.wallet ${oneOf}`, JSON.stringify(wallets)], ...listed];
  return [...wallets.map((wallet): Condition => ['p.wallet = ?', wallet]), ...listed];
}

function pastStart({ way, from }: Reach): Condition[] {
  if (from === undefined) return [];
  return way === 'older'
    ? [['p.latest_ms / 1000 <= ? AND (p.latest_ms / 1000 < ? OR p.id > ?)', from.atSec, from.atSec, from.id]]
    : [['p.latest_ms / 1000 >= ? AND (p.latest_ms / 1000 > ? OR p.id < ?)', from.atSec, from.atSec, from.id]];
}

function isPastStart({ way, from }: Reach, place: FeedPlace): boolean {
  return from === undefined || (way === 'older' ? isAbove(from, place) : isAbove(place, from));
}

function filters(scope: FeedScope, snapshot: number): Condition[] {
  const { chains, onlyWithComments, minTradeUsd, minMarketCap, maxMarketCap } = scope;
  const marketCap = `k.supply * (SELECT t.usd / t.amount FROM trade t WHERE t.position_id = p.id AND t.id <= ?
    ORDER BY t.at_ms DESC, t.id DESC LIMIT 1)`;
  const commented = 'EXISTS (SELECT 1 FROM trade t JOIN comment c ON c.trade_id = t.id WHERE t.position_id = p.id)';
  const large = 'EXISTS (SELECT 1 FROM trade t WHERE t.position_id = p.id AND t.usd >= ? AND t.id <= ?)';
  const conditions: Condition[] = [[`p.chain ${oneOf}`, JSON.stringify(chains)]];
  if (onlyWithComments === true) conditions.push([commented]);
  if (minTradeUsd !== undefined) conditions.push([large, minTradeUsd, snapshot]);
  if (minMarketCap !== undefined) conditions.push([`${marketCap} >= ?`, snapshot, minMarketCap]);
  if (maxMarketCap !== undefined) conditions.push([`${marketCap} < ?`, snapshot, maxMarketCap]);
  return conditions;
}

function where(conditions: readonly Condition[]): { sql: string; params: SqlValue[] } {
  return { sql: conditions.map(([sql]) => sql).join(' AND '), params: conditions.flatMap(([, ...params]) => params) };
}
