import { SotraError } from '../../errors.ts';
import { isObject, tryParseJson, unicodeEscapes } from '../../model/json.ts';
import { allEventsOf, type EventSummary } from '../events.ts';
import type { Delivery, StoredDelivery } from '../inbox.ts';
import { type Message, nearby, type Streams } from './streams.ts';

/**
 * The message of an event holds its delivery: as data the body as it came, as header the rest. Of a delivery with several events a message
 * of its own holds that, and those of its events name its subject.
 */
const header = 'Sotra-Delivery';
const eventHeader = 'Sotra-Event';
const bodyAtHeader = 'Sotra-Body-At';
/** Servers take 64 KB of headers; a list of ids that exceeds this is omitted: all events of the body are then said to be new. */
const maxIdBytes = 32 * 1024;

interface Head {
  webhook: string;
  atMs: number;
  headers: readonly string[];
  /** The events that are new, where not all are. */
  newIds?: readonly string[];
}

/** The headers of the message that holds a delivery; `eventId`: its only one. */
export function headersOf(
  delivery: Delivery,
  { eventId, newIds }: { eventId?: string; newIds?: readonly string[] | undefined },
): Record<string, string> {
  const { webhook, atMs, headers } = delivery;
  const ids = newIds === undefined || JSON.stringify(newIds).length > maxIdBytes ? {} : { newIds };
  return {
    [header]: asciiJson({ webhook, atMs, headers, ...ids } satisfies Head),
    ...(eventId !== undefined && { [eventHeader]: asciiJson(eventId) }),
  };
}

/** The headers of an event whose delivery another message holds. */
export function headersOfOne(eventId: string, bodySubject: string): Record<string, string> {
  return { [bodyAtHeader]: bodySubject, [eventHeader]: asciiJson(eventId) };
}

/** The subject of the message that holds the delivery, where it is another one. */
export function bodyAt({ headers }: Message): string | undefined {
  return headers?.get(bodyAtHeader) || undefined;
}

export function eventIdOf({ headers }: Message): string | undefined {
  const id = tryParseJson(headers?.get(eventHeader) ?? '');
  return typeof id === 'string' ? id : undefined;
}

/** The JSON that a message holds; `undefined` for other data. */
export function jsonOf(message: Message | undefined): unknown {
  return message && tryParseJson(Buffer.from(message.data).toString());
}

/** A delivery of a stream; its key is the same if it is stored again. */
export interface KeyedDelivery extends StoredDelivery {
  key: string;
  partition: number;
}

/** The delivery that a message holds. Errors: `config` for a message of somebody else. */
export function deliveryOf(message: Message): KeyedDelivery {
  const { seq, headers, data } = message;
  const head = tryParseJson(headers?.get(header) ?? '');
  if (!isHead(head))
    throw new SotraError('config', `message ${seq} of the inbox (${message.subject}) is not a delivery`, {
      hint: 'Only sotra may publish to the subjects of an inbox. Remove the message.',
    });
  const body = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const fresh = head.newIds && new Set(head.newIds);
  const events = allEventsOf(body).filter(({ eventId }) => fresh?.has(eventId) ?? true);
  const [, , partition, key = ''] = message.subject.split('.');
  const { webhook, atMs, headers: names } = head;
  return { key, partition: Number(partition), seq, webhook, atMs, headers: names, body, events };
}

/** The event of a message with its delivery, which is fetched once for those behind each other; `undefined` for one that is no event. */
export function eventReader(streams: Streams, stream: string) {
  let last: { subject: string; delivery: KeyedDelivery } | undefined;
  return async (message: Message): Promise<{ event: EventSummary; delivery: KeyedDelivery } | undefined> => {
    const subject = bodyAt(message) ?? message.subject;
    if (last?.subject !== subject) {
      const holder = subject === message.subject ? message : await streams.last(stream, subject);
      // It was removed meanwhile.
      if (holder === undefined) return undefined;
      last = { subject, delivery: deliveryOf(holder) };
    }
    const { delivery } = last;
    const id = eventIdOf(message);
    const event = delivery.events.find(({ eventId }) => eventId === id);
    return event && { event, delivery };
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
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, unicodeEscapes);
}

/** Says of each message that is read whether it is a copy of one that was. */
export function copyFinder(): (message: Message) => boolean {
  const known = new Set<string>();
  return ({ subject }) => {
    if (known.has(subject)) return true;
    known.add(subject);
    const [oldest] = known;
    if (known.size > nearby && oldest !== undefined) known.delete(oldest);
    return false;
  };
}
