import { hourMs } from '../../api/duration.ts';
import type { Forward } from '../../lib/forward.ts';
import type { DeliveryQuery, EventQuery, StoredDelivery, StoredEvent } from '../inbox.ts';
import { askedEvents, findEventStatus } from '../query.ts';
import { isFor } from '../route.ts';
import { type KeyedDelivery, readMessageText, readStoredDelivery } from './message.ts';
import type { InboxStream, Message } from './stream.ts';
import { encodeEventId } from './subjects.ts';
import { type KnownTarget, readForwards, readTargets, waitsFor } from './targets.ts';

export interface QueryOptions {
  stream: InboxStream;
  nowMs: number;
  /** Is told of a message that is no delivery. */
  onStray: (message: Pick<Message, 'seq' | 'subject'>) => void;
}

/** How far the clocks of listeners and servers may be apart. */
const clockMs = hourMs;
/** Read at once when going backwards; four times as many each time. */
const [minWindow, maxWindow] = [128, 4096];

interface Span {
  from?: number | { ms: number };
  to?: number | undefined;
  signal?: AbortSignal;
}

/** The stored deliveries in their order, some at a time, up to the last one that is stored now unless it is said otherwise. */
async function* readDeliveries(span: Span, { stream, onStray }: QueryOptions): AsyncGenerator<KeyedDelivery[]> {
  const { from = 1, signal } = span;
  const to = 'to' in span ? span.to : ((await stream.info())?.state.last_seq ?? 0);
  for await (const messages of stream.read({ filter: stream.subjects.deliveries, from, to, signal }))
    yield messages.flatMap((message) => {
      const delivery = readStoredDelivery(message);
      if (delivery === undefined) onStray(message);
      return delivery ?? [];
    });
}

/** The stored events that a query asks for, newest first; one of exactly the asked id comes before all. */
export async function* queryEvents(query: EventQuery, options: QueryOptions): AsyncGenerator<StoredEvent> {
  const { stream } = options;
  const toEvents = await eventReader(query, options);
  const { idStart } = query;
  const exact = idStart === undefined ? [] : await toEvents(await findDeliveries([idStart], options));
  const found = exact.filter(({ eventId }) => eventId === idStart);
  yield* found;
  const oldestMs = (query.sinceMs ?? 0) - clockMs;
  const state = (await stream.info())?.state ?? { first_seq: 0, last_seq: 0 };
  const { first_seq: oldest } = state;
  for (let [high, size] = [state.last_seq, minWindow]; high >= oldest && high > 0; ) {
    const span = { from: Math.max(1, oldest, high - size + 1), to: high };
    const window: KeyedDelivery[] = [];
    for await (const deliveries of readDeliveries(span, options)) window.push(...deliveries);
    for (const event of (await toEvents(window)).reverse()) if (event.eventId !== found[0]?.eventId) yield event;
    // Deliveries are stored soon after they come.
    if (window[0] !== undefined && window[0].atMs < oldestMs) return;
    high -= size;
    size = Math.min(maxWindow, size * 4);
  }
}

/** Events as they are stored from now on. */
export async function* tailEvents(
  query: EventQuery,
  { signal, ...options }: QueryOptions & { signal: AbortSignal },
): AsyncGenerator<StoredEvent> {
  const toEvents = await eventReader(query, options);
  for await (const deliveries of readDeliveries({ from: { ms: options.nowMs }, to: undefined, signal }, options))
    yield* await toEvents(deliveries);
}

/** Deliveries, oldest first: those of events, or those that came since a time. */
export async function* queryDeliveries(query: DeliveryQuery, options: QueryOptions): AsyncGenerator<StoredDelivery> {
  if ('ids' in query) return yield* await findDeliveries(query.ids, options);
  const { sinceMs = 0 } = query;
  for await (const deliveries of readDeliveries({ from: { ms: Math.max(0, sinceMs - clockMs) } }, options))
    yield* deliveries.filter(({ atMs }) => atMs >= sinceMs);
}

/** The deliveries of events, wherever they are, in their order; those that are not stored are skipped. */
async function findDeliveries(ids: readonly string[], { stream }: QueryOptions): Promise<KeyedDelivery[]> {
  const found = await stream.lastOf(ids.flatMap((id) => stream.subjects.anyOf(id)));
  const holders = await stream.lastOf([
    ...new Set(found.filter((message) => isPart(message, stream)).map(readMessageText)),
  ]);
  const all = new Map([...found, ...holders].map((message) => [message.seq, readStoredDelivery(message)]));
  return [...all.values()].filter((each) => each !== undefined).sort((a, b) => a.seq - b.seq);
}

/** Whether it names the subject of the delivery that holds its event. */
function isPart({ subject }: Message, { subjects }: InboxStream): boolean {
  return subject.startsWith(subjects.parts);
}

/** Says of deliveries which of their events are asked for, with what became of them. */
async function eventReader(
  query: EventQuery,
  { stream }: QueryOptions,
): Promise<(deliveries: readonly KeyedDelivery[]) => Promise<StoredEvent[]>> {
  const targets = await readTargets(stream);
  return async (deliveries) => {
    const asked = deliveries.flatMap((delivery) => askedEvents(delivery, query).map((event) => ({ event, delivery })));
    const several = asked.filter(({ delivery }) => delivery.events.length > 1);
    const places = await stream.lastOf(several.flatMap(({ event }) => stream.subjects.anyOf(event.eventId)));
    const homes = new Map(
      places.map((place) => [
        place.subject.split('.').at(-1),
        isPart(place, stream) ? readMessageText(place) : place.subject,
      ]),
    );
    // What two listeners stored at the same moment with others belongs to one of the deliveries.
    const own = asked.filter(
      ({ event, delivery }) => (homes.get(encodeEventId(event.eventId)) ?? delivery.subject) === delivery.subject,
    );
    const all = await readForwards([...new Set(own.map(({ delivery }) => delivery))], targets, stream);
    return own.flatMap(({ event, delivery }) => {
      const ended = all.get(delivery.seq) ?? new Map<string, Forward>();
      const forwards = [...ended.values()].sort((a, b) => a.atMs - b.atMs);
      const isOpen = (target: KnownTarget) => !ended.has(target.id) && waitsFor(delivery, target);
      const status = findEventStatus(
        forwards,
        targets.some((target) => isOpen(target) && isFor(target, event)),
      );
      return query.status === undefined || status === query.status ? [{ ...event, delivery, status, forwards }] : [];
    });
  };
}

/** How many deliveries a target has not got. */
export async function countWaiting(id: string, options: QueryOptions): Promise<number> {
  const target = (await readTargets(options.stream)).find((each) => each.id === id);
  if (target === undefined) return 0;
  if (target.eventType === undefined && target.where === undefined)
    return target.waiting.reduce((sum, count) => sum + count, 0);
  let count = 0;
  for await (const deliveries of readDeliveries({ from: Math.min(...target.floors) + 1 }, options))
    count += deliveries.filter((delivery) => isAwaited(delivery, target)).length;
  return count;
}

/** Whether a target is to get a delivery yet. */
function isAwaited(delivery: KeyedDelivery, target: KnownTarget): boolean {
  return waitsFor(delivery, target) && delivery.events.some((event) => isFor(target, event));
}
