import type { JsMsg, StoredMsg } from '@nats-io/jetstream';
import { z } from 'zod';
import { tryParseJson, unicodeEscapes } from '../../api/json.ts';
import { type EventSummary, readAllEvents } from '../events.ts';
import type { Delivery, StoredDelivery } from '../inbox.ts';
import { choosePartition, encodeEventId, publishOnce, type Stream, subjects } from './stream.ts';

/** The message of the first new event of a delivery: its data is the body as it came, and this header has the rest. */
const deliveryHeader = 'Sotra-Delivery';
/** The message of a further event: the number of that message. */
const holderHeader = 'Sotra-Delivery-Seq';

const headSchema = z.object({ webhook: z.string(), atMs: z.number(), headers: z.array(z.string()) });

/** Stores each new event of a delivery as a message; `undefined` if all are stored. */
export async function storeDelivery(stream: Stream, delivery: Delivery): Promise<StoredDelivery | undefined> {
  const { webhook, atMs, headers, body } = delivery;
  // Headers of messages are ASCII.
  const head = JSON.stringify({ webhook, atMs, headers }).replace(/[\u007f-\uffff]/g, unicodeEscapes);
  let holder: number | undefined;
  const events: EventSummary[] = [];
  for (const event of readAllEvents(body)) {
    const id = encodeEventId(event.eventId);
    const subject = subjects(stream.name).event(choosePartition(webhook), id);
    const [data, header] =
      holder === undefined
        ? [body, { name: deliveryHeader, value: head }]
        : ['', { name: holderHeader, value: String(holder) }];
    const seq = await publishOnce(stream, subject, data, { id, header });
    if (seq === undefined) continue;
    holder ??= seq;
    events.push(event);
  }
  return holder === undefined ? undefined : { ...delivery, seq: holder, events };
}

/** The delivery that a message holds, with all events of its body; `undefined` for a further event of one, and a message of another client. */
export function readDelivery(message: JsMsg | StoredMsg): StoredDelivery | undefined {
  const { data: head } = headSchema.safeParse(tryParseJson(headersOf(message)?.get(deliveryHeader) ?? ''));
  if (head === undefined) return undefined;
  const body = Buffer.from(message.data);
  return { ...head, seq: message.seq, body, events: readAllEvents(body) };
}

/** The event of a message, with the delivery that it came in. */
export async function readEvent(
  stream: Stream,
  message: JsMsg,
): Promise<{ event: EventSummary; delivery: StoredDelivery } | undefined> {
  const holder = message.headers?.get(holderHeader);
  const delivery = holder ? await readStored(stream, Number(holder)) : readDelivery(message);
  const event = delivery?.events.find(({ eventId }) => message.subject.endsWith(`.${encodeEventId(eventId)}`));
  return delivery && event && { event, delivery };
}

/** The delivery of a number; `undefined` if it was removed. */
export async function readStored({ name, manager }: Stream, seq: number): Promise<StoredDelivery | undefined> {
  const message = await manager.streams.getMessage(name, { seq });
  return message === null ? undefined : readDelivery(message);
}

function headersOf(message: JsMsg | StoredMsg) {
  return 'header' in message ? message.header : message.headers;
}
