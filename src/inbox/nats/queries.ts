import { hourMs } from '../../model/duration.ts';
import type { EventQuery, StoredDelivery, StoredEvent } from '../inbox.ts';
import { askedEvents } from '../query.ts';
import { bodyAt, copyFinder, deliveryOf, eventIdOf, eventReader } from './message.ts';
import type { InboxStreams, Message } from './streams.ts';
import { partitions } from './subjects.ts';
import { floorReader, readTargets, statusOf } from './targets.ts';

export interface QueryOptions extends InboxStreams {
  nowMs: number;
}

/** How far the clocks of listeners and servers may be apart. */
const clockMs = hourMs;
/** Read at once when going backwards; twice as many each time. */
const [minWindow, maxWindow] = [64, 4096];

/** The stored events that a query asks for, newest first; one of exactly the asked id comes before all. */
export async function* queryEvents(query: EventQuery, options: QueryOptions): AsyncGenerator<StoredEvent> {
  const toEvent = await eventMaker(query, options);
  const { streams, subjects } = options;
  let exact: StoredEvent | undefined;
  if (query.idStart !== undefined) {
    const [found] = await findEvents([query.idStart], options);
    exact = found && (await toEvent(found));
    if (exact !== undefined) yield exact;
  }
  const oldestMs = (query.sinceMs ?? 0) - clockMs;
  const { firstSeq, lastSeq } = (await streams.state(subjects.events)) ?? { firstSeq: 0, lastSeq: 0 };
  let size = minWindow;
  for (let high = lastSeq; high >= firstSeq && high > 0; ) {
    const low = Math.max(1, firstSeq, high - size + 1);
    const window = await readWindow(low, high, options);
    for (const message of window.reverse()) {
      if (message.storedMs < oldestMs) return;
      const event = await toEvent(message);
      if (event === undefined || event.eventId === exact?.eventId) continue;
      if (await isFirst(message, options)) yield event;
    }
    high = low - 1;
    size = Math.min(maxWindow, size * 2);
  }
}

/** Whether it is no copy. */
async function isFirst({ subject, seq }: Message, { streams, subjects }: QueryOptions): Promise<boolean> {
  return (await streams.firstOf(subjects.events, subject, seq)) === seq;
}

async function readWindow(low: number, high: number, { streams, subjects }: QueryOptions): Promise<Message[]> {
  const messages: Message[] = [];
  for await (const message of streams.read(subjects.events, { filter: subjects.all, from: low, ends: true })) {
    if (message.seq > high) break;
    messages.push(message);
    if (message.seq === high) break;
  }
  return messages;
}

/** Events as they are stored from now on. */
export async function* followEvents(
  query: EventQuery,
  { signal, ...options }: QueryOptions & { signal: AbortSignal },
): AsyncGenerator<StoredEvent> {
  const { streams, subjects, nowMs } = options;
  const toEvent = await eventMaker(query, options);
  const reading = streams.read(subjects.events, { filter: subjects.all, from: { ms: nowMs }, ends: false, signal });
  for await (const message of reading) {
    const event = await toEvent(message);
    if (event !== undefined && (await isFirst(message, options))) yield event;
  }
}

/** The deliveries that hold such events, oldest first. */
export async function* queryDeliveries(
  query: EventQuery | { ids: readonly string[] },
  options: QueryOptions,
): AsyncGenerator<StoredDelivery> {
  const { streams, subjects } = options;
  if ('ids' in query) {
    const found = await findEvents(query.ids, options);
    const holders = new Set(found.map((message) => bodyAt(message) ?? message.subject));
    const messages = await Promise.all([...holders].map((subject) => streams.last(subjects.events, subject)));
    yield* messages.flatMap((each) => (each ? [deliveryOf(each)] : [])).sort((a, b) => a.seq - b.seq);
    return;
  }
  const from = query.sinceMs === undefined ? 1 : { ms: Math.max(0, query.sinceMs - clockMs) };
  const toEvent = query.status === undefined ? undefined : await eventMaker(query, options);
  const isCopy = copyFinder();
  for await (const message of streams.read(subjects.events, { filter: subjects.all, from, ends: true })) {
    if (bodyAt(message) !== undefined || isCopy(message)) continue;
    const delivery = deliveryOf(message);
    const events = askedEvents(delivery, query);
    if (events.length === 0 || (toEvent && (await toEvent(message)) === undefined)) continue;
    yield { ...delivery, events };
  }
}

/** The messages of events, wherever they are; those that are not stored are skipped. */
async function findEvents(ids: readonly string[], { streams, subjects }: QueryOptions): Promise<Message[]> {
  const all = Array.from({ length: partitions }, (_, partition) => partition);
  const found = await Promise.all(
    ids.flatMap((id) => all.map((partition) => streams.last(subjects.events, subjects.event(partition, id)))),
  );
  return found.filter((message) => message !== undefined && ids.includes(eventIdOf(message) ?? '')) as Message[];
}

/** What a message is, with what became of it; `undefined` where it is not asked for. */
async function eventMaker(
  query: EventQuery,
  options: QueryOptions,
): Promise<(message: Message) => Promise<StoredEvent | undefined>> {
  const targets = await readTargets(options, options.nowMs);
  const floors = floorReader(options);
  const read = eventReader(options.streams, options.subjects.events);
  return async (message) => {
    const found = await read(message);
    if (found === undefined) return undefined;
    const { event, delivery } = found;
    if (askedEvents({ ...delivery, events: [event] }, query).length === 0) return undefined;
    const { status, forwards } = await statusOf(delivery, event, { ...options, targets, floors });
    if (query.status !== undefined && status !== query.status) return undefined;
    return { ...event, delivery, status, forwards };
  };
}
