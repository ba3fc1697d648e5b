import { hourMs } from '../../api/duration.ts';
import { isObject, tryParseJson } from '../../api/json.ts';
import type { Forward } from '../../lib/forward.ts';
import type { Io } from '../../lib/io.ts';
import type { DeliveryQuery, EventQuery, Inbox, StoredDelivery, StoredEvent } from '../inbox.ts';
import { askedEvents, mapErrors } from '../query.ts';
import type { NatsAddress } from './address.ts';
import { openConnection } from './connection.ts';
import { inboxError } from './errors.ts';
import { addTarget, countWaiting, startForwarding } from './forward.ts';
import { readDelivery, readEvent, readStored, storeDelivery } from './messages.ts';
import { ask, encodeEventId, openStream, readMessages, requireStream, type Stream, subjects } from './stream.ts';

interface NatsInboxOptions {
  address: NatsAddress;
  credsFile: string | undefined;
  io: Pick<Io, 'now' | 'sleep'>;
  /** To make the stream if there is none. */
  make?: { replicas: number | undefined; onMade: (replicas: number) => void } | undefined;
}

/** What the headers of a message may take beside a body. */
const headerBytes = 64 * 1024;
/** How far the clocks of listeners and servers may be apart. */
const clockMs = hourMs;
/** Read at once when going backwards. */
const windowSize = 2000;

/** Opens an inbox on a NATS cluster. Errors: `network` if no server answers; `config` for credentials, and for a stream that is missing or is not an inbox. */
export async function openNats({ address, credsFile, io, make }: NatsInboxOptions): Promise<Inbox> {
  const { name } = address;
  const connection = await openConnection(address, credsFile);
  let stream: Stream;
  try {
    stream = await openStream(connection, name);
    const replicas = await requireStream(stream, address, make);
    if (replicas !== undefined) make?.onMade(replicas);
  } catch (error) {
    await connection.close();
    throw error;
  }
  const { streams } = stream.manager;
  const read = <Item>(items: AsyncIterable<Item>) => mapErrors(items, (error) => inboxError(error, name));
  return {
    name,
    isStream: true,
    maxBytes: (connection.info?.max_payload ?? 1024 * 1024) - headerBytes,
    summary: async () => {
      const { state } = await ask(stream, () => streams.info(name));
      return { stored: state.messages, oldestMs: Date.parse(String(state.first_ts)) };
    },
    store: (deliveries) => Promise.all(deliveries.map((delivery) => storeDelivery(stream, delivery))),
    addTargets: async (targets) => {
      const added = await Promise.all(targets.map((target) => addTarget(stream, target)));
      return targets.filter((_, index) => added[index]);
    },
    forward: async (options) => {
      for (const target of options.targets) await addTarget(stream, target);
      return startForwarding(stream, { ...options, ...io });
    },
    retries: async () => [],
    waiting: async (targets) => {
      const counts = await Promise.all(targets.map((target) => countWaiting(stream, target)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    failed: async () => [...(await readFailed(stream)).values()].flat().length,
    events: (query) => read(queryEvents(stream, query)),
    follow: (query, signal) => read(follow(stream, query, { from: new Date(io.now()), signal })),
    deliveries: (query) => read(queryDeliveries(stream, query)),
    settle: async ({ seq }) =>
      void (await ask(stream, () => streams.purge(name, { filter: subjects(name).failed(seq, '*') }))),
    close: () => connection.close(),
  };
}

/** The forwards that were set aside, by number of the delivery. */
async function readFailed(stream: Stream): Promise<Map<number, Forward[]>> {
  const failed = new Map<number, Forward[]>();
  for await (const message of readMessages(stream, subjects(stream.name).failed('*', '*'), {})) {
    const seq = Number(message.subject.split('.').at(-2));
    const forward = tryParseJson(message.string());
    if (isObject(forward)) failed.set(seq, [...(failed.get(seq) ?? []), forward as unknown as Forward]);
  }
  return failed;
}

const allEvents = ({ name }: Stream) => subjects(name).event('*', '*');
const subjectsOf = ({ name }: Stream, ids: readonly string[]) =>
  ids.map((id) => subjects(name).event('*', encodeEventId(id)));

/** The deliveries of a query, oldest first. */
async function* queryDeliveries(stream: Stream, query: DeliveryQuery): AsyncGenerator<StoredDelivery> {
  if ('failed' in query) {
    for (const seq of (await readFailed(stream)).keys()) {
      const delivery = await readStored(stream, seq);
      if (delivery !== undefined) yield delivery;
    }
  } else if ('ids' in query) {
    const found = new Map<number, StoredDelivery>();
    for await (const message of readMessages(stream, subjectsOf(stream, query.ids), {})) {
      const { delivery } = (await readEvent(stream, message)) ?? {};
      if (delivery !== undefined) found.set(delivery.seq, delivery);
    }
    yield* found.values();
  } else {
    const { sinceMs = 0 } = query;
    const from = new Date(Math.max(0, sinceMs - clockMs));
    for await (const message of readMessages(stream, allEvents(stream), { from })) {
      const delivery = readDelivery(message);
      if (delivery !== undefined && delivery.atMs >= sinceMs) yield delivery;
    }
  }
}

/** The stored events that a query asks for, newest first; one of exactly the asked id comes before all. */
async function* queryEvents(stream: Stream, query: EventQuery): AsyncGenerator<StoredEvent> {
  const failed = await readFailed(stream);
  const collect = async (filter: string | string[], span: { from?: number; to?: number }): Promise<StoredEvent[]> => {
    const events: StoredEvent[] = [];
    for await (const event of findEvents(stream, readMessages(stream, filter, span), query, failed)) events.push(event);
    return events.reverse();
  };
  const [exact] = query.idStart === undefined ? [] : await collect(subjectsOf(stream, [query.idStart]), {});
  if (exact !== undefined) yield exact;
  const { state } = await ask(stream, () => stream.manager.streams.info(stream.name));
  for (let to = state.last_seq; to >= state.first_seq && to > 0; to -= windowSize) {
    const events = await collect(allEvents(stream), { from: to - windowSize + 1, to });
    yield* events.filter(({ eventId }) => eventId !== exact?.eventId);
  }
}

/** Events as they are stored from a moment on. */
async function* follow(
  stream: Stream,
  query: EventQuery,
  span: { from: Date; signal: AbortSignal },
): AsyncGenerator<StoredEvent> {
  yield* findEvents(stream, readMessages(stream, allEvents(stream), span), query);
}

type Messages = ReturnType<typeof readMessages>;

/** The events of messages that a query asks for. Only the consumers of the stream know which deliveries wait or were forwarded. */
async function* findEvents(
  stream: Stream,
  messages: Messages,
  query: EventQuery,
  failed: ReadonlyMap<number, Forward[]> = new Map(),
): AsyncGenerator<StoredEvent> {
  for await (const message of messages) {
    const { delivery, event } = (await readEvent(stream, message)) ?? {};
    if (delivery === undefined || event === undefined) continue;
    const forwards = failed.get(delivery.seq) ?? [];
    const status = forwards.length > 0 ? 'failed' : null;
    if (query.status !== undefined && query.status !== status) continue;
    for (const asked of askedEvents({ ...delivery, events: [event] }, query))
      yield { ...asked, delivery, status, forwards };
  }
}
