import type { Card } from '../../api/answers.ts';
import type { Chain } from '../../api/chain.ts';
import { parseTime } from '../../api/duration.ts';
import * as endpoints from '../../api/feed.ts';
import { answersAsClicker, worldOffset } from '../db/settings.ts';
import type { Db, SqlValue } from '../db/store.ts';
import { rankProfiles, windowMs } from '../ledger/figures.ts';
import { oneOf } from '../ledger/trade.ts';
import { isAt, readCards, withoutPerpAddress } from './cards.ts';
import { defaultLimits, type Handler, linkWith, type SandboxCall, ServiceRefusal } from './handler.ts';
import { expandChains, findProfile, followedBy, listWallets } from './identifiers.ts';

/** GET /v1/feed/actor: the cards of a profile's wallets; `forYouTrade` on recommended ones if asked for. */
export const actor: Handler<typeof endpoints.actor> = (input, call) => {
  const profileId = findProfile(call.db, input.identifier, call.partner);
  const wallets = listWallets(call.db, [profileId]);
  const trades = input.includeForYou === true ? recommendedTrades(call.db, profileId, wallets) : [];
  const recommended = new Map(trades.map((trade) => [trade.positionId, trade]));
  const { chains, minTradeUsd, minMarketCap, maxMarketCap } = input;
  const filter = { wallets, extra: [...recommended.keys()], chains, minTradeUsd, minMarketCap, maxMarketCap };
  const { items, pagination } = readPage(call, endpoints.actor, input, filter);
  return {
    items: items.map((card) => ({ ...card, ...forYou(card, recommended.get(card.itemId), worldOffset(call.db)) })),
    pagination,
  };
};

/** GET /v1/feed: the cards of the profiles that the given wallets' profiles follow in this partner's graph, all their wallets. */
export const home: Handler<typeof endpoints.home> = (input, call) => {
  const wallets = listWallets(call.db, [...followedBy(call, input.addresses)]);
  const { chains, onlyWithComments, minTradeUsd } = input;
  return readPage(call, endpoints.home, input, { wallets, chains, onlyWithComments, minTradeUsd });
};

interface PageInput {
  limit?: number | undefined;
  olderThan?: string | undefined;
  newerThan?: string | undefined;
}

interface FeedFilter {
  wallets: readonly string[];
  /** Cards beside those of the wallets. */
  extra?: readonly string[];
  chains?: readonly (Chain | 'all')[] | undefined;
  onlyWithComments?: boolean | undefined;
  minTradeUsd?: number | undefined;
  /** Market cap at the card's latest trade, in USD; a card of a token without a known supply is omitted. */
  minMarketCap?: number | undefined;
  maxMarketCap?: number | undefined;
}

/** A place in a list that is sorted by time, newest first, then by id; in a feed the time of a card's latest trade. */
export interface ListPosition {
  atMs: number;
  id: string;
}

/** `sinceMs`: the page and those after it end there. */
interface Cursor extends ListPosition {
  sinceMs?: number | undefined;
}

type Way = 'older' | 'newer';

/**
 * One page, newest first. Without a cursor the newest cards; `olderThan` those below it; `newerThan` with a cursor those right above it, with
 * a time the newest since then. A card that trades between two pages moves up. Errors: ServiceRefusal 400 for both directions at once.
 */
