import { allEventsOf, type EventSummary } from '../events.ts';
import type { Delivery, StoredDelivery } from '../inbox.ts';
import type { startRemoval } from './copies.ts';
import { headersOf, headersOfOne } from './message.ts';
import type { InboxStreams, Message } from './streams.ts';
import { partitionOf } from './subjects.ts';

interface NewEvent {
  eventId: string;
  partition: number;
  data: Uint8Array | string;
  headers: Record<string, string>;
}

/**
 * Stores deliveries with their new events; `undefined` for one whose events are all stored. Each event has a subject of its own, and the first
 * message of it counts: what several listeners store at the same moment is there once.
 */
export function deliveryStore(store: InboxStreams, { add: removeLater }: Pick<ReturnType<typeof startRemoval>, 'add'>) {
  const { streams, subjects } = store;
  const { events } = subjects;
  const busy = new Map<string, Promise<unknown>>();

  const storeOnce = async (subject: string, data: Uint8Array | string, headers: Record<string, string>) => {
    const seq = await streams.publish(events, subject, data, headers);
    const firstSeq = await streams.firstOf(events, subject, seq);
    if (firstSeq < seq) removeLater({ subject, seq });
    return { seq: firstSeq, isFirst: firstSeq === seq };
  };
  const storeEvent = ({ eventId, partition, data, headers }: NewEvent) =>
    storeOnce(subjects.event(partition, eventId), data, headers);

  const storeNew = async (delivery: Delivery, all: readonly EventSummary[]): Promise<StoredDelivery | undefined> => {
    const { webhook, body } = delivery;
    const own = partitionOf(webhook);
    const places = await Promise.all(all.map(({ eventId }) => takePlace(eventId, own, store)));
    const open = all.flatMap((event, index) => {
      const partition = places[index];
      return partition === undefined ? [] : [{ event, eventId: event.eventId, partition }];
    });
    const [first] = open;
    if (first === undefined) return undefined;
    const newIds = open.length === all.length ? undefined : open.map(({ eventId }) => eventId);
    if (open.length === 1) {
      const headers = headersOf(delivery, { eventId: first.eventId, newIds });
      const { seq, isFirst } = await storeEvent({ ...first, data: body, headers });
      return isFirst ? { ...delivery, seq, events: [first.event] } : undefined;
    }
    const subject = subjects.body(own, webhook, body);
    const { seq } = await storeOnce(subject, body, headersOf(delivery, { newIds }));
    const stored = await Promise.all(
      open.map((each) => storeEvent({ ...each, data: '', headers: headersOfOne(each.eventId, subject) })),
    );
    const fresh = open.flatMap(({ event }, index) => (stored[index]?.isFirst ? [event] : []));
    return fresh.length === 0 ? undefined : { ...delivery, seq, events: fresh };
  };

  return async (delivery: Delivery): Promise<StoredDelivery | undefined> => {
    const all = allEventsOf(delivery.body);
    const ids = all.map(({ eventId }) => eventId);
    const others = Promise.allSettled(ids.map((id) => busy.get(id)));
    const storing = others.then(() => storeNew(delivery, all));
    for (const id of ids) busy.set(id, storing);
    try {
      return await storing;
    } finally {
      for (const id of ids) if (busy.get(id) === storing) busy.delete(id);
    }
  };
}

/** Listeners that get an event on two paths at the same moment place it within so many others; a server looks through all of them. */
const maxApart = 500;

/**
 * The partition to store an event in, on whatever path it comes: the first that a listener said; `undefined` where it is stored. Whoever is
 * killed before it stores the event leaves a place that the next one uses.
 */
async function takePlace(
  eventId: string,
  own: number,
  { streams, subjects }: InboxStreams,
): Promise<number | undefined> {
  const place = subjects.place(eventId);
  const partitionIn = (message: Message) => Number(Buffer.from(message.data).toString());
  const said = await streams.last(subjects.places, place);
  if (said && (await streams.last(subjects.events, subjects.event(partitionIn(said), eventId)))) return undefined;
  const seq = said?.seq ?? (await streams.publish(subjects.places, place, String(own)));
  const first = await streams.first(subjects.places, place, seq, maxApart);
  return first === undefined ? own : partitionIn(first);
}
