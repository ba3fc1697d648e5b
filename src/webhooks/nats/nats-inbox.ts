import { type NatsConnection, PermissionViolationError } from '@nats-io/transport-node';
import { hourMs } from '../../api/duration.ts';
import { isObject, tryParseJson } from '../../api/json.ts';
import type { Io } from '../../lib/io.ts';
import { type EventSummary, readAllEvents } from '../events.ts';
import {
  askedEvents,
  type Delivery,
  type DeliveryQuery,
  type EventQuery,
  type Forward,
  type Inbox,
  type NatsAddress,
  type StoredDelivery,
  type StoredEvent,
} from '../inbox.ts';
import { inboxError, openConnection } from './connection.ts';
import { addTarget, countWaiting, startForwarding } from './forward.ts';
import {
  ask,
  choosePartition,
  encodeEventId,
  type MakeStream,
  openStream,
  publishOnce,
  readEventMessages,
  readLast,
  readMessage,
  readMessages,
  requireStream,
  type Stream,
  subjects,
  writeHead,
} from './stream.ts';

interface NatsInboxOptions {
  address: NatsAddress;
  credsFile: string | undefined;
  io: Pick<Io, 'now' | 'sleep'>;
  /** To make the stream if there is none. */
  make?: MakeStream | undefined;
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
    await requireStream(stream, address, make);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    name,
    isStream: true,
    maxBytes: (connection.info?.max_payload ?? 1024 * 1024) - headerBytes,
    summary: async () => {
      for await (const { info, time } of readMessages(stream, { from: 1 }))
        return { stored: 1 + info.pending, oldestMs: time.getTime() };
      return { stored: 0, oldestMs: undefined };
    },
    store: (deliveries) => Promise.all(deliveries.map((delivery) => store(stream, delivery))),
    addTargets: async (targets) => {
      const added = await Promise.all(targets.map((target) => addTarget(stream, target)));
      return targets.filter((_, index) => added[index]);
    },
    forward: async (options) => {
      for (const target of options.targets) await addTarget(stream, target);
      void reportRights(connection, name, options.onError);
      return startForwarding(stream, { ...options, ...io });
    },
    retries: async () => [],
    waiting: async (targets) => {
      const counts = await Promise.all(targets.map((target) => countWaiting(stream, target)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    failed: async () => [...(await readFailed(stream)).values()].flat().length,
    events: (query) => queryEvents(stream, query),
    follow: (query, signal) => follow(stream, query, { sinceMs: io.now(), signal }),
    deliveries: (query) => queryDeliveries(stream, query),
    markAccepted: async ({ seq }) =>
      void (await ask(stream, () => stream.manager.streams.purge(name, { filter: subjects(name).failed(seq, '*') }))),
    close: () => connection.close(),
  };
}

/** An acknowledgment has no answer: only the status of the connection says that it was refused. */
async function reportRights(
  connection: NatsConnection,
  name: string,
  onError: (error: unknown) => void,
): Promise<void> {
  for await (const status of connection.status())
    if (status.type === 'error' && status.error instanceof PermissionViolationError)
      onError(inboxError(status.error, name));
}

/**
 * Stores a delivery with its new events; `undefined` for one whose events are all stored. The first new event is the subject of its message;
 * each further one has a message that names it.
 */
async function store(stream: Stream, delivery: Delivery): Promise<StoredDelivery | undefined> {
  const { event, part } = subjects(stream.name);
  const all = readAllEvents(delivery.body);
  // Of one event the servers say whether it is stored.
  let open = all.length === 1 ? all : await dropStored(stream, all);
  for (let [first, ...rest] = open; first !== undefined; [first, ...rest] = open) {
    const id = encodeEventId(first.eventId);
    const subject = event(choosePartition(delivery.webhook), id);
    const newIds = all.length === 1 ? undefined : open.map(({ eventId }) => eventId);
    const seq = await publishOnce(stream, subject, delivery.body, { id, delivery: writeHead(delivery, newIds) });
    if (seq === undefined) {
      // Another listener may store the rest with the first event at this moment.
      const left = rest.length === 0 ? [] : await dropStored(stream, open);
      open = left.filter((each) => each !== first);
      continue;
    }
    const events = [first];
    for (const each of rest) {
      const restId = encodeEventId(each.eventId);
      if ((await publishOnce(stream, part(restId), subject, { id: restId })) !== undefined) events.push(each);
    }
    return { ...delivery, seq, events };
  }
  return undefined;
}

/** The events that are not stored, on their own or with another event of a delivery. */
async function dropStored(stream: Stream, events: readonly EventSummary[]): Promise<EventSummary[]> {
  const found = await readEventMessages(
    stream,
    events.map(({ eventId }) => eventId),
  );
  const named = found.map(({ subject }) => subject.split('.').at(-1));
  const together = found.flatMap((message) => readMessage(message)?.events ?? []);
  const stored = new Set([...named, ...together.map(({ eventId }) => encodeEventId(eventId))]);
  return events.filter(({ eventId }) => !stored.has(encodeEventId(eventId)));
}

/** The forwards that were set aside, by number of the delivery. */
async function readFailed(stream: Stream): Promise<Map<number, Forward[]>> {
  const failed = new Map<number, Forward[]>();
  for await (const message of readMessages(stream, { filter: subjects(stream.name).failed('*', '*'), from: 1 })) {
    const seq = Number(message.subject.split('.').at(-2));
    const forward = tryParseJson(message.string());
    if (isObject(forward)) failed.set(seq, [...(failed.get(seq) ?? []), forward as unknown as Forward]);
  }
  return failed;
}

/** The deliveries of events, wherever they are. */
async function findDeliveries(stream: Stream, ids: readonly string[]): Promise<StoredDelivery[]> {
  const found = await readEventMessages(stream, ids);
  const isPart = ({ subject }: { subject: string }) => subject.startsWith(subjects(stream.name).part(''));
  const holders = await readLast(stream, [...new Set(found.filter(isPart).map((each) => each.string()))]);
  const deliveries = [...found, ...holders].flatMap((message) => readMessage(message) ?? []);
  return [...new Map(deliveries.map((each) => [each.seq, each])).values()].sort((a, b) => a.seq - b.seq);
}

/** The number of the first message from a moment on; `undefined` if there is none. */
async function findFirst(stream: Stream, sinceMs: number): Promise<number | undefined> {
  const query = { start_time: new Date(Math.max(0, sinceMs)) };
  const message = await ask(stream, () => stream.manager.direct.getMessage(stream.name, query));
  return message?.seq;
}

/** The deliveries of a query, oldest first. */
async function* queryDeliveries(stream: Stream, query: DeliveryQuery): AsyncGenerator<StoredDelivery> {
  if ('ids' in query) return yield* await findDeliveries(stream, query.ids);
  const failed = 'failed' in query ? await readFailed(stream) : undefined;
  if (failed?.size === 0) return;
  const { sinceMs = 0 } = query as EventQuery;
  const from = failed === undefined ? await findFirst(stream, sinceMs - clockMs) : Math.min(...failed.keys());
  if (from === undefined) return;
  for await (const message of readMessages(stream, { from })) {
    const delivery = failed === undefined || failed.has(message.seq) ? readMessage(message) : undefined;
    if (delivery !== undefined && delivery.atMs >= sinceMs) yield delivery;
  }
}

/** The stored events that a query asks for, newest first; one of exactly the asked id comes before all. */
async function* queryEvents(stream: Stream, query: EventQuery): AsyncGenerator<StoredEvent> {
  const failed = await readFailed(stream);
  const exact = query.idStart === undefined ? [] : await findDeliveries(stream, [query.idStart]);
  const first = exact
    .flatMap((delivery) => findEvents(delivery, query, failed))
    .find(({ eventId }) => eventId === query.idStart);
  if (first !== undefined) yield first;
  const { state } = await ask(stream, () => stream.manager.streams.info(stream.name));
  for (let to = state.last_seq; to >= state.first_seq && to > 0; to -= windowSize) {
    const events: StoredEvent[] = [];
    for await (const message of readMessages(stream, { from: to - windowSize + 1, to }))
      events.push(...findEvents(readMessage(message), query, failed));
    yield* events.filter(({ eventId }) => eventId !== first?.eventId).reverse();
  }
}

/** The events of a delivery that a query asks for. Only the consumers of the stream know which deliveries wait or were forwarded. */
function findEvents(
  delivery: StoredDelivery | undefined,
  query: EventQuery,
  failed: ReadonlyMap<number, Forward[]> = new Map(),
): StoredEvent[] {
  if (delivery === undefined) return [];
  const forwards = failed.get(delivery.seq) ?? [];
  const status = forwards.length > 0 ? 'failed' : null;
  if (query.status !== undefined && query.status !== status) return [];
  return askedEvents(delivery, query).map((event) => ({ ...event, delivery, status, forwards }));
}

/** Events as they are stored from a moment on. */
async function* follow(
  stream: Stream,
  query: EventQuery,
  { sinceMs, signal }: { sinceMs: number; signal: AbortSignal },
): AsyncGenerator<StoredEvent> {
  // Asked first: a message that is stored between the two is found.
  const { state } = await ask(stream, () => stream.manager.streams.info(stream.name));
  const from = (await findFirst(stream, sinceMs)) ?? state.last_seq + 1;
  for await (const message of readMessages(stream, { from, signal })) yield* findEvents(readMessage(message), query);
}
