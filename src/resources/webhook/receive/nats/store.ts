import { SotraError } from '../../../../errors.ts';
import { allEventsOf, type EventSummary } from '../events.ts';
import type { Delivery, StoredDelivery } from '../inbox.ts';
import { eventIdOf, furtherHeaders, headersOf } from './message.ts';
import { type Place, takePlace, writePlace } from './places.ts';
import type { Message, Streams } from './streams.ts';
import { partitionOf, type Subjects } from './subjects.ts';

/**
 * Stores a delivery whose events are not all known; `undefined` where they are. Each event has a subject of its own, in the partition of its
 * path: what has a message is stored for as long as it is kept. Its place says the partition to those who get it on another path, and the
 * message id tells apart who stores it at the same moment.
 */
export async function storeDelivery(
  delivery: Delivery,
  streams: Streams,
  subjects: Subjects,
): Promise<StoredDelivery | undefined> {
  const all = allEventsOf(delivery.body);
  const partition = partitionOf(delivery.webhook);
  const places = new Map<string, Place>();
  await Promise.all(
    all.map(async ({ eventId }) => {
      const place = await takePlace(eventId, partition, streams, subjects);
      if (place !== 'stored') places.set(eventId, place);
    }),
  );
  const publish = async (eventId: string, data: Uint8Array | string, headers: Record<string, string>) => {
    const subject = subjects.event(partition, eventId);
    const found = await publishOnce({ subject, eventId, data, headers }, streams, subjects.events);
    if (found.isNew ? places.get(eventId) === 'contested' : found.subject !== subject)
      await writePlace(eventId, found, streams, subjects);
    return found;
  };
  const open = all.filter(({ eventId }) => places.has(eventId));
  for (let [first, ...others] = open; first !== undefined; [first, ...others] = others) {
    const fresh = [first, ...others];
    const newIds = fresh.length === all.length ? undefined : fresh.map(({ eventId }) => eventId);
    const { isNew, seq } = await publish(first.eventId, delivery.body, headersOf(delivery, first.eventId, newIds));
    if (!isNew) continue;
    const taken = await Promise.all(
      others.map(async (event): Promise<EventSummary[]> => {
        const published = await publish(event.eventId, '', furtherHeaders(event.eventId, seq));
        return published.isNew ? [event] : [];
      }),
    );
    return { ...delivery, seq, events: [first, ...taken.flat()] };
  }
  return undefined;
}

interface NewEvent {
  subject: string;
  eventId: string;
  data: Uint8Array | string;
  headers: Record<string, string>;
}

/**
 * Publishes what was not there a moment ago. It is known only where it can be read from the leader: what was merely on its way may have been
 * lost with its server.
 */
async function publishOnce(
  { subject, eventId, data, headers }: NewEvent,
  streams: Streams,
  stream: string,
): Promise<Pick<Message, 'subject' | 'seq'> & { isNew: boolean }> {
  // The id of a message that was lost with its server is still known to the others.
  for (const id of [eventId, `${eventId} again`]) {
    const published = await streams.publish(stream, subject, data, { headers, id });
    if ('seq' in published) return { subject, seq: published.seq, isNew: true };
    const there = await streams.at(stream, published.knownAt);
    if (there !== undefined && eventIdOf(there) === eventId) return { ...there, isNew: false };
  }
  throw new SotraError(
    'network',
    `the servers of the inbox ${stream} do not agree whether event ${eventId} is stored`,
    {
      hint: 'It is stored when it comes again.',
    },
  );
}
