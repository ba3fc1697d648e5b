import { randomUUID } from 'node:crypto';
import { dayMs } from '../../api/duration.ts';
import type { buyReasons, EventType } from '../../api/webhook.ts';
import { addToOutbox } from '../../lib/outbox.ts';
import { worldOffset } from '../db/settings.ts';
import type { Db } from '../db/store.ts';
import { sandboxPartners } from '../db/world.ts';
import { groupBy, oneOf, type StoredTrade, tradeColumns } from '../ledger/trade.ts';
import { isAt, readCards } from '../service/cards.ts';
import type { Partner } from '../service/handler.ts';
import type { Json } from '../service/profiles.ts';

/** Trades older than this make no events, so that an import sends none (wire-facts 4.3: receivers skip them anyway). */
const freshMs = 300_000;

export type EventSource =
  | { type: 'new-feed-item'; reason: string; trade: StoredTrade }
  | { type: 'comment-created'; commentId: string; trade: StoredTrade }
  | { type: 'copyswap'; commentId: string; trade: StoredTrade; copy: StoredTrade };

/**
 * Stores the events of new trades: noteworthy buys for those who follow the trader, copies for the author of the copied comment. Call it in
 * the transaction that stores the trades.
 */
export function storeTradeEvents(db: Db, tradeIds: readonly number[], nowMs: number): void {
  if (!hasWebhooks(db)) return;
  const trades = db.all<StoredTrade>(
    `SELECT ${tradeColumns} FROM trade t WHERE t.id ${oneOf} AND t.at_ms >= ? ORDER BY t.at_ms, t.id`,
    [JSON.stringify(tradeIds), nowMs - freshMs],
  );
  for (const trade of trades) {
    const reason = decideReason(db, trade);
    if (reason !== undefined) storeEvents(db, { type: 'new-feed-item', reason, trade }, nowMs);
    for (const commentId of db.values<string>('SELECT comment_id FROM intent WHERE trade_id = ?', [trade.id])) {
      const commented = commentedTrade(db, commentId);
      if (commented !== undefined)
        storeEvents(db, { type: 'copyswap', commentId, trade: commented, copy: trade }, nowMs);
    }
  }
}

/** Earlier buys that are looked at; with more in the window, the earlier ones change no reason. */
const maxBuys = 5000;
/** The counter of a trader and token ends after this long without a buy (wire-facts 4.1). */
const buyWindowMs = 14 * dayMs;
const repeatUsd = 1000;
const apedInFactor = 1.4;

/**
 * Why a buy makes a feed item: `first-buy` in the window, `repeat-buy` if it takes the window's sum over $1,000, `aped-in` above 1.4
 * times its average buy; `undefined` otherwise. Source: wire-facts 4.1; the order among the reasons is assumed.
 */
function decideReason(db: Db, trade: StoredTrade): (typeof buyReasons)[number] | undefined {
  if (trade.side !== 'buy' || trade.intent !== 'enter') return undefined;
  const earlier = db.all<{ atMs: number; usd: number }>(
    `SELECT at_ms AS atMs, usd FROM trade WHERE wallet = ? AND chain = ? AND token = ? AND side = 'buy' AND intent = 'enter'
       AND (at_ms < ? OR (at_ms = ? AND id < ?)) ORDER BY at_ms DESC, id DESC LIMIT ${maxBuys}`,
    [trade.wallet, trade.chain, trade.token, trade.atMs, trade.atMs, trade.id],
  );
  let [count, sumUsd, nextMs] = [0, 0, trade.atMs];
  for (const { atMs, usd } of earlier) {
    if (nextMs - atMs > buyWindowMs) break;
    count += 1;
    sumUsd += usd;
    nextMs = atMs;
  }
  if (count === 0) return 'first-buy';
  if (sumUsd < repeatUsd && sumUsd + trade.usd >= repeatUsd) return 'repeat-buy';
  return trade.usd > apedInFactor * (sumUsd / count) ? 'aped-in' : undefined;
}

