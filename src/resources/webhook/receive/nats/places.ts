import type { Streams } from './streams.ts';
import type { Subjects } from './subjects.ts';

/** The partition that the next one stores an event in, on whatever path it comes; `undefined` where nobody said one. */
export async function placeOf(eventId: string, streams: Streams, subjects: Subjects): Promise<number | undefined> {
  const place = await streams.last(subjects.state, subjects.place(eventId));
  return place && Number(Buffer.from(place.data).toString());
}

/**
 * The partition to store an event in; `undefined` where it is stored. Whoever is killed before it stores the event leaves a place that the
 * next one uses.
 */
export async function takePlace(
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
