import type { Chain } from '../../model/chain.ts';
import type { Db, SqlValue } from '../db/store.ts';
import { oneOf } from '../trades/trade.ts';

/**
 * A place in a feed: newest first by the second of a card's latest trade, then by id. Two places lie between cards instead of
 * on one: id `''` before all cards of its second, `~` behind them.
 */
export interface FeedPlace {
  atSec: number;
  id: string;
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

interface Reach {
  way: 'older' | 'newer';
  /** Exclusive; absent: from the top. */
  from?: FeedPlace | undefined;
  count: number;
}

/** Up to so many wallets are asked for one by one, each along its index; for more, the feed of all is read through. */
const fewWallets = 200;

type SqlPart = readonly [sql: string, ...params: SqlValue[]];

/**
 * The cards that lie nearest to a place, nearest first, each where its latest trade of the snapshot puts it; filters look at those trades
 * alone.
 */
export function nearestCards(db: Db, scope: FeedScope, snapshot: number, reach: Reach): FeedPlace[] {
  const read = (second: SqlPart, ...conditions: SqlPart[]) =>
    readPlaces(db, second, [...conditions, ...filters(scope, snapshot)], reach);
  const moved = 'IN (SELECT position_id FROM trade WHERE id > ?)';
  const found = sources(scope).flatMap((source) =>
    read(['p.latest_ms / 1000'], source, [`p.id NOT ${moved}`, snapshot]),
  );
  // Read last: a card that another process moves meanwhile is found twice, and never missed.
  const back = read(
    ['(SELECT max(t.at_ms) FROM trade t WHERE t.position_id = p.id AND t.id <= ?) / 1000', snapshot],
    [`p.id ${moved}`, snapshot],
    [`(p.wallet ${oneOf} OR p.id ${oneOf})`, JSON.stringify(scope.wallets), JSON.stringify(scope.extra ?? [])],
  );
  const sign = reach.way === 'older' ? 1 : -1;
  return [...new Map([...found, ...back].map((place) => [place.id, place])).values()]
    .sort((a, b) => sign * (b.atSec - a.atSec || (a.id < b.id ? -1 : 1)))
    .slice(0, reach.count);
}

function readPlaces(
  db: Db,
  [second, ...values]: SqlPart,
  conditions: readonly SqlPart[],
  { way, from, count }: Reach,
): FeedPlace[] {
  const [past, order] =
    way === 'older'
      ? ['AND atSec <= ? AND (atSec < ? OR p.id > ?)', 'atSec DESC, p.id']
      : ['AND atSec >= ? AND (atSec > ? OR p.id < ?)', 'atSec, p.id DESC'];
  return db.all<FeedPlace>(
    `SELECT p.id, ${second} AS atSec FROM position p JOIN token k ON k.chain = p.chain AND k.address = p.token
     WHERE atSec IS NOT NULL AND ${conditions.map(([sql]) => sql).join(' AND ')} ${from === undefined ? '' : past}
     ORDER BY ${order} LIMIT ?`,
    [
      ...values,
      ...conditions.flatMap(([, ...params]) => params),
      ...(from === undefined ? [] : [from.atSec, from.atSec, from.id]),
      count,
    ],
  );
}

function sources({ wallets, extra = [] }: FeedScope): SqlPart[] {
  const listed: SqlPart[] =
    extra.length === 0
      ? []
      : [[`p.id ${oneOf} AND p.wallet NOT ${oneOf}`, JSON.stringify(extra), JSON.stringify(wallets)]];
  // The plus keeps the index of single wallets out, so that the feed is read in its own order.
  if (wallets.length > fewWallets) return [[`+p.wallet ${oneOf}`, JSON.stringify(wallets)], ...listed];
  return [...wallets.map((wallet): SqlPart => ['p.wallet = ?', wallet]), ...listed];
}

function filters(scope: FeedScope, snapshot: number): SqlPart[] {
  const { chains, onlyWithComments, minTradeUsd, minMarketCap, maxMarketCap } = scope;
  const marketCap = `k.supply * (SELECT t.usd / t.amount FROM trade t WHERE t.position_id = p.id AND t.id <= ?
    ORDER BY t.at_ms DESC, t.id DESC LIMIT 1)`;
  const commented = 'EXISTS (SELECT 1 FROM trade t JOIN comment c ON c.trade_id = t.id WHERE t.position_id = p.id)';
  const large = 'EXISTS (SELECT 1 FROM trade t WHERE t.position_id = p.id AND t.usd >= ? AND t.id <= ?)';
  const conditions: SqlPart[] = [[`p.chain ${oneOf}`, JSON.stringify(chains)]];
  if (onlyWithComments === true) conditions.push([commented]);
  if (minTradeUsd !== undefined) conditions.push([large, minTradeUsd, snapshot]);
  if (minMarketCap !== undefined) conditions.push([`${marketCap} >= ?`, snapshot, minMarketCap]);
  if (maxMarketCap !== undefined) conditions.push([`${marketCap} < ?`, snapshot, maxMarketCap]);
  return conditions;
}