function readPage(
  call: SandboxCall,
  endpoint: typeof endpoints.actor | typeof endpoints.home,
  { olderThan, newerThan, limit = defaultLimits.feed }: PageInput,
  filter: FeedFilter,
) {
  if (olderThan !== undefined && newerThan !== undefined)
    throw new ServiceRefusal(400, 'olderThan and newerThan: only one of them may be given');
  const field = newerThan === undefined ? 'olderThan' : 'newerThan';
  const text = newerThan ?? olderThan;
  const cursor = text === undefined ? undefined : readCursor(call.db, field, text);
  const way = newerThan !== undefined && cursor?.sinceMs === undefined ? 'newer' : 'older';
  const found = findPlaces(call.db, filter, way, cursor, limit + 1);
  const shown = found.slice(0, limit);
  if (way === 'newer') shown.reverse();
  const [top, bottom] = [shown[0] ?? cursor, shown.at(-1) ?? cursor];
  const hasMore = (towards: Way, from: Cursor | undefined): from is Cursor =>
    from !== undefined &&
    (towards === way && shown.length > 0
      ? found.length > limit
      : findPlaces(call.db, filter, towards, from, 1).length > 0);
  const older = hasMore('older', bottom) ? writeCursor({ ...bottom, sinceMs: cursor?.sinceMs }) : null;
  const newer = hasMore('newer', top) ? writeCursor({ ...top, sinceMs: undefined }) : null;
  const ids = shown.map(({ id }) => id);
  const cards = readCards(call, ids);
  return {
    items: answersAsClicker(call.db) ? cards.map(withoutPerpAddress) : cards,
    pagination: {
      olderCursor: older,
      olderItemsURL: older && linkWith(call, endpoint, { olderThan: older, newerThan: null }),
      newerCursor: newer,
      newerItemsURL: newer && linkWith(call, endpoint, { olderThan: null, newerThan: newer }),
    },
  };
}

/** The cards nearest to a place, nearest first. */
function findPlaces(db: Db, filter: FeedFilter, way: Way, from: Cursor | undefined, count: number): ListPosition[] {
  const { wallets, extra = [], chains, onlyWithComments, minTradeUsd, minMarketCap, maxMarketCap } = filter;
  const latestPrice =
    'SELECT t.usd / t.amount FROM trade t WHERE t.position_key = p.key ORDER BY t.at_ms DESC, t.id DESC LIMIT 1';
  const commented = 'EXISTS (SELECT 1 FROM trade t JOIN comment c ON c.trade_id = t.id WHERE t.position_key = p.key)';
  const conditions: [sql: string, ...values: SqlValue[]][] = [
    [`p.chain ${oneOf}`, JSON.stringify(expandChains(db, chains))],
  ];
  if (onlyWithComments === true) conditions.push([commented]);
  if (minTradeUsd !== undefined)
    conditions.push(['EXISTS (SELECT 1 FROM trade t WHERE t.position_key = p.key AND t.usd >= ?)', minTradeUsd]);
  if (minMarketCap !== undefined) conditions.push([`k.supply * (${latestPrice}) >= ?`, minMarketCap]);
  if (maxMarketCap !== undefined) conditions.push([`k.supply * (${latestPrice}) < ?`, maxMarketCap]);
  const [before, after] = way === 'older' ? ['<', '>'] : ['>', '<'];
  if (from !== undefined)
    conditions.push([
      `(p.latest_ms ${before} ? OR p.latest_ms = ? AND p.id ${after} ?)`,
      from.atMs,
      from.atMs,
      from.id,
    ]);
  if (way === 'older' && from?.sinceMs !== undefined) conditions.push(['p.latest_ms > ?', from.sinceMs]);
  return db.all<ListPosition>(
    `WITH own AS (SELECT id FROM position WHERE wallet ${oneOf} UNION SELECT value FROM json_each(?))
     SELECT p.id, p.latest_ms AS atMs FROM own JOIN position p ON p.id = own.id
       JOIN token k ON k.chain = p.chain AND k.address = p.token
     WHERE ${conditions.map(([sql]) => sql).join(' AND ')}
     ORDER BY ${way === 'older' ? 'atMs DESC, p.id' : 'atMs, p.id DESC'} LIMIT ?`,
    [JSON.stringify(wallets), JSON.stringify(extra), ...conditions.flatMap(([, ...values]) => values), count],
  );
}

/** Above and below every id. */
const [aboveAll, belowAll] = ['', '~'];

/**
 * The place that `olderThan` or `newerThan` names: one of our cursors, or a time. `olderThan` starts below all cards of that second;
 * `newerThan` ends above them. Errors: ServiceRefusal 400 for other text.
 */
