import { createHash } from 'node:crypto';
import { normalizeAddress } from '../api/address.ts';
import { isObject, tryParseJson } from '../api/json.ts';
import { formatUsd } from '../lib/output/format.ts';

/** The fields of an event that are read; the rest is passed on unchanged. */
export interface EventSummary {
  eventId: string;
  eventType: string;
  event: Record<string, unknown>;
}

/** The type of an event that names none. */
const unnamedType = 'unknown';

/** The events with an id of a body, `{events: [...]}` or a single event; none for any other body. Source: wire-facts 4.1. */
export function readEvents(body: Uint8Array): EventSummary[] {
  return eventValues(body).flatMap((event) => readSummary(event) ?? []);
}

/** All events of a body, the first of those with the same id; a hash of the body names one without an id. */
export function readAllEvents(body: Uint8Array): EventSummary[] {
  let hash: string | undefined;
  const unnamed = (event: unknown, index: number): EventSummary => {
    hash ??= `sha256-${createHash('sha256').update(body).digest('hex')}`;
    const eventId = index === 0 ? hash : `${hash}-${index}`;
    const eventType = textIn(event, 'eventType') ?? unnamedType;
    return { eventId, eventType, event: isObject(event) ? event : { eventId, eventType } };
  };
  const events = eventValues(body).map((event, index) => readSummary(event) ?? unnamed(event, index));
  if (events.length === 0) events.push(unnamed(undefined, 0));
  const ids = new Set<string>();
  return events.filter(({ eventId }) => ids.size < ids.add(eventId).size);
}

/** The first ids, as messages name them. */
export function nameEvents(events: readonly EventSummary[]): string {
  const ids = events.slice(0, 3).map(({ eventId }) => eventId);
  return `event ${ids.join(', ')}${events.length > 3 ? ` and ${events.length - 3} more` : ''}`;
}

const decoder = new TextDecoder();

function eventValues(body: Uint8Array): unknown[] {
  const parsed = tryParseJson(decoder.decode(body));
  if (!isObject(parsed)) return [];
  return Array.isArray(parsed['events']) ? parsed['events'] : [parsed];
}

function readSummary(event: unknown): EventSummary | undefined {
  const eventId = textIn(event, 'eventId');
  if (eventId === undefined || !isObject(event)) return undefined;
  return { eventId, eventType: textIn(event, 'eventType') ?? unnamedType, event };
}

/**
 * The addresses and tokens that an event names anywhere, as the service writes them; `ext:<id>` for ids of partners. A perp without an address
 * is known by its symbol (wire-facts F5).
 */
export function collectNames(event: unknown): { addresses: ReadonlySet<string>; tokens: ReadonlySet<string> } {
  const [addresses, tokens] = [new Set<string>(), new Set<string>()];
  const add = (key: string, value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) add(key, each);
    else if (isObject(value)) {
      if (value['tokenAddress'] === '') add('tokenAddress', value['tokenSymbol']);
      for (const inner in value) add(inner, value[inner]);
    } else if (typeof value !== 'string' || value === '') return;
    else if (key === 'externalId' || key === 'externalIds') addresses.add(`ext:${value}`);
    else if (/^(?:tokenAddress|contractAddress)$/.test(key)) tokens.add(normalizeAddress(value));
    else if (/address(?:es)?$/i.test(key)) addresses.add(normalizeAddress(value));
  };
  add('', event);
  return { addresses, tokens };
}

export function describeEvent({ event, eventType }: EventSummary): string {
  const card = event['feedItem'];
  const metadata = valueIn(card, 'metadata');
  const who = textIn(valueIn(card, 'actor'), 'name') ?? textIn(card, 'itemTitle') ?? 'someone';
  const token = textIn(metadata, 'tokenSymbol') ?? textIn(metadata, 'tokenAddress') ?? 'a token';
  const chain = textIn(metadata, 'tokenChain');
  const on = chain === undefined ? '' : ` on ${chain}`;
  if (eventType === 'comment-created')
    return `${who} comments on ${token}${on}: ${textIn(event['comment'], 'commentText') ?? ''}`;
  if (eventType === 'copyswap') {
    const copier = textIn(event['copyswapActor'], 'name') ?? 'someone';
    return `${copier} copies ${who}: ${formatUsdCost(event['copyswapTrade'])}${token}${on}`;
  }
  if (eventType === unnamedType) return 'an event without a type';
  if (eventType !== 'new-feed-item') return `an event of the type ${eventType}`;
  const trades = valueIn(metadata, 'trades');
  const trade = Array.isArray(trades) ? trades[0] : undefined;
  const does = { buy: 'buys', sell: 'sells' }[String(valueIn(trade, 'direction'))] ?? 'trades';
  return `${who} ${does} ${formatUsdCost(trade)}${token}${on}`;
}

function formatUsdCost(trade: unknown): string {
  const usd = valueIn(trade, 'usdCost');
  return typeof usd === 'number' ? `${formatUsd(usd)} of ` : '';
}

function valueIn(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined;
}

/** A text field that is not empty. */
function textIn(value: unknown, key: string): string | undefined {
  const text = valueIn(value, key);
  return typeof text === 'string' && text !== '' ? text : undefined;
}
