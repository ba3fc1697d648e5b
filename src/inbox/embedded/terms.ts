import { createHash } from 'node:crypto';
import { collectNames, type EventSummary } from '../events.ts';
import { type EventQuery, stripSecret } from '../inbox.ts';

type Term = `${'type' | 'address' | 'token' | 'webhook'}:${string}`;

/** As one word of the index, whatever is in it. Two that share a word only cost a look at the delivery. */
function writeTerm(term: Term): string {
  return createHash('sha1').update(term).digest('hex').slice(0, 16);
}

/** The words that a delivery can be found by. */
export function indexedWords(webhook: string, events: readonly EventSummary[]): string {
  const terms = new Set<Term>([`webhook:${webhook}`, `webhook:${stripSecret(webhook)}`]);
  for (const { event, eventType } of events) {
    const { addresses, tokens } = collectNames(event);
    terms.add(`type:${eventType}`);
    for (const address of addresses) terms.add(`address:${address}`);
    for (const token of tokens) terms.add(`token:${token}`);
  }
  return [...terms].map(writeTerm).join(' ');
}

/** What the index is asked for; empty where a query names nothing that is in it. */
export function askedWords({ type, address, token, webhook }: EventQuery): string {
  const words = Object.entries({ type, address, token, webhook }).flatMap(([kind, value]) =>
    value === undefined ? [] : [writeTerm(`${kind}:${value}` as Term)],
  );
  return words.join(' AND ');
}
