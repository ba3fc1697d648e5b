import { allItems } from '../cli/endpoint-command.ts';
import type { Context } from '../context.ts';
import type { HourStats, StoredEvent } from '../inbox/inbox.ts';
import { normalizeAddress } from '../model/address.ts';
import { hourMs } from '../model/duration.ts';
import { isObject } from '../model/json.ts';
import { buyReason, buyWindowMs } from '../model/noteworthy-buy.ts';
import { type Card, cardSchema, type TradeItem } from '../model/position.ts';
import { counted, formatTime } from '../output/format.ts';
import { home as homeFeed } from '../resources/feed/endpoints.ts';

/** The cards of a wallet's home feed, back to where the reason of a buy since a time may reach. Errors: those of the calls. */
export async function* readFeed(wallet: string, sinceMs: number, context: Context): AsyncGenerator<Card> {
  const feed = allItems(homeFeed, { addresses: [wallet], chains: ['all'], limit: 100 }, context);
  for await (const items of feed as AsyncIterable<Card[]>) {
    yield* items;
    const last = items.at(-1);
    if (last !== undefined && (last.cardLatestTradeAt ?? 0) * 1000 < sinceMs - buyWindowMs) return;
  }
}

/** What a feed shows and a webhook should have been told of. */
export interface ExpectedEvent {
  key: string;
  kind: 'new-feed-item' | 'comment-created';
  /** Unix seconds. */
  at: number;
  /** Of a buy: `first-buy` and so on. */
  why: string | null;
  trader: string;
  chain: string;
  token: string;
  symbol: string | null;
  transactionHash: string | null;
  comment: string | null;
}

/** The buys and comments of feed cards that make events. A reason needs the buys of two weeks before. Source: wire-facts 4.1. */
export function expectEvents(cards: Iterable<Card>, sinceMs: number): ExpectedEvent[] {
  const expected: ExpectedEvent[] = [];
  const buys = new Map<string, { card: Card; trade: TradeItem }[]>();
  for (const card of cards) {
    const { actor, metadata } = card;
    const place = makePlaceKey(card);
    const own = new Set([actor.address, ...(actor.profile?.addresses ?? [])].map(normalizeAddress));
    for (const trade of metadata.trades) {
      if (trade.direction === 'buy' && (trade.intent ?? 'enter') === 'enter')
        buys.set(place, [...(buys.get(place) ?? []), { card, trade }]);
      for (const { uid, timestamp, signerAddress } of trade.comments ?? [])
        if (timestamp * 1000 >= sinceMs && own.has(normalizeAddress(signerAddress)))
          expected.push({
            ...describeTrade(card, trade),
            key: uid,
            kind: 'comment-created',
            at: timestamp,
            comment: uid,
          });
    }
  }
  for (const [place, list] of buys) {
    list.sort((a, b) => b.trade.timestamp - a.trade.timestamp);
    const sums = list.map(({ trade }) => ({ atMs: trade.timestamp * 1000, usd: trade.usdCost }));
    for (const [index, { card, trade }] of list.entries()) {
      const buy = sums[index];
      const why = buy === undefined || buy.atMs < sinceMs ? undefined : buyReason(buy, sums.slice(index + 1));
      if (why !== undefined)
        expected.push({ ...describeTrade(card, trade), key: tradeKey(place, trade), kind: 'new-feed-item', why });
    }
  }
  return expected.sort((a, b) => b.at - a.at);
}

function makePlaceKey({ actor, metadata }: Card): string {
  return [actor.address, metadata.tokenChain, metadata.tokenAddress].map(normalizeAddress).join(' ');
}

function tradeKey(place: string, { transactionHash, timestamp }: TradeItem): string {
  return `${place} ${transactionHash ?? ''} ${timestamp}`;
}

function describeTrade({ actor, metadata }: Card, { timestamp, transactionHash = null }: TradeItem) {
  const { tokenChain: chain, tokenAddress: token, tokenSymbol: symbol = null } = metadata;
  return { at: timestamp, why: null, trader: actor.address, chain, token, symbol, transactionHash, comment: null };
}

