import { SotraError } from '../../errors.ts';
import { type EventSummary, readAllEvents } from '../events.ts';
import type { Delivery, StoredDelivery } from '../inbox.ts';
import { readStoredDelivery, writeHeaders } from './message.ts';
import type { InboxStream } from './stream.ts';
import { choosePartition, encodeEventId } from './subjects.ts';

/** Messages that are stored at once. */
const maxAtOnce = 1000;

/**
 * Stores a delivery with its new events; `undefined` for one whose events are all stored. The first new event is the subject of the message;
 * where there are more, each has a message that names it.
 */
export async function storeDelivery(delivery: Delivery, stream: InboxStream): Promise<StoredDelivery | undefined> {
  const { subjects } = stream;
  const all = readAllEvents(delivery.body);
  // Of one event the servers say whether it is stored.
  const open = all.length === 1 ? all : await findNew(all, stream);
  for (let [first, ...rest] = open; first !== undefined; [first, ...rest] = rest) {
    const { eventId } = first;
    const subject = subjects.event(choosePartition(delivery.webhook), eventId);
    const newIds = all.length === 1 ? undefined : [eventId, ...rest.map((each) => each.eventId)];
    const options = { id: eventId, headers: writeHeaders(delivery, newIds) };
    const { seq, isNew, known } = await stream.publish(subject, delivery.body, options);
    if (known !== undefined && readStoredDelivery(known) === undefined)
      throw new SotraError('config', `message ${known.seq} of the inbox (${subject}) is not a delivery`, {
        hint: `Remove it: event ${eventId} cannot be stored beside it.`,
      });
    if (!isNew) continue;
    const fresh = [first];
    for (let at = 0; at < rest.length; at += maxAtOnce) {
      const slice = rest.slice(at, at + maxAtOnce);
      const parts = await Promise.all(
        slice.map((each) => stream.publish(subjects.part(each.eventId), subject, { id: each.eventId })),
      );
      fresh.push(...slice.filter((_, index) => parts[index]?.isNew));
    }
    return { ...delivery, seq, events: fresh };
  }
  return undefined;
}

async function findNew(events: readonly EventSummary[], stream: InboxStream): Promise<EventSummary[]> {
  const { subjects } = stream;
  const found = await stream.lastOf(events.flatMap(({ eventId }) => subjects.anyOf(eventId)));
  const known = new Set(found.map(({ subject }) => subject.split('.').at(-1)));
  return events.filter(({ eventId }) => !known.has(encodeEventId(eventId)));
}
