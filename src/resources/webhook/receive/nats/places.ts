import type { Message, Streams } from './streams.ts';
import type { Subjects } from './subjects.ts';

/** `contested`: somebody says at this moment that the event will be in another partition. */
export type Place = 'taken' | 'contested';

/**
 * Says that an event will be in a partition, unless it is stored already, there or where its place says. Whoever is killed before the event
 * is stored leaves a place that leads nowhere, and the next one writes over it.
 */
export async function takePlace(
  eventId: string,
  partition: number,
  streams: Streams,
  subjects: Subjects,
): Promise<Place | 'stored'> {
  const subject = subjects.place(eventId);
  const find = (number: number) => streams.last(subjects.events, subjects.event(number, eventId));
  const [place, here] = await Promise.all([streams.last(subjects.state, subject), find(partition)]);
  const said = place && Number(Buffer.from(place.data).toString());
  if (here !== undefined) {
    if (said !== partition) await writePlace(eventId, here, streams, subjects);
    return 'stored';
  }
  if (said === partition) return 'taken';
  if (said !== undefined && (await find(said)) !== undefined) return 'stored';
  const id = `${subject} after ${place?.seq ?? 0}`;
  const published = await streams.publish(subjects.state, subject, String(partition), { id });
  return 'seq' in published ? 'taken' : 'contested';
}

/** Says where an event is. */
export async function writePlace(
  eventId: string,
  event: Pick<Message, 'subject' | 'seq'>,
  streams: Streams,
  subjects: Subjects,
): Promise<void> {
  const subject = subjects.place(eventId);
  const partition = subjects.partitionIn(event.subject);
  await streams.publish(subjects.state, subject, partition, { id: `${subject} at ${event.seq}` });
}