/** Stores the event of a new comment, for those who follow its author. Call it in the transaction that stores the comment. */
export function storeCommentEvent(db: Db, commentId: string, nowMs: number): void {
  const trade = hasWebhooks(db) ? commentedTrade(db, commentId) : undefined;
  if (trade !== undefined) storeEvents(db, { type: 'comment-created', commentId, trade }, nowMs);
}

const isOfPosition = '(?1 IS NULL OR t.position_key = (SELECT key FROM position WHERE id = ?1))';

const newest: Readonly<Record<EventType, string>> = {
  'new-feed-item': `SELECT t.id AS tradeId FROM trade t WHERE t.side = 'buy' AND ${isOfPosition}
    ORDER BY t.at_ms DESC, t.id DESC`,
  'comment-created': `SELECT t.id AS tradeId, c.id AS commentId FROM comment c JOIN trade t ON t.id = c.trade_id
    WHERE ${isOfPosition} ORDER BY c.at_ms DESC, c.id`,
  copyswap: `SELECT t.id AS tradeId, c.id AS commentId, b.id AS copyId FROM copy k JOIN comment c ON c.id = k.comment_id
      JOIN trade t ON t.id = c.trade_id JOIN trade b ON b.wallet = k.wallet AND b.at_ms = k.at_ms
    WHERE ${isOfPosition} ORDER BY k.at_ms DESC, k.id, b.id`,
};

/** The subject of the newest event of a type, optionally of one position, or of the one `before` places earlier. */
export function findEventSource(
  db: Db,
  type: EventType,
  { position, before = 0 }: { position?: string | undefined; before?: number } = {},
): EventSource | undefined {
  const found = db.get<{ tradeId: number; commentId: string; copyId: number }>(`${newest[type]} LIMIT 1 OFFSET ?2`, [
    position ?? null,
    before,
  ]);
  const [trade, copy] = [found?.tradeId, found?.copyId].map((id) => readTrade(db, id));
  if (found === undefined || trade === undefined) return undefined;
  if (type === 'new-feed-item') return { type, reason: 'first-buy', trade };
  const { commentId } = found;
  if (type === 'comment-created') return { type, commentId, trade };
  return copy && { type, commentId, trade, copy };
}

function readTrade(db: Db, id: number | undefined): StoredTrade | undefined {
  return db.get<StoredTrade>(`SELECT ${tradeColumns} FROM trade t WHERE t.id = ?`, [id ?? null]);
}

function hasWebhooks(db: Db): boolean {
  return db.get('SELECT 1 FROM webhook LIMIT 1') !== undefined;
}

function commentedTrade(db: Db, commentId: string): StoredTrade | undefined {
  const sql = `SELECT ${tradeColumns} FROM comment c JOIN trade t ON t.id = c.trade_id WHERE c.id = ?`;
  return db.get<StoredTrade>(sql, [commentId]);
}

function storeEvents(db: Db, source: EventSource, nowMs: number): void {
  const { wallet } = source.trade;
  const partsByPartner = new Map<string, Json>();
  for (const [webhookId, rows] of listAudiences(db, source.type === 'copyswap' ? author : followers, wallet)) {
    const [{ id, suffix }] = rows;
    const parts = partsByPartner.get(id) ?? eventParts(db, source, { id, suffix }, nowMs);
    partsByPartner.set(id, parts);
    const subscribers = rows.map(({ address }) => address);
    storeEvent(db, webhookId, makeEvent(source.type, parts, subscribers), nowMs);
  }
}

/** Stores an event with its delivery; gives its number. */
export function storeEvent(db: Db, webhookId: number, event: Json, nowMs: number): number {
  return db.transaction(() => {
    const seq = db.insert('INSERT INTO event (id, webhook_id, type, body, at_ms) VALUES (?, ?, ?, ?, ?)', [
      String(event['eventId']),
      webhookId,
      String(event['eventType']),
      JSON.stringify(event),
      nowMs,
    ]);
    addToOutbox(db, { item: seq, queue: '' }, [webhookId]);
    return seq;
  });
}

