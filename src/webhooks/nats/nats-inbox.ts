import { command } from '../../client/shell.ts';
import { SotraError } from '../../errors.ts';
import type { Io } from '../../lib/io.ts';
import type { EventSummary } from '../event-facts.ts';
import { readAllEvents } from '../events.ts';
import type { Delivery, Inbox, StoredDelivery } from '../inbox.ts';
import type { NatsAddress } from './address.ts';
import { connectInbox, makeStream } from './create.ts';
import { readStoredDelivery, writeHeaders } from './message.ts';
import { countWaiting, type QueryOptions, queryDeliveries, queryEvents, tailEvents } from './queries.ts';
import { type InboxStream, within } from './stream.ts';
import { choosePartition, encodeEventId, targetId } from './subjects.ts';
import { takeDeliveries } from './take.ts';
import { addTargets, readRetries } from './targets.ts';

interface NatsInboxOptions {
  address: NatsAddress;
  credsFile: string | undefined;
  io: Pick<Io, 'now' | 'sleep'>;
  warn: (text: string) => void;
  /** To make the stream if there is none. */
  make?: { replicas: number | undefined; onMade: (replicas: number) => void } | undefined;
}

/** How long servers may take for what was last said to them. */
const flushMs = 1000;
/** What the headers of a message may take beside a body. */
const headerBytes = 64 * 1024;

/** Opens an inbox of a cluster. Errors: `network` if no server answers; `config` for credentials, a stream that is missing or is not an inbox. */
export async function openNats({ address, credsFile, io, warn, make }: NatsInboxOptions): Promise<Inbox> {
  const { connection, stream, found } = await connectInbox(address, credsFile);
  try {
    if (make !== undefined) {
      const replicas = await makeStream(address, { stream, found }, make.replicas);
      if (replicas !== undefined) make.onMade(replicas);
    } else if (found === undefined) throw missing(address);
  } catch (error) {
    await connection.close();
    throw error;
  }
  const stray = new Set<number>();
  const onStray: QueryOptions['onStray'] = ({ seq, subject }) => {
    if (stray.size === 0)
      warn(`message ${seq} of the inbox (${subject}) is not a delivery and is skipped: only sotra may publish to it`);
    stray.add(seq);
  };
  const options = (): QueryOptions => ({ stream, nowMs: io.now(), onStray });
  return {
    name: address.name,
    maxBytes: (connection.info?.max_payload ?? 1024 * 1024) - headerBytes,
    count: () => stream.count(stream.subjects.deliveries),
    store: (deliveries) => Promise.all(deliveries.map((delivery) => storeDelivery(delivery, stream))),
    addTargets: async (targets) => addTargets(targets, (await stream.info())?.state.last_seq ?? 0, stream),
    take: (target, signal) => takeDeliveries(target, { ...options(), sleep: io.sleep, signal }),
    retries: () => readRetries(stream),
    waiting: async (targets) => {
      let count = 0;
      for (const target of targets) count += await countWaiting(targetId(target), options());
      return count;
    },
    events: (query) => queryEvents(query, options()),
    follow: (query, signal) => tailEvents(query, { ...options(), signal }),
    deliveries: (query) => queryDeliveries(query, options()),
    close: async () => {
      if (stray.size > 1) warn(`${stray.size} messages of the inbox are not deliveries and were skipped`);
      try {
        await within(flushMs, connection.flush(), io.sleep);
      } finally {
        await connection.close();
      }
    },
  };
}

function missing({ name, servers, tls }: NatsAddress): SotraError {
  const address = `${tls ? 'tls' : 'nats'}://${servers.join(',')}/${name}`;
  return new SotraError('config', `the inbox ${name} does not exist at ${servers.join(', ')}`, {
    hint: command`sotra webhook listen --inbox ${address} --secret-file <file> makes it; or correct the name at the end of --inbox.`,
  });
}

/** Messages that are stored at once. */
const maxAtOnce = 1000;

/**
 * Stores a delivery with its new events; `undefined` for one whose events are all stored. The first new event is the subject of the message;
 * where there are more, each has a message that names it.
 */
async function storeDelivery(delivery: Delivery, stream: InboxStream): Promise<StoredDelivery | undefined> {
  const { subjects } = stream;
  const all = readAllEvents(delivery.body);
  // Of one event the servers say whether it is stored.
  const open = all.length === 1 ? all : await findNew(all, stream);
  for (let [first, ...rest] = open; first !== undefined; [first, ...rest] = rest) {
    const { eventId } = first;
    const subject = subjects.event(choosePartition(delivery.webhook), eventId);
    const newIds = all.length === 1 ? undefined : [eventId, ...rest.map((each) => each.eventId)];
    const options = { id: eventId, headers: writeHeaders(delivery, newIds) };
    const { seq, isNew, known } = await stream.publish(subject, delivery.body, options);
    if (known !== undefined && readStoredDelivery(known) === undefined)
      throw new SotraError('config', `message ${known.seq} of the inbox (${subject}) is not a delivery`, {
        hint: `Remove it: event ${eventId} cannot be stored beside it.`,
      });
    if (!isNew) continue;
    const fresh = [first];
    for (let at = 0; at < rest.length; at += maxAtOnce) {
      const slice = rest.slice(at, at + maxAtOnce);
      const parts = await Promise.all(
        slice.map((each) => stream.publish(subjects.part(each.eventId), subject, { id: each.eventId })),
      );
      fresh.push(...slice.filter((_, index) => parts[index]?.isNew));
    }
    return { ...delivery, seq, events: fresh };
  }
  return undefined;
}

async function findNew(events: readonly EventSummary[], stream: InboxStream): Promise<EventSummary[]> {
  const { subjects } = stream;
  const found = await stream.lastOf(events.flatMap(({ eventId }) => subjects.anyOf(eventId)));
  const known = new Set(found.map(({ subject }) => subject.split('.').at(-1)));
  return events.filter(({ eventId }) => !known.has(encodeEventId(eventId)));
}
