import { randomUUID } from 'node:crypto';
import type { Db } from '../db/store.ts';
import type { Partner } from '../http/service.ts';
import { cardsOf } from '../social/cards.ts';
import { buyReason } from './noteworthy.ts';

type Json = Record<string, unknown>;

/** Trades older than this make no events, so that nobody is told of an import (wire-facts 4.3: receivers skip them anyway). */
const freshMs = 300_000;

/** Event kinds, as wire-facts 4.1 names them. */
export type EventType = 'new-feed-item' | 'comment-created' | 'copyswap';

/** Who is told of an event: the subscribed ids of one webhook. */
interface Audience {
  webhookId: number;
  partner: Partner;
  walletAddresses: string[];
  externalIds: string[];
}

/** What happened, with the rows it is made of. */
export type Happening =
  | { type: 'new-feed-item'; reason: string; trade: EventTrade }
  | { type: 'comment-created'; commentId: string; trade: EventTrade }
  | { type: 'copyswap'; commentId: string; trade: EventTrade; copy: EventTrade };

/** The parts of a stored trade that events need. */
export interface EventTrade {
  id: number;
  positionId: string;
  wallet: string;
  chain: string;
  token: string;
  side: string;
  intent: string;
  usd: number;
  atMs: number;
}

const tradeColumns =
  't.id, t.position_id AS positionId, t.wallet, t.chain, t.token, t.side, t.intent, t.usd, t.at_ms AS atMs';

/**
 * Stores the events of new trades, to be delivered: noteworthy buys for those who follow the trader, copies for the author of the
 * copied comment. Call it in the transaction that stores the trades. Trades older than five minutes make none.
 */
export function noteTrades(db: Db, tradeIds: readonly number[], nowMs: number): void {
  if (!hasWebhooks(db)) return;
  const trades = db.all<EventTrade>(
    `SELECT ${tradeColumns} FROM trade t WHERE t.id IN (SELECT value FROM json_each(?)) AND t.at_ms >= ? ORDER BY t.at_ms, t.id`,
    [JSON.stringify(tradeIds), nowMs - freshMs],
  );
  for (const trade of trades) {
    const reason = buyReason(db, trade);
    if (reason !== undefined) note(db, { type: 'new-feed-item', reason, trade }, nowMs);
    for (const { commentId } of db.all<{ commentId: string }>(
      'SELECT comment_id AS commentId FROM intent WHERE trade_id = ?',
      [trade.id],
    ))
      noteCopy(db, commentId, trade, nowMs);
  }
}

/** Stores the event of a new comment, for those who follow its author. Call it in the transaction that stores the comment. */
export function noteComment(db: Db, commentId: string, nowMs: number): void {
  const trade = hasWebhooks(db) ? commentedTrade(db, commentId) : undefined;
  if (trade !== undefined) note(db, { type: 'comment-created', commentId, trade }, nowMs);
}

function noteCopy(db: Db, commentId: string, copy: EventTrade, nowMs: number): void {
  const trade = commentedTrade(db, commentId);
  if (trade !== undefined) note(db, { type: 'copyswap', commentId, trade, copy }, nowMs);
}

function hasWebhooks(db: Db): boolean {
  return db.get('SELECT 1 FROM webhook LIMIT 1') !== undefined;
}

/** The trade that a comment is about. */
export function commentedTrade(db: Db, commentId: string): EventTrade | undefined {
  return db.get<EventTrade>(`SELECT ${tradeColumns} FROM comment c JOIN trade t ON t.id = c.trade_id WHERE c.id = ?`, [
    commentId,
  ]);
}

function note(db: Db, happening: Happening, nowMs: number): void {
  const audiences =
    happening.type === 'copyswap' ? subscribers(db, happening.trade.wallet) : followers(db, happening.trade.wallet);
  const items = new Map<string, Json>();
  for (const audience of audiences) {
    const parts = items.get(audience.partner.id) ?? eventParts(db, happening, audience.partner, nowMs);
    items.set(audience.partner.id, parts);
    storeEvent(db, audience.webhookId, eventOf(happening.type, parts, audience), nowMs);
  }
}

/** Puts an event into a webhook's row of deliveries and gives the delivery's number. */
export function storeEvent(db: Db, webhookId: number, event: Json, nowMs: number): number {
  return db.transaction(() => {
    db.run('INSERT INTO event (id, webhook_id, type, body, at_ms) VALUES (?, ?, ?, ?, ?)', [
      String(event['eventId']),
      webhookId,
      String(event['eventType']),
      JSON.stringify(event),
      nowMs,
    ]);
    return db.insert("INSERT INTO delivery (webhook_id, event_id, state) VALUES (?, ?, 'waiting')", [
      webhookId,
      String(event['eventId']),
    ]);
  });
}