/** A whole event for subscribed addresses and `ext:` ids, ready to be stored or sent; its id is new at every call. Source: wire-facts 4.1. */
export function makeEvent(eventType: EventType, parts: Json, subscribers: readonly string[]): Json {
  const externalIds = subscribers.filter((each) => each.startsWith('ext:')).map((each) => each.slice('ext:'.length));
  const walletAddresses = subscribers.filter((each) => !each.startsWith('ext:'));
  return {
    eventId: randomUUID(),
    eventType,
    walletAddresses,
    ...(externalIds.length === 0 ? {} : { externalIds }),
    ...parts,
  };
}

/** An event for a webhook and up to five of its subscribed addresses; without a webhook for nobody, with the names of the first partner. */
export function makeWebhookEvent(
  db: Db,
  source: EventSource,
  webhook: { id: number; partnerId: string } | undefined,
  nowMs: number,
): Json {
  const partner = sandboxPartners.find(({ id }) => id === webhook?.partnerId) ?? sandboxPartners[0];
  const subscribers = 'SELECT address FROM webhook_wallet WHERE webhook_id = ? LIMIT 5';
  return makeEvent(source.type, eventParts(db, source, partner, nowMs), db.values(subscribers, [webhook?.id ?? null]));
}

export function eventParts(db: Db, source: EventSource, partner: Partner, nowMs: number): Json {
  const feedItem = readCard(db, source.trade, partner, nowMs);
  if (source.type === 'new-feed-item') return { reason: source.reason, feedItem };
  const comment = tradesIn(feedItem)
    .flatMap((trade) => (trade['comments'] as Json[] | undefined) ?? [])
    .find((each) => each['uid'] === source.commentId);
  if (source.type === 'comment-created') return { feedItem, comment };
  const copied = readCard(db, source.copy, partner, nowMs);
  const clockMs = source.copy.atMs + worldOffset(db);
  const copyswapTrade = tradesIn(copied).find((trade) => isAt(trade, clockMs) && trade['usdCost'] === source.copy.usd);
  return { feedItem, comment, copyswapActor: copied['actor'], copyswapTrade };
}

function readCard(db: Db, trade: StoredTrade, partner: Partner, nowMs: number): Json {
  return readCards({ db, partner, nowMs }, [trade.positionId])[0] ?? {};
}

function tradesIn(card: Json): Json[] {
  return (card['metadata'] as { trades?: Json[] } | undefined)?.trades ?? [];
}

interface AudienceRow extends Partner {
  webhookId: number;
  address: string;
}

/** What may be subscribed for those who follow the holder of a wallet, in each partner's own graph. */
const followers = `SELECT f.partner_id AS partner, w.address AS address FROM wallet t JOIN follow f ON f.target_id = t.profile_id
    JOIN wallet w ON w.profile_id = f.follower_id WHERE t.address = ?1
  UNION SELECT f.partner_id, 'ext:' || e.external_id FROM wallet t JOIN follow f ON f.target_id = t.profile_id
    JOIN external e ON e.profile_id = f.follower_id AND e.partner_id = f.partner_id WHERE t.address = ?1`;

/** The same for the holder. */
const author = `SELECT id AS partner, ?1 AS address FROM partner
  UNION SELECT e.partner_id, 'ext:' || e.external_id FROM wallet t JOIN external e ON e.profile_id = t.profile_id WHERE t.address = ?1`;

/** The webhooks that are subscribed for some, each with its partner and the addresses and ids. */
function listAudiences(db: Db, subscriber: string, wallet: string) {
  const rows = db.all<AudienceRow>(
    `WITH subscriber AS (${subscriber})
     SELECT h.id AS webhookId, p.id, p.suffix, s.address FROM subscriber s
       JOIN webhook_wallet x ON x.address = s.address JOIN webhook h ON h.id = x.webhook_id AND h.partner_id = s.partner
       JOIN partner p ON p.id = h.partner_id ORDER BY h.id, s.address`,
    [wallet],
  );
  return groupBy(rows, ({ webhookId }) => webhookId);
}
