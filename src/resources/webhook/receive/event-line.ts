import { formatUsd } from '../../../output/format.ts';
import { safeText } from '../../../output/safe-text.ts';
import { cutText, displayWidth } from '../../../output/text-width.ts';
import type { EventSummary } from './delivery.ts';

type Json = Record<string, unknown>;

/** What an event is about, in the words of a person: who did what with which token. */
export function describeEvent({ event, eventType }: EventSummary): string {
  const card = asObject(event['feedItem']);
  const metadata = asObject(card['metadata']);
  const who = text(asObject(card['actor'])['name']) ?? text(card['itemTitle']) ?? 'someone';
  const token = text(metadata['tokenSymbol']) ?? text(metadata['tokenAddress']) ?? 'a token';
  const chain = text(metadata['tokenChain']);
  const on = chain === undefined ? '' : ` on ${chain}`;
  if (eventType === 'comment-created')
    return `${who} comments on ${token}${on}: ${text(asObject(event['comment'])['commentText']) ?? ''}`;
  if (eventType === 'copyswap') {
    const copier = text(asObject(event['copyswapActor'])['name']) ?? 'someone';
    return `${copier} copies ${who}: ${amount(asObject(event['copyswapTrade']))}${token}${on}`;
  }
  const trades = Array.isArray(metadata['trades']) ? metadata['trades'] : [];
  return `${who} buys ${amount(asObject(trades[0]))}${token}${on}`;
}

function amount(trade: Json): string {
  return typeof trade['usdCost'] === 'number' ? `${formatUsd(trade['usdCost'])} of ` : '';
}

/** One line about an event as it arrives: time, kind, reason, what it is about, id; `width` absent: with tabs between. */
export function eventLine(summary: EventSummary, atMs: number, width: number | undefined): string {
  const { event, eventType, eventId } = summary;
  const reason = text(event['reason']) ?? '';
  const time = new Date(atMs).toISOString();
  const about = safeText(describeEvent(summary));
  if (width === undefined) return [time, safeText(eventType), safeText(reason), about, safeText(eventId)].join('\t');
  const kind = reason === '' ? eventType : `${eventType} (${reason})`;
  const id = safeText(eventId);
  const room = Math.max(40, width - displayWidth(id) - 2);
  const line = cutText(`${time.slice(11, 19)}Z  ${safeText(kind)}  ${about}`, room, 'end');
  return `${line}${' '.repeat(room - displayWidth(line))}  ${id}`;
}

function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
