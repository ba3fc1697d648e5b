import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  DeliverPolicy,
  DiscardPolicy,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StoredMsg,
  type StreamConfig,
} from '@nats-io/jetstream';
import { headers as natsHeaders } from '@nats-io/transport-node';
import { z } from 'zod';
import { dayMs } from '../../api/duration.ts';
import { tryParseJson, unicodeEscapes } from '../../api/json.ts';
import { SotraError } from '../../errors.ts';
import { readAllEvents } from '../events.ts';
import { type Delivery, type NatsAddress, type StoredDelivery, stripSecret } from '../inbox.ts';
import { inboxError, isApiError, isOutage, isStreamFull, readStatus } from './connection.ts';

/** The stream of an inbox. */
export interface Stream {
  name: string;
  client: JetStreamClient;
  manager: JetStreamManager;
}

/** In how many parts an inbox is forwarded: deliveries of one path are in one of them, in order. */
export const partitions = 16;
export const nanosPerMs = 1e6;
const defaultReplicas = 3;
const publishMs = 5000;
/** How long calls are repeated while servers elect a leader, and the pause between two. */
const patienceMs = 10_000;
const pauseMs = 250;

/** The subjects of an inbox, each of which holds one message. */
export const subjects = (name: string) => ({
  /** A delivery, by the first of its new events. */
  event: (partition: number | '*', eventId: string) => `${name}.event.${partition}.${eventId}`,
  /** A further event of a delivery: its data is the subject of that. */
  part: (eventId: string) => `${name}.part.${eventId}`,
  /** A delivery that was set aside for a target, and why. */
  failed: (seq: number | '*', target: string) => `${name}.failed.${seq}.${target}`,
});

export function choosePartition(webhook: string): number {
  return createHash('sha256').update(stripSecret(webhook)).digest().readUInt32BE() % partitions;
}

/** An id as a part of a subject; hashed if a subject may not contain it. */
export function encodeEventId(eventId: string): string {
  return /^[\w-]{1,80}$/.test(eventId) ? eventId : `=${createHash('sha256').update(eventId).digest('base64url')}`;
}

/** The result of a call that may be made twice: it is made again while servers elect a leader. Errors: `network`, `config`. */
export async function ask<T>({ name }: Pick<Stream, 'name'>, call: () => Promise<T>): Promise<T> {
  for (const endMs = performance.now() + patienceMs; ; await delay(pauseMs))
    try {
      return await call();
    } catch (error) {
      if (!isOutage(error) || performance.now() > endMs) throw inboxError(error, name);
    }
}

export async function openStream(connection: Parameters<typeof jetstream>[0], name: string): Promise<Stream> {
  const manager = await ask({ name }, () => jetstreamManager(connection, { timeout: publishMs, checkAPI: false }));
  return { name, client: jetstream(connection, { timeout: publishMs }), manager };
}

function makeConfig(name: string, replicas: number) {
  const { event, part, failed } = subjects(name);
  return {
    name,
    subjects: [event('*', '*'), part('*'), failed('*', '*')],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    // A full inbox refuses: removing the oldest event might remove one that waits to be forwarded.
    discard: DiscardPolicy.New,
    discard_new_per_subject: true,
    max_msgs_per_subject: 1,
    num_replicas: replicas,
    duplicate_window: dayMs * nanosPerMs,
    allow_direct: true,
  };
}

export interface MakeStream {
  replicas: number | undefined;
  onMade: (replicas: number) => void;
}

/**
 * Checks the stream of an inbox, and makes it if there is none and `make` says so; an existing one is never changed.
 * Errors: `config` for a stream that is missing, is not an inbox, or has another number of replicas.
 */
export async function requireStream(
  stream: Stream,
  { servers, tls, name }: NatsAddress,
  make: MakeStream | undefined,
): Promise<void> {
  const config = (message: string, hint: string) => new SotraError('config', message, { hint });
  const address = `${tls ? 'tls' : 'nats'}://${servers.join(',')}/${name}`;
  const { streams } = stream.manager;
  const find = () =>
    streams.info(name).catch((error: unknown) => {
      if (!isApiError(error, 'streamGone')) throw error;
    });
  let found = await ask(stream, find);
  if (found === undefined && make !== undefined) {
    const wanted = makeConfig(name, make.replicas ?? defaultReplicas);
    try {
      await ask(stream, () => streams.add(wanted as StreamConfig));
      return make.onMade(wanted.num_replicas);
    } catch (error) {
      // Another listener may have made it at the same moment.
      found = await ask(stream, find);
      if (found === undefined) throw error;
    }
  }
  if (found === undefined)
    throw config(
      `the inbox ${name} does not exist at ${servers.join(', ')}`,
      `sotra webhook listen --inbox ${address} --secret-file <file> makes it; or correct the name at the end of --inbox.`,
    );
  const own = makeConfig(name, 1);
  const keys = ['subjects', 'discard', 'discard_new_per_subject', 'max_msgs_per_subject', 'allow_direct'] as const;
  if (keys.some((key) => String(found.config[key]) !== String(own[key])))
    throw config(
      `the stream ${name} is not an inbox`,
      `Use one beside it: sotra webhook listen --inbox ${address}_2 makes it.`,
    );
  const { num_replicas: count } = found.config;
  if (make?.replicas !== undefined && count !== make.replicas)
    throw config(
      `the stream ${name} has --replicas ${count}, not ${make.replicas}`,
      `Omit --replicas, or change the stream: nats stream edit ${name} --replicas ${make.replicas}.`,
    );
}

