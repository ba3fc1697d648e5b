import { z } from 'zod';
import { tryParseJson, unicodeEscapes } from '../../api/json.ts';
import { readAllEvents } from '../events.ts';
import type { Delivery, StoredDelivery } from '../inbox.ts';
import type { Message } from './stream.ts';
import { partitions } from './subjects.ts';

/** The message of a delivery holds as data the body as it came, as header the rest. */
const headerName = 'Sotra-Delivery';
/** Servers take 64 KB of headers; a list of ids that exceeds this is omitted: all events of the body are then said to be new. */
const maxIdBytes = 32 * 1024;

const texts = z.array(z.string());
/** `newIds`: the events that are new, where not all are. */
const headSchema = z.object({ webhook: z.string(), atMs: z.number(), headers: texts, newIds: texts.optional() });

export function writeHeaders({ webhook, atMs, headers }: Delivery, newIds?: readonly string[]): Record<string, string> {
  const ids = newIds === undefined || JSON.stringify(newIds).length > maxIdBytes ? {} : { newIds };
  const head = JSON.stringify({ webhook, atMs, headers, ...ids });
  // Headers of messages are ASCII.
  return { [headerName]: head.replace(/[\u007f-\uffff]/g, unicodeEscapes) };
}

/** A delivery of the stream. */
export interface KeyedDelivery extends StoredDelivery {
  partition: number;
  subject: string;
}

/** The delivery that a message holds; `undefined` for a message of somebody else, or a damaged one. */
export function readStoredDelivery(message: Omit<Message, 'pending'>): KeyedDelivery | undefined {
  const { subject, seq, header: headers, data } = message;
  const { data: head } = headSchema.safeParse(tryParseJson(headers?.get(headerName) ?? ''));
  const partition = Number(subject.split('.')[2]);
  if (head === undefined || !(partition < partitions)) return undefined;
  const body = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const { newIds, ...delivery } = head;
  const fresh = newIds && new Set(newIds);
  const events = readAllEvents(body).filter(({ eventId }) => fresh?.has(eventId) ?? true);
  return { subject, partition, seq, ...delivery, body, events };
}

export function readMessageText({ data }: Message): string {
  return Buffer.from(data).toString();
}