/** What an event is about, as the key of what was expected; `undefined` for other kinds and events of another shape. */
export function makeEventKey({ eventType, event }: Pick<StoredEvent, 'eventType' | 'event'>): string | undefined {
  const { comment, feedItem } = event;
  if (eventType === 'comment-created') return isObject(comment) ? String(comment['uid']) : undefined;
  const card = cardSchema.safeParse(feedItem);
  const [trade] = card.data?.metadata.trades ?? [];
  return eventType !== 'new-feed-item' || card.data === undefined || trade === undefined
    ? undefined
    : tradeKey(makePlaceKey(card.data), trade);
}

/** Whom an event is for: wallets and `ext:` ids, as they are uploaded. */
export function listAudience({ event }: Pick<StoredEvent, 'event'>): string[] {
  const texts = (value: unknown) => (Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []);
  return [
    ...texts(event['walletAddresses']).map(normalizeAddress),
    ...texts(event['externalIds']).map((id) => `ext:${id}`),
  ];
}

export interface ReceivedEvent {
  eventId: string;
  key: string;
  atMs: number;
}

export interface Finding extends Omit<ExpectedEvent, 'key'> {
  state: 'missing' | 'late' | 'doubled' | 'pending';
  /** Seconds from the trade or comment to the first delivery. */
  delay: number | null;
  eventIds: string[];
  /** Why, where it can be known. */
  reason: string | null;
}

interface Circumstances {
  nowMs: number;
  lateMs: number;
  hours: readonly HourStats[];
}

/** What is missing, late or doubled. */
export function compareEvents(
  expected: readonly ExpectedEvent[],
  received: readonly ReceivedEvent[],
  circumstances: Circumstances,
): Finding[] {
  const byKey = new Map<string, ReceivedEvent[]>();
  for (const one of received) byKey.set(one.key, [...(byKey.get(one.key) ?? []), one]);
  const times = received.map(({ atMs }) => atMs).sort((a, b) => a - b);
  const { nowMs, lateMs } = circumstances;
  return expected.flatMap(({ key, ...facts }): Finding[] => {
    const came = byKey.get(key) ?? [];
    const eventIds = came.map(({ eventId }) => eventId);
    const atMs = facts.at * 1000;
    if (came.length === 0) {
      const isPending = nowMs - atMs < lateMs;
      const state = isPending ? 'pending' : 'missing';
      const reason = isPending ? 'it may still come' : whyMissing(atMs, times, circumstances);
      return [{ ...facts, state, delay: null, eventIds, reason }];
    }
    const delay = Math.round((Math.min(...came.map((one) => one.atMs)) - atMs) / 1000);
    if (came.length > 1) {
      const reason = `${came.length} events with ids of their own tell of it`;
      return [{ ...facts, state: 'doubled', delay, eventIds, reason }];
    }
    return delay * 1000 > lateMs ? [{ ...facts, state: 'late', delay, eventIds, reason: null }] : [];
  });
}

/** No delivery for so long on both sides: the listener may not have run. */
const silenceMs = 600_000;

function whyMissing(atMs: number, times: readonly number[], { hours }: Circumstances): string | null {
  const refused = hours
    .filter(({ hour }) => hour * 1000 <= atMs && atMs < hour * 1000 + hourMs)
    .reduce((sum, { refusedSignatures }) => sum + refusedSignatures, 0);
  if (refused > 0)
    return `${counted(refused, 'request')} of that hour ${refused === 1 ? 'was' : 'were'} refused: signature not valid`;
  const [oldest] = times;
  if (oldest === undefined) return 'nothing is stored for this webhook: did webhook listen run?';
  if (atMs < oldest - silenceMs) return `before the oldest stored delivery, of ${formatTime(oldest / 1000)}`;
  if (times.some((each) => Math.abs(each - atMs) <= silenceMs)) return 'others came around that time, and this did not';
  return 'nothing was received for 10 minutes before and after: did webhook listen run?';
}