/**
 * Stores a message and returns its number; `undefined` if the servers know the subject, or the id for a day. Both are acknowledged by most
 * of the replicas.
 */
export async function publishOnce(
  { name, client, manager }: Stream,
  subject: string,
  data: Uint8Array | string,
  { id, delivery }: { id?: string; delivery?: string } = {},
): Promise<number | undefined> {
  const headers = natsHeaders();
  if (delivery !== undefined) headers.set(headerName, delivery);
  let isIdLost = false;
  for (const endMs = performance.now() + publishMs; ; await delay(pauseMs))
    try {
      const { seq, duplicate } = await client.publish(subject, data, {
        headers,
        ...(id !== undefined && !isIdLost && { msgID: id }),
      });
      return duplicate ? undefined : seq;
    } catch (error) {
      const isTaken = isApiError(error, 'subjectTaken') && !isStreamFull(error);
      // The first one may be on its way to the other replicas, and be lost there.
      if (isTaken && (await manager.streams.getMessage(name, { last_by_subj: subject })) !== null) return undefined;
      // Nobody answers for a stream that was deleted, and for one whose leader is gone.
      const gone = isOutage(error) ? await manager.streams.info(name).catch((cause: unknown) => cause) : undefined;
      if (isApiError(gone, 'streamGone')) throw inboxError(gone, name);
      // If a change of leaders lost its first message, an id may stay in process for a day. The subject alone also holds one message.
      const isInProcess = isApiError(error, 'idInProcess');
      isIdLost ||= isInProcess;
      if (!(isTaken || isInProcess) || performance.now() > endMs) throw inboxError(error, name);
    }
}

/** The messages of a filter, or the deliveries, oldest first: those from a number on up to a number, or until the signal as they come. */
export async function* readMessages(
  stream: Stream,
  {
    filter = subjects(stream.name).event('*', '*'),
    from,
    ...end
  }: { filter?: string; from: number; to?: number; signal?: AbortSignal },
): AsyncGenerator<JsMsg> {
  // After a restart of the servers the client recreates the consumer, which fails for one that starts at a moment.
  const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: Math.max(1, from) };
  const consumer = await ask(stream, () =>
    stream.client.consumers.get(stream.name, { filter_subjects: filter, ...start }),
  );
  if (end.signal === undefined && (await ask(stream, () => consumer.info())).num_pending === 0) return;
  const messages = await ask(stream, () => consumer.consume({ max_messages: 500 }));
  const stop = () => messages.stop();
  end.signal?.addEventListener('abort', stop, { once: true });
  // It may have been stopped while the servers were asked.
  if (end.signal?.aborted) stop();
  try {
    for await (const message of messages) {
      if (message.seq > (end.to ?? Number.POSITIVE_INFINITY)) return;
      yield message;
      if (end.signal === undefined && message.info.pending === 0) return;
    }
  } catch (cause) {
    throw inboxError(cause, stream.name);
  } finally {
    end.signal?.removeEventListener('abort', stop);
    stop();
  }
}

/** The messages of events: of a delivery, or that name its subject. */
export function readEventMessages(stream: Stream, eventIds: readonly string[]): Promise<StoredMsg[]> {
  const { event, part } = subjects(stream.name);
  return readLast(
    stream,
    eventIds.map(encodeEventId).flatMap((id) => [event('*', id), part(id)]),
  );
}

/** The messages of subjects, those that are there. */
export async function readLast(stream: Stream, all: readonly string[]): Promise<StoredMsg[]> {
  const found: StoredMsg[] = [];
  // nats-server answers with 1,024 at most.
  for (let at = 0; at < all.length; at += 1000)
    await ask(stream, async () => {
      const part: StoredMsg[] = [];
      try {
        const query = { multi_last: all.slice(at, at + 1000) };
        for await (const message of await stream.manager.direct.getLastMessagesFor(stream.name, query))
          part.push(message);
      } catch (error) {
        if (readStatus(error) !== 404) throw error;
      }
      found.push(...part);
    });
  return found;
}

/** The data of the message of a delivery is the body as it came; this header has the rest. */
const headerName = 'Sotra-Delivery';
const texts = z.array(z.string());
/** `newIds`: the events that are new, if not all are. */
const headSchema = z.object({ webhook: z.string(), atMs: z.number(), headers: texts, newIds: texts.optional() });
/** Servers accept 64 KB of headers; a longer list of ids is omitted: all events of the body then count as new. */
const maxIdBytes = 32 * 1024;

export function writeHead({ webhook, atMs, headers }: Delivery, newIds: readonly string[] | undefined): string {
  const ids = newIds === undefined || JSON.stringify(newIds).length > maxIdBytes ? {} : { newIds };
  // Headers of messages are ASCII.
  return JSON.stringify({ webhook, atMs, headers, ...ids }).replace(/[\u007f-\uffff]/g, unicodeEscapes);
}

/** The delivery that a message holds; `undefined` for a message of another client. */
export function readMessage(message: JsMsg | StoredMsg): StoredDelivery | undefined {
  const headers = 'header' in message ? message.header : message.headers;
  const { data: head } = headSchema.safeParse(tryParseJson(headers?.get(headerName) ?? ''));
  if (head === undefined) return undefined;
  const { newIds, ...delivery } = head;
  const [body, fresh] = [Buffer.from(message.data), newIds && new Set(newIds)];
  const events = readAllEvents(body).filter(({ eventId }) => fresh?.has(eventId) ?? true);
  return { ...delivery, seq: message.seq, body, events };
}
