import {
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { messageOf, SotraError } from '../../errors.ts';
import { connectionError, isSilence, type MsgHdrs, newHeaders, type ServerLink } from './connection.ts';
import type { Subjects } from './subjects.ts';

/** A message of a stream. */
export interface Message {
  subject: string;
  seq: number;
  /** When the servers stored it. */
  storedMs: number;
  headers: MsgHdrs | undefined;
  data: Uint8Array;
}

export interface StreamState {
  messages: number;
  /** Different ones: copies are not counted. */
  subjects: number;
  bytes: number;
  firstSeq: number;
  lastSeq: number;
}

/** How a stream is set up; times in milliseconds, 0 and -1: without limit. */
export interface StreamShape {
  name: string;
  subjects: readonly string[];
  replicas: number;
  maxAgeMs: number;
  maxBytes: number;
  maxPerSubject: number;
  /** What happens when it is full: the new message is refused, or the oldest one is removed. */
  whenFull: 'refuse' | 'remove-oldest';
}

/** A copy of a message comes at the same moment as it, or with a server that was away: within so many messages. */
export const nearby = 10_000;

interface ReadOptions {
  filter: string;
  /** The first number, or the first moment. */
  from: number | { ms: number } | 'last-of-each';
  /** Ends behind what is stored now; otherwise it goes on with what comes until the signal. */
  ends: boolean;
  /** Without their data. */
  headersOnly?: boolean;
  signal?: AbortSignal | undefined;
}

/** A replica is up to date that lacks fewer messages, */
const maxLag = 100;
/** and was heard of within so long: leaders ask every second. */
const maxSilenceMs = 2500;

const requestMs = 5000;
/** What may be done twice waits less, as its server may be frozen: again on the connection to another one, and at last for long. */
const againMs = 2000;
const askMs = 1000;
const maxAsks = 3;
/** A reader that hears nothing of its server for two of these starts again elsewhere. */
const heartbeatMs = 1000;
const restartMs = 200;
/** How long a reader that ends waits for servers that come back. */
const patienceMs = 10_000;
const checkMs = 1500;

/** The streams of one connection; each call's errors: `network`, `config` naming what to change. */
export type Streams = ReturnType<typeof openStreams>;

/** The streams of an inbox, and the subjects in them. */
export interface InboxStreams {
  streams: Streams;
  subjects: Subjects;
}

export function openStreams({ connection, failure }: ServerLink) {
  const errorOf = (thrown: unknown, stream: string): SotraError => {
    const error = streamError(thrown, stream);
    return (error.code === 'network' && connectionError(failure())) || error;
  };
  const client = jetstream(connection, { timeout: againMs });
  const open = (timeout: number) => {
    const manager = jetstreamManager(connection, { timeout, checkAPI: false });
    manager.catch(() => undefined);
    return manager;
  };
  const [manager, quick] = [open(requestMs), open(askMs)];
  const call = async <T>(stream: string, act: () => Promise<T>): Promise<T> => {
    try {
      return await act();
    } catch (cause) {
      throw errorOf(cause, stream);
    }
  };
  const ask = async <T>(act: (asked: JetStreamManager) => Promise<T>): Promise<T> => {
    for (let asks = 0; asks < maxAsks; asks += 1)
      try {
        return await act(await quick);
      } catch (error) {
        if (!isSilence(error)) throw error;
      }
    return await act(await manager);
  };
  const find = async (stream: string) => {
    try {
      return await ask(({ streams }) => streams.info(stream));
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return undefined;
      throw error;
    }
  };
  const get = (stream: string, query: { last_by_subj: string } | { seq: number; next_by_subj?: string }) =>
    call(stream, async (): Promise<Message | undefined> => {
      const found = await ask(({ streams }) => streams.getMessage(stream, query as { seq: number }));
      if (found === null) return undefined;
      const { subject, seq, time, header: headers, data } = found;
      return { subject, seq, storedMs: time.getTime(), headers, data };
    });
  const first = (stream: string, subject: string, seq: number, within = nearby) =>
    get(stream, { seq: Math.max(1, seq - within), next_by_subj: subject });
  /** The number of the first message of a subject: of this one, or where it is a copy, of the one stored before it. */
  const firstOf = async (stream: string, subject: string, seq: number): Promise<number> =>
    Math.min(seq, (await first(stream, subject, seq))?.seq ?? seq);
  const remove = (stream: string, seq: number) =>
    call(stream, async () => {
      const { streams } = await manager;
      // Its bytes are left where they are.
      await streams.deleteMessage(stream, seq, false).catch((error) => {
        if (!isGone(error)) throw error;
      });
    });
  return {
    /** Its state; `undefined` where there is none. */
    state: (stream: string) =>
      call(stream, async (): Promise<StreamState | undefined> => {
        const state = (await find(stream))?.state;
        return (
          state && {
            messages: state.messages,
            subjects: state.num_subjects ?? 0,
            bytes: state.bytes,
            firstSeq: state.first_seq,
            lastSeq: state.last_seq,
          }
        );
      }),
    shape: (stream: string) => call(stream, async () => shapeOf((await find(stream))?.config)),
    create: (shape: StreamShape) =>
      call(shape.name, async () => void (await (await manager).streams.add(configOf(shape)))),
    /**
     * Stores a message and resolves with its number once most of the replicas have it. It is never one that the servers may refuse, by a
     * message id or an expected number: after the kill of a server, replicas of 2.9 count such refusals differently, and come to hold other
     * messages than the leader (nats-server, issue 4174).
     */
    publish: (stream: string, subject: string, data: Uint8Array | string, headers?: Readonly<Record<string, string>>) =>
      call(stream, async (): Promise<number> => {
        const options = headers === undefined ? {} : { headers: newHeaders(headers) };
        return (await client.publish(subject, data, { timeout: requestMs, ...options })).seq;
      }),
    /** Stores a message that replaces the last one of its subject, and may do so twice. Fails after `againMs`. */
    replace: (stream: string, subject: string, text: string) =>
      call(stream, async () => void (await client.publish(subject, text))),
    /** The first message of a subject that has one of this number. */
    first,
    firstOf,
    /** Whether all replicas are there and up to date, as far as the leader knows. */
    isWhole: (stream: string) =>
      call(stream, async (): Promise<boolean> => {
        const { cluster } = (await find(stream)) ?? {};
        return (cluster?.replicas ?? []).every(
          ({ offline, lag = 0, active }) => !offline && lag < maxLag && active < maxSilenceMs * nanosPerMs,
        );
      }),
    /** Removes a message that is a copy; resolves with the number of the one that stays. */
    keepFirst: async (stream: string, subject: string, seq: number): Promise<number> => {
      const firstSeq = await firstOf(stream, subject, seq);
      // When another server leads, the number may be that of another message.
      if (firstSeq < seq && (await get(stream, { seq }))?.subject === subject) await remove(stream, seq);
      return firstSeq;
    },
    /** The last message of a subject, as the leader has it. */
    last: (stream: string, subject: string) => get(stream, { last_by_subj: subject }),
    /** The first message of a filter from a number on. */
    next: (stream: string, filter: string, seq: number) => get(stream, { seq, next_by_subj: filter }),
    removeUpTo: (stream: string, seq: number) =>
      call(stream, async () => void (await (await manager).streams.purge(stream, { seq: seq + 1 }))),
    remove,
    /** The messages of a filter in their order, whatever happens to the server that is read from. */
    read: async function* (stream: string, { from, ends, signal, ...options }: ReadOptions): AsyncGenerator<Message> {
      let failedMs = Number.POSITIVE_INFINITY;
      for (let nextSeq = 0; !signal?.aborted; ) {
        const start = nextSeq > 0 ? nextSeq : from;
        let last = false;
        try {
          for await (const message of readOnce(stream, { ...options, from: start, ends, signal })) {
            if (message === 'end') {
              last = true;
              break;
            }
            nextSeq = message.seq + 1;
            failedMs = Number.POSITIVE_INFINITY;
            yield message;
          }
        } catch (error) {
          if (signal?.aborted) return;
          failedMs = Math.min(failedMs, performance.now());
          if (!isPassing(error) || (ends && performance.now() > failedMs + patienceMs)) throw errorOf(error, stream);
          await new Promise((resolve) => setTimeout(resolve, restartMs));
        }
        if (last) return;
      }
    },
  };

  async function* readOnce(
    stream: string,
    { filter, from, ends, headersOnly = false, signal }: ReadOptions,
  ): AsyncGenerator<Message | 'end'> {
    const start =
      from === 'last-of-each'
        ? { deliver_policy: DeliverPolicy.LastPerSubject }
        : typeof from === 'number'
          ? { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: Math.max(1, from) }
          : { deliver_policy: DeliverPolicy.StartTime, opt_start_time: new Date(from.ms).toISOString() };
    const consumer = await client.consumers.get(stream, {
      filter_subjects: filter,
      headers_only: headersOnly,
      ...start,
      inactive_threshold: 30_000,
    });
    if (ends && (await consumer.info(true)).num_pending === 0) {
      yield 'end';
      return;
    }
    const messages = await consumer.consume({ max_messages: 500, expires: 5000, idle_heartbeat: heartbeatMs });
    const stop = () => void messages.stop();
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    const watch = async () => {
      for await (const { type } of messages.status())
        if (type === 'heartbeats_missed' || type === 'stream_not_found')
          messages.stop(new Error('the reader lost its server'));
    };
    watch().catch(() => undefined);
    // A consumer may hang after its server was replaced: then something is stored that does not come.
    let [next, came, isOver] = [from === 'last-of-each' ? 1 : typeof from === 'number' ? from : 0, true, false];
    const check = async () => {
      if (!came && next > 0) {
        const missed = await get(stream, { seq: next, next_by_subj: filter });
        if (missed !== undefined && !came) messages.stop(new Error('the reader hangs'));
        if (missed === undefined && ends) {
          isOver = true;
          messages.stop();
        }
      }
      came = false;
    };
    const timer = setInterval(() => void check().catch(() => undefined), checkMs);
    try {
      for await (const message of messages) {
        const { subject, seq, headers, data, time } = message;
        [next, came] = [seq + 1, true];
        yield { subject, seq, headers, data, storedMs: time.getTime() };
        if (ends && message.info.pending === 0) {
          yield 'end';
          return;
        }
      }
      if (isOver) yield 'end';
    } finally {
      clearInterval(timer);
      signal?.removeEventListener('abort', stop);
      messages.stop();
      void consumer.delete().catch(() => undefined);
    }
  }
}

/** Whether an error of a call may be gone the next time. */
export function isOutage(error: unknown): boolean {
  return error instanceof SotraError && error.code === 'network';
}

/** Whether a reader may start again: not where it lacks a permission or its stream. */
function isPassing(error: unknown): boolean {
  const known = connectionError(error);
  return known === undefined
    ? !(error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound)
    : known.code === 'network';
}

/** Source: server/errors.json of nats-server. */
const [maxBytesExceeded, maxMessagesExceeded, noSpace, noAccount] = [10_047, 10_048, 10_023, 10_039];
const sequenceNotFound = 10_043;

/** Whether the message to remove was removed already. */
function isGone(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === sequenceNotFound;
}

function streamError(thrown: unknown, stream: string): SotraError {
  if (thrown instanceof SotraError) return thrown;
  const known = connectionError(thrown);
  if (known !== undefined) return known;
  const cause = thrown;
  const code = thrown instanceof JetStreamApiError ? thrown.code : 0;
  const text = messageOf(thrown);
  if (code === JetStreamApiCodes.StreamNotFound)
    return new SotraError('config', `the stream ${stream} of the inbox does not exist on these servers`, {
      hint: 'Make it with sotra inbox create, or correct the name at the end of --inbox.',
      cause,
    });
  if (code === noAccount)
    return new SotraError('config', 'the servers of the inbox have no JetStream for this account', {
      hint: 'Start nats-server with -js, or enable JetStream for the account.',
      cause,
    });
  if (code === noSpace || /insufficient/.test(text))
    return new SotraError('config', `the servers of the inbox have no room for the stream ${stream}: ${text}`, {
      hint: 'Raise max_file_store of JetStream, or free some disk space; until then deliveries are refused with 503.',
      cause,
    });
  if ([maxBytesExceeded, maxMessagesExceeded].includes(code) || /maximum (?:bytes|messages)/.test(text))
    return new SotraError('config', `the inbox ${stream} is full: ${text}`, {
      hint: 'Allow it more bytes, or keep events for less long; until then deliveries are refused with 503.',
      cause,
    });
  if (thrown instanceof JetStreamApiError && thrown.status >= 500)
    return new SotraError('network', `the servers of the inbox ${stream} are not ready: ${text}`, {
      hint: 'Look at the servers: most of the replicas must run and reach each other.',
      cause,
    });
  return new SotraError('config', `the inbox ${stream} cannot be used: ${text}`, {
    hint: 'Look at the log of nats-server.',
    cause,
  });
}

const nanosPerMs = 1e6;

function configOf(shape: StreamShape): Pick<StreamConfig, 'name'> & Partial<StreamConfig> {
  return {
    name: shape.name,
    subjects: [...shape.subjects],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: shape.whenFull === 'refuse' ? DiscardPolicy.New : DiscardPolicy.Old,
    num_replicas: shape.replicas,
    max_age: shape.maxAgeMs * nanosPerMs,
    max_bytes: shape.maxBytes,
    max_msgs_per_subject: shape.maxPerSubject,
  };
}

function shapeOf(config: StreamConfig | undefined): StreamShape | undefined {
  if (config === undefined) return undefined;
  return {
    name: config.name,
    subjects: config.subjects ?? [],
    replicas: config.num_replicas,
    maxAgeMs: config.max_age / nanosPerMs,
    maxBytes: config.max_bytes,
    maxPerSubject: config.max_msgs_per_subject,
    whenFull: config.discard === DiscardPolicy.New ? 'refuse' : 'remove-oldest',
  };
}
