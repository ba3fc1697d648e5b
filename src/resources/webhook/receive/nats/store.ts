import { SotraError } from '../../../../errors.ts';
import { allEventsOf, type EventSummary } from '../events.ts';
import type { Delivery, StoredDelivery } from '../inbox.ts';
import { eventIdOf, furtherHeaders, headersOf } from './message.ts';
import type { Streams } from './streams.ts';
import { partitionOf, type Subjects } from './subjects.ts';

/**
 * Stores a delivery whose events are not all known; `undefined` where they are. Each event has a subject of its own: what has a message is
 * stored for as long as it is kept. The message id tells apart who stores it at the same moment, and in the duplicate window the paths too.
 */
export async function storeDelivery(
  delivery: Delivery,
  streams: Streams,
  subjects: Subjects,
): Promise<StoredDelivery | undefined> {
  const all = allEventsOf(delivery.body);
  const partition = partitionOf(delivery.webhook);
  const publish = (eventId: string, data: Uint8Array | string, headers: Record<string, string>) =>
    publishOnce({ subject: subjects.event(partition, eventId), eventId, data, headers }, streams, subjects.events);
  let open = all;
  if (all.length > 1) {
    const known = await Promise.all(
      all.map(({ eventId }) => streams.last(subjects.events, subjects.event(partition, eventId))),
    );
    open = all.filter((_, index) => known[index] === undefined);
  }
  for (let [first, ...others] = open; first !== undefined; [first, ...others] = others) {
    const fresh = [first, ...others];
    const newIds = fresh.length === all.length ? undefined : fresh.map(({ eventId }) => eventId);
    const body = await publish(first.eventId, delivery.body, headersOf(delivery, first.eventId, newIds));
    if (body === 'known') continue;
    const { seq } = body;
    const taken = await Promise.all(
      others.map(async (event): Promise<EventSummary[]> => {
        const published = await publish(event.eventId, '', furtherHeaders(event.eventId, seq));
        return published === 'known' ? [] : [event];
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
 * `known` only where the event can be read from the leader: what was merely on its way may have been lost with its server. What is not
 * there is published with a message id, which those who store it at the same moment use too.
 */
async function publishOnce(
  { subject, eventId, data, headers }: NewEvent,
  streams: Streams,
  stream: string,
): Promise<{ seq: number } | 'known'> {
  // The id of a message that was lost with its server is still known to the others.
  for (const id of [eventId, `${eventId} again`]) {
    if ((await streams.last(stream, subject)) !== undefined) return 'known';
    const published = await streams.publish(stream, subject, data, { headers, id });
    if ('seq' in published) return published;
    const there = await streams.at(stream, published.knownAt);
    if (there !== undefined && eventIdOf(there) === eventId) return 'known';
  }
  throw new SotraError(
    'network',
    `the servers of the inbox ${stream} do not agree whether event ${eventId} is stored`,
    {
      hint: 'It is stored when it comes again.',
    },
  );
}
