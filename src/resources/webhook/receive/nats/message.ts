import { SotraError } from '../../../../errors.ts';
import { isObject, tryParseJson } from '../../../../model/json.ts';
import { allEventsOf, type EventSummary } from '../events.ts';
import type { Delivery, StoredDelivery } from '../inbox.ts';
import type { Message, Streams } from './streams.ts';

/**
 * A message is one event. Its data is the body as it came, its header the rest of the delivery; of a delivery with several events the
 * first new one holds both, and the others name the number of that one.
 */
const header = 'Sotra-Delivery';
const eventHeader = 'Sotra-Event';
const bodyAtHeader = 'Sotra-Body-At';
/** Servers take 64 KB of headers; a list of ids that exceeds this is left out: all events of the body are then said to be new. */
const maxIdBytes = 32 * 1024;

interface Head {
  webhook: string;
  atMs: number;
  headers: readonly string[];
  /** The events that are new, where not all are. */
  newIds?: readonly string[];
}

/** The headers of the message that holds a delivery. */
export function headersOf(
  delivery: Delivery,
  eventId: string,
  newIds: readonly string[] | undefined,
): Record<string, string> {
  const { webhook, atMs, headers } = delivery;
  const ids = newIds === undefined || JSON.stringify(newIds).length > maxIdBytes ? {} : { newIds };
  return { [header]: asciiJson({ webhook, atMs, headers, ...ids } satisfies Head), [eventHeader]: asciiJson(eventId) };
}

/** The headers of a further event of a delivery. */
export function furtherHeaders(eventId: string, bodySeq: number): Record<string, string> {
  return { [bodyAtHeader]: String(bodySeq), [eventHeader]: asciiJson(eventId) };
}

/** The number of the message that holds the delivery, for a further event of it. */
export function bodySeqOf({ headers }: Message): number | undefined {
  const text = headers?.get(bodyAtHeader);
  return text === undefined || text === '' ? undefined : Number(text);
}

export function eventIdOf({ headers }: Message): string | undefined {
  const id = tryParseJson(headers?.get(eventHeader) ?? '');
  return typeof id === 'string' ? id : undefined;
}

/** The delivery that a message holds. Errors: `config` for a message of somebody else. */
export function deliveryOf(message: Message): StoredDelivery {
  const { seq, headers, data } = message;
  const head = tryParseJson(headers?.get(header) ?? '');
  if (!isHead(head))
    throw new SotraError('config', `message ${seq} of the inbox (${message.subject}) is no delivery`, {
      hint: 'Only sotra may publish to the subjects of an inbox. Remove the message.',
    });
  const body = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const fresh = head.newIds && new Set(head.newIds);
  const events = allEventsOf(body).filter(({ eventId }) => fresh?.has(eventId) ?? true);
  return { seq, webhook: head.webhook, atMs: head.atMs, headers: head.headers, body, events };
}

/** The event of each message with its delivery; of a further event the delivery is fetched once for those behind each other. */
export function eventReader(streams: Streams, stream: string) {
  let last: StoredDelivery | undefined;
  return async (message: Message): Promise<{ event: EventSummary; delivery: StoredDelivery } | undefined> => {
    const bodySeq = bodySeqOf(message);
    if (bodySeq === undefined) last = deliveryOf(message);
    else if (last?.seq !== bodySeq) {
      const body = await streams.at(stream, bodySeq);
      // It was removed meanwhile.
      if (body === undefined) return undefined;
      last = deliveryOf(body);
    }
    const id = eventIdOf(message);
    const event = last?.events.find(({ eventId }) => eventId === id);
    return event && last && { event, delivery: last };
  };
}

function isHead(value: unknown): value is Head {
  return (
    isObject(value) &&
    typeof value['webhook'] === 'string' &&
    typeof value['atMs'] === 'number' &&
    Array.isArray(value['headers'])
  );
}

/** Headers of messages are ASCII. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