/** A whole event, ready to be stored or sent; its id is new at every call. Source: wire-facts 4.1. */
export function eventOf(
  eventType: EventType,
  parts: Json,
  { walletAddresses, externalIds }: Pick<Audience, 'walletAddresses' | 'externalIds'>,
): Json {
  const external = externalIds.length === 0 ? {} : { externalIds };
  return { eventId: randomUUID(), eventType, walletAddresses, ...external, ...parts };
}

/** What an event says beside its id and audience, as one partner sees it. */
export function eventParts(db: Db, happening: Happening, partner: Partner, nowMs: number): Json {
  const feedItem = cardOf(db, happening.trade, partner, nowMs);
  if (happening.type === 'new-feed-item') return { reason: happening.reason, feedItem };
  const comment = tradesIn(feedItem)
    .flatMap((trade) => (trade['comments'] as Json[] | undefined) ?? [])
    .find((each) => each['uid'] === happening.commentId);
  if (happening.type === 'comment-created') return { feedItem, comment };
  const copied = cardOf(db, happening.copy, partner, nowMs);
  const sec = Math.floor(happening.copy.atMs / 1000);
  const copyswapTrade = tradesIn(copied).find(
    (trade) => trade['timestamp'] === sec && trade['usdCost'] === happening.copy.usd,
  );
  return { feedItem, comment, copyswapActor: copied['actor'], copyswapTrade };
}

function cardOf(db: Db, trade: EventTrade, partner: Partner, nowMs: number): Json {
  const options = { partner, nowMs, trades: 'all', replies: false, transactionHash: true } as const;
  return cardsOf(db, [trade.positionId], options)[0] ?? {};
}

function tradesIn(card: Json): Json[] {
  return (card['metadata'] as { trades?: Json[] } | undefined)?.trades ?? [];
}

interface AudienceRow {
  webhookId: number;
  partnerId: string;
  suffix: string;
  address: string;
}

/** Webhooks with subscribed ids that follow the holder of a wallet, in their own partner's graph. */
function followers(db: Db, wallet: string): Audience[] {
  return group(
    db.all<AudienceRow>(
      `WITH subscriber AS (
         SELECT f.partner_id AS partner, w.address AS address FROM wallet t JOIN follow f ON f.target_id = t.profile_id
           JOIN wallet w ON w.profile_id = f.follower_id WHERE t.address = ?1
         UNION SELECT f.partner_id, 'ext:' || e.external_id FROM wallet t JOIN follow f ON f.target_id = t.profile_id
           JOIN external e ON e.profile_id = f.follower_id AND e.partner_id = f.partner_id WHERE t.address = ?1)
       SELECT h.id AS webhookId, p.id AS partnerId, p.suffix, s.address FROM subscriber s
         JOIN webhook_wallet x ON x.address = s.address JOIN webhook h ON h.id = x.webhook_id AND h.partner_id = s.partner
         JOIN partner p ON p.id = h.partner_id ORDER BY h.id, s.address`,
      [wallet],
    ),
  );
}

/** Webhooks that a wallet itself, or its holder's own id with a partner, is subscribed to. */
function subscribers(db: Db, wallet: string): Audience[] {
  return group(
    db.all<AudienceRow>(
      `SELECT h.id AS webhookId, p.id AS partnerId, p.suffix, x.address FROM webhook_wallet x JOIN webhook h ON h.id = x.webhook_id
         JOIN partner p ON p.id = h.partner_id
       WHERE x.address = ?1 OR x.address IN (SELECT 'ext:' || e.external_id FROM wallet t JOIN external e
         ON e.profile_id = t.profile_id WHERE t.address = ?1 AND e.partner_id = h.partner_id) ORDER BY h.id, x.address`,
      [wallet],
    ),
  );
}

function group(rows: readonly AudienceRow[]): Audience[] {
  const audiences = new Map<number, Audience>();
  for (const { webhookId, partnerId, suffix, address } of rows) {
    const known = audiences.get(webhookId);
    const audience = known ?? { webhookId, partner: { id: partnerId, suffix }, walletAddresses: [], externalIds: [] };
    audiences.set(webhookId, audience);
    if (address.startsWith('ext:')) audience.externalIds.push(address.slice('ext:'.length));
    else audience.walletAddresses.push(address);
  }
  return [...audiences.values()];
}