function readCursor(db: Db, field: 'olderThan' | 'newerThan', text: string): Cursor {
  const typedMs = parseTime(text);
  if (typedMs !== undefined) {
    const ofSecond = (second: number) => second * 1000 - worldOffset(db);
    if (field === 'olderThan') return { atMs: ofSecond(Math.ceil(typedMs / 1000)), id: belowAll };
    const sinceMs = ofSecond(Math.floor(typedMs / 1000) + 1) - 1;
    return { atMs: Number.MAX_SAFE_INTEGER, id: aboveAll, sinceMs };
  }
  const [, atMs, id = '', sinceMs] = cursorForm.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (atMs === undefined)
    throw new ServiceRefusal(
      400,
      `${field} ${JSON.stringify(text)}: neither a cursor of a feed nor a time in ISO 8601`,
    );
  return { atMs: Number(atMs), id, ...(sinceMs !== undefined && { sinceMs: Number(sinceMs) }) };
}

const cursorForm = /^(-?\d{1,16}):([\da-f-]{36}|~|)(?::(-?\d{1,16}))?$/;

export function writeCursor({ atMs, id, sinceMs }: Cursor): string {
  return Buffer.from([atMs, id, ...(sinceMs === undefined ? [] : [sinceMs])].join(':')).toString('base64url');
}

/**
 * The rule behind For You trades, assumed: of the ten traders with the best realized PnL of 7 days, their entries of these days into a token
 * the actor trades too, worth at least 500 USD and twice what the trader usually enters with.
 */
const bigEntry = { traders: 10, withinMs: windowMs['7d'], minUsd: 500, timesUsual: 2, max: 20 };

interface RecommendedTrade {
  positionId: string;
  atMs: number;
  usd: number;
  hash: string;
  /** How many times larger than the trader's average entry of the window. */
  score: number;
}

/** Trades recommended to an actor: at most one a card (the highest score), best first. The window ends with the newest trade. */
function recommendedTrades(db: Db, actorId: string, wallets: readonly string[]): RecommendedTrade[] {
  const newestMs = db.value<number>('SELECT max(at_ms) FROM trade');
  if (newestMs === undefined) return [];
  const best = rankProfiles(db, newestMs, { timeframe: '7d', limit: bigEntry.traders + 1 })
    .filter(({ profileId, total }) => profileId !== actorId && total > 0)
    .slice(0, bigEntry.traders)
    .map(({ profileId }) => profileId);
  return db.all<RecommendedTrade>(
    `WITH entry AS (
       SELECT t.*, w.profile_id FROM wallet w JOIN trade t ON t.wallet = w.address
       WHERE w.profile_id ${oneOf} AND t.at_ms > ? AND t.intent = 'enter'
     ), usual AS (SELECT profile_id, avg(usd) AS usd FROM entry GROUP BY profile_id)
     SELECT p.id AS positionId, e.at_ms AS atMs, e.usd, coalesce(e.tx, e.order_id, '') AS hash, max(e.usd / u.usd) AS score
     FROM entry e JOIN usual u ON u.profile_id = e.profile_id JOIN position p ON p.key = e.position_key
     WHERE e.usd >= ? AND e.usd >= ? * u.usd AND EXISTS (
       SELECT 1 FROM trade own WHERE own.chain = e.chain AND own.token = e.token AND own.wallet ${oneOf})
     GROUP BY p.id ORDER BY score DESC, p.id LIMIT ?`,
    [
      JSON.stringify(best),
      newestMs - bigEntry.withinMs,
      bigEntry.minUsd,
      bigEntry.timesUsual,
      JSON.stringify(wallets),
      bigEntry.max,
    ],
  );
}

function forYou(card: Card, trade: RecommendedTrade | undefined, offsetMs: number): Pick<Card, 'forYouTrade'> {
  if (trade === undefined) return {};
  const shown = card.metadata.trades.find(
    (each) =>
      isAt(each, trade.atMs + offsetMs) && each.usdCost === trade.usd && (each.transactionHash ?? '') === trade.hash,
  );
  if (shown === undefined) return {};
  const { comments: _, ...rest } = shown;
  return { forYouTrade: { ...rest, alphaTags: { big_entry: trade.score }, maxAlphaScore: trade.score } };
}
