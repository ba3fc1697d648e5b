import { normalizeAddress } from '../api/address.ts';
import { parseMoment } from '../api/duration.ts';
import { type SotraError, usageError } from '../errors.ts';
import { collectNames, type EventSummary } from './events.ts';
import { type EventQuery, type StoredDelivery, stripSecret } from './inbox.ts';

/** The events of a delivery that a query asks for, whatever their status; none if its time or its webhook does not match. */
export function askedEvents(delivery: StoredDelivery, query: EventQuery): EventSummary[] {
  const { sinceMs = 0, untilMs = Number.POSITIVE_INFINITY, webhook, address, token } = query;
  if (delivery.atMs < sinceMs || delivery.atMs > untilMs) return [];
  if (webhook !== undefined && !isWebhook(delivery.webhook, webhook)) return [];
  return delivery.events.filter(
    ({ eventType, eventId, event }) =>
      (query.type === undefined || eventType === query.type) &&
      (query.idStart === undefined || eventId.startsWith(query.idStart)) &&
      (address === undefined || collectNames(event).addresses.has(address)) &&
      (token === undefined || collectNames(event).tokens.has(token)),
  );
}

/** The same items; an error while they are read becomes the one that `toError` makes of it. */
export async function* mapErrors<Item>(
  items: AsyncIterable<Item>,
  toError: (cause: unknown) => SotraError,
): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (cause) {
    throw toError(cause);
  }
}

/** Whether a webhook has this name, or this path. */
function isWebhook(webhook: string, asked: string): boolean {
  return webhook === asked || stripSecret(webhook) === asked;
}

/** The times of `--since` and `--until`. Errors: `usage` if nothing lies between them. */
export function readTimes(
  { since, until }: { since?: string | undefined; until?: string | undefined },
  nowMs: number,
): Pick<EventQuery, 'sinceMs' | 'untilMs'> {
  const read = (text: string | undefined) => (text === undefined ? undefined : parseMoment(text, nowMs, 'ago'));
  const [sinceMs, untilMs] = [read(since), read(until)];
  if (sinceMs !== undefined && untilMs !== undefined && untilMs < sinceMs)
    throw usageError(`--until ${until} is before --since ${since}`, 'Exchange the two, or give an earlier --since.');
  return { sinceMs, untilMs };
}

type TypedQuery = { [K in 'address' | 'token' | 'type' | 'webhook' | 'status']?: EventQuery[K] | undefined };

/** The query of typed options, addresses as the service writes them. */
export function makeEventQuery({ address, token, type, webhook, status }: TypedQuery): EventQuery {
  const normalize = (given: string | undefined) => (given === undefined ? undefined : normalizeAddress(given));
  return { type, webhook, status, address: normalize(address), token: normalize(token) };
}
