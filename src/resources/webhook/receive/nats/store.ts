import { allEventsOf, type EventSummary } from '../events.ts';
import type { Delivery, StoredDelivery } from '../inbox.ts';
import { headersOf, headersOfOne } from './message.ts';
import type { Streams } from './streams.ts';
import { partitionOf, type Subjects } from './subjects.ts';

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
export function deliveryStore(streams: Streams, subjects: Subjects) {
  const { events } = subjects;
  const busy = new Map<string, Promise<unknown>>();

  const storeOnce = async (subject: string, data: Uint8Array | string, headers: Record<string, string>) =>
    streams.keepFirst(events, subject, await streams.publish(events, subject, data, headers));
  const storeEvent = async ({ eventId, partition, data, headers }: NewEvent): Promise<number> => {
    const storeIn = (number: number) => storeOnce(subjects.event(number, eventId), data, headers);
    const seq = await storeIn(partition);
    const place = (await placeOf(eventId, streams, subjects)) ?? partition;
    if (place === partition) return seq;
    // It came on another path at the same moment: both listeners store it there, and this one goes.
    const placedSeq = await storeIn(place);
    await streams.remove(events, seq);
    return placedSeq;
  };

  const storeNew = async (delivery: Delivery, all: readonly EventSummary[]): Promise<StoredDelivery | undefined> => {
    const { webhook, body } = delivery;
    const own = partitionOf(webhook);
    const places = await Promise.all(all.map(({ eventId }) => takePlace(eventId, own, streams, subjects)));
    const open = all.flatMap((event, index) => {
      const partition = places[index];
      return partition === undefined ? [] : [{ event, eventId: event.eventId, partition }];
    });
    const [first] = open;
    if (first === undefined) return undefined;
    const stored = { ...delivery, events: open.map(({ event }) => event) };
    const newIds = open.length === all.length ? undefined : open.map(({ eventId }) => eventId);
    if (open.length === 1) {
      const headers = headersOf(delivery, { eventId: first.eventId, newIds });
      return { ...stored, seq: await storeEvent({ ...first, data: body, headers }) };
    }
    const subject = subjects.body(own, webhook, body);
    const seq = await storeOnce(subject, body, headersOf(delivery, { newIds }));
    await Promise.all(
      open.map((each) => storeEvent({ ...each, data: '', headers: headersOfOne(each.eventId, subject) })),
    );
    return { ...stored, seq };
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

/** The partition that the next one stores an event in, on whatever path it comes; `undefined` where nobody said one. */
async function placeOf(eventId: string, streams: Streams, subjects: Subjects): Promise<number | undefined> {
  const place = await streams.last(subjects.state, subjects.place(eventId));
  return place && Number(Buffer.from(place.data).toString());
}

/**
 * The partition to store an event in; `undefined` where it is stored. Whoever is killed before it stores the event leaves a place that the
 * next one uses.
 */
async function takePlace(
  eventId: string,
  partition: number,
  streams: Streams,
  subjects: Subjects,
): Promise<number | undefined> {
  const said = await placeOf(eventId, streams, subjects);
  if (said === undefined) {
    await streams.publish(subjects.state, subjects.place(eventId), String(partition));
    return partition;
  }
  const stored = await streams.last(subjects.events, subjects.event(said, eventId));
  return stored === undefined ? said : undefined;
}
