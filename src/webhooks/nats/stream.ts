import {
  AckPolicy,
  type ConsumerConfig,
  type ConsumerInfo,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  JetStreamError,
  type JsMsg,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StoredMsg,
  type StreamConfig,
} from '@nats-io/jetstream';
import { dayMs } from '../../api/duration.ts';
import { readMessage, SotraError } from '../../errors.ts';
import type { Retry } from '../../lib/forward.ts';
import type { Io } from '../../lib/io.ts';
import { targetMs } from '../inbox.ts';
import { connectionError, hasNoResponder, newHeaders, type ServerLink, silence } from './connection.ts';
import { nameSubjects, type Subjects } from './subjects.ts';

export type { JsMsg };

/** A message of the stream. */
export type Message = Pick<StoredMsg, 'subject' | 'seq' | 'data' | 'pending'> & { header: JsMsg['headers'] };

/** After so long another forwarder gets a partition and the delivery in it. */
const takeoverMs = 5000;
/** For how long a message id is known. */
const idMs = dayMs;
const nanosPerMs = 1e6;

const publishMs = 5000;
/** What may be done twice waits less, as its server may be frozen, and is done again for so long. */
const [askMs, patienceMs, pauseMs] = [2000, 10_000, 200];
const [batchSize, batchBytes, pollMs] = [4000, 8 * 1024 * 1024, 250];
/** A request for the last messages of subjects may have so many answers (nats-server: 1024). */
const maxSubjects = 1000;
const group = 'forwarders';
/** How long a request for the next delivery waits; each also says that this forwarder is there. */
const pullMs = 2000;
const heartbeatMs = 1000;
/** How long those who share the work of a target are listened for. */
const membersMs = 500;

/** The errors of the API that are answers. Source: server/errors.json of nats-server. */
const [storeRefused, idInProcess, consumerExists, noSpace] = [10_077, 10_158, 10_148, 10_023];
const [noAccount, maxBytesExceeded, noPeers, noCluster] = [10_039, 10_047, 10_005, 10_074];

/** The stream of an inbox. Each call's errors: `network`; `config` naming what to change. */
export type InboxStream = ReturnType<typeof openStream>;

export function openStream({ connection, failure }: ServerLink, name: string) {
  const subjects: Subjects = nameSubjects(name);
  const client = jetstream(connection, { timeout: publishMs });
  const opening = jetstreamManager(connection, { timeout: askMs, checkAPI: false });
  opening.catch(() => undefined);

  const findInfo = async () => {
    try {
      return await (await opening).streams.info(name);
    } catch (error) {
      if (isApiError(error, JetStreamApiCodes.StreamNotFound)) return undefined;
      throw error;
    }
  };
  const call = async <T>(act: () => Promise<T>): Promise<T> => {
    try {
      return await act();
    } catch (thrown) {
      if (isGone(thrown) && (await findInfo().catch(() => true)) === undefined) throw deleted(name, thrown);
      const error = streamError(thrown, name);
      throw (error.code === 'network' && connectionError(failure())) || error;
    }
  };
  /** For what may be done twice: a server that is gone, or being replaced, is asked again. */
  const ask = <T>(act: () => Promise<T>, forMs = patienceMs): Promise<T> =>
    call(async () => {
      for (const endMs = performance.now() + forMs; ; await pause(pauseMs))
        try {
          return await act();
        } catch (error) {
          if (streamError(error, name).code !== 'network' || performance.now() > endMs) throw error;
          if (isGone(error) && (await findInfo().catch(() => true)) === undefined) throw error;
        }
    });
  type Request = Parameters<Awaited<typeof opening>['direct']['getBatch']>[1] & { multi_last?: string[] };
  const getBatch = async (request: object): Promise<Message[]> => {
    const { direct } = await opening;
    return new Promise((resolve, reject) => {
      const messages: Message[] = [];
      const timer = setTimeout(() => reject(silence()), askMs);
      const callback: Request['callback'] = (done, message) => {
        if (done === null) return void messages.push(message);
        clearTimeout(timer);
        if (done.err === undefined || readErrorStatus(done.err) === 404) resolve(messages);
        else reject(done.err);
      };
      direct.getBatch(name, { ...request, callback } as Request).catch(reject);
    });
  };
  const last = (subject: string): Promise<Message | undefined> =>
    ask(async () => {
      return (await (await opening).streams.getMessage(name, { last_by_subj: subject })) ?? undefined;
    });

  return {
    name,
    subjects,
    /** `undefined` where there is none. */
    info: () => ask(findInfo),
    /** Where servers have just started it is tried again, until enough of them know each other. */
    create: (replicas: number) =>
      ask(async () => void (await (await opening).streams.add(makeStreamConfig(name, replicas) as StreamConfig))),
    /**
     * Stores a message; its number, and whether it is new: the servers refuse a second one of a subject or of an id, which is then the
     * acknowledgement that the first one is stored. `known`: the one of the subject.
     */
    publish: (subject: string, data: Uint8Array | string, { id, headers = {} }: PublishOptions = {}) =>
      call(async (): Promise<{ seq: number; isNew: boolean; known?: Message }> => {
        const options = { headers: newHeaders(headers), ...(id !== undefined && { msgID: id }) };
        for (const endMs = performance.now() + publishMs; ; await pause(pauseMs))
          try {
            const { seq, duplicate } = await client.publish(subject, data, options);
            return { seq, isNew: !duplicate };
          } catch (error) {
            // The first one may be on its way to the other replicas, and be lost there.
            const known = isApiError(error, storeRefused) ? await last(subject) : undefined;
            if (known !== undefined) return { seq: known.seq, isNew: false, known };
            if (!isApiError(error, storeRefused, idInProcess) || isStreamFull(error) || performance.now() > endMs)
              throw error;
          }
      }),
    /** The last message of a subject, as the leader has it. */
    last,
    /** How many messages a filter has. */
    count: async (filter: string): Promise<number> => {
      const [first] = await ask(() => getBatch({ seq: 1, next_by_subj: filter, batch: 1 }));
      return first === undefined ? 0 : 1 + first.pending;
    },
    /** The messages of subjects, those that are there. */
    lastOf: async (all: readonly string[]): Promise<Message[]> => {
      const parts = Array.from({ length: Math.ceil(all.length / maxSubjects) }, (_, part) =>
        all.slice(part * maxSubjects, (part + 1) * maxSubjects),
      );
      return (await Promise.all(parts.map((each) => ask(() => getBatch({ multi_last: each }))))).flat();
    },
    /** The messages of a filter in their order, some at a time, up to one that is stored now, or until the signal as they come, however long the servers are gone. */
    read: async function* ({ filter, from, to, signal }: ReadOptions): AsyncGenerator<Message[]> {
      const created = to === undefined ? (await ask(findInfo))?.created : undefined;
      const askMore = async (request: object): Promise<Message[]> => {
        if (to !== undefined) return ask(() => getBatch(request));
        try {
          const batch = await ask(() => getBatch(request), 0);
          if (batch.length > 0) return batch;
          await pause(pollMs);
          if ((await ask(findInfo, 0))?.created !== created) throw deleted(name);
        } catch (error) {
          if (!isOutage(error)) throw error;
          await pause(pollMs);
        }
        return [];
      };
      let next: { seq?: number; start_time?: Date } =
        typeof from === 'number' ? { seq: Math.max(1, from) } : { start_time: new Date(from.ms) };
      while (!signal?.aborted) {
        const left = to === undefined || next.seq === undefined ? batchSize : to - next.seq + 1;
        if (left <= 0) return;
        const size = { batch: Math.min(batchSize, left), max_bytes: batchBytes };
        const batch = await askMore({ ...next, ...size, next_by_subj: filter });
        const last = batch.at(-1)?.seq;
        if (last !== undefined) next = { seq: last + 1 };
        yield to === undefined ? batch : batch.filter(({ seq }) => seq <= to);
        if (to !== undefined && (last === undefined || last > to)) return;
      }
    },
    /** The consumers, each a partition of a target. */
    consumers: () =>
      ask(async () => {
        const found: ConsumerInfo[] = [];
        for await (const info of (await opening).consumers.list(name)) found.push(info);
        return found;
      }),
    /** Makes a consumer that hands out the messages of a filter, one at a time, to one of those who ask; one that is there stays as it is. */
    addConsumer: (consumer: string, filter: string, fromSeq: number, metadata: Record<string, string>) =>
      ask(async () => {
        const config = {
          ...{ durable_name: consumer, filter_subject: filter, metadata, ack_policy: AckPolicy.Explicit },
          ...{ deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: fromSeq, max_ack_pending: 1 },
          ...{ ack_wait: takeoverMs * nanosPerMs, inactive_threshold: targetMs * nanosPerMs },
          ...{ priority_policy: 'pinned_client', priority_groups: [group] },
          priority_timeout: takeoverMs * nanosPerMs,
        };
        await (await opening).consumers.add(name, config as Partial<ConsumerConfig>).catch((error) => {
          if (!isApiError(error, consumerExists)) throw error;
        });
      }),
    /** Asks for the messages of a consumer, which come while nobody else is given them. */
    consume: (consumer: string, { onMessage, onPinned, onEnd }: ConsumeOptions) =>
      ask(async () => {
        const options = { max_messages: 1, expires: pullMs, idle_heartbeat: heartbeatMs, group };
        const messages = await (await client.consumers.get(name, consumer)).consume({
          ...(options as object),
          callback: onMessage,
        });
        const watch = async (): Promise<void> => {
          for await (const { type } of messages.status()) {
            if (type === 'consumer_pinned' || type === 'consumer_unpinned') onPinned(type === 'consumer_pinned');
            // The client would ask again and again, without a pause.
            if (isLost(type)) messages.stop();
          }
        };
        watch().then(onEnd, onEnd);
        return () => messages.stop();
      }),
    /** Makes this process one of those who share the work of a target, and says what it sends again, until the function that it gives is called. */
    join: (target: string, listRetries: () => readonly Retry[]) => {
      const own = connection.subscribe(subjects.members(target), {
        callback: (error, message) => void (error === null && message.respond(JSON.stringify(listRetries()))),
      });
      return () => own.unsubscribe();
    },
    /** What each of them says; one that is frozen or cut off says nothing. */
    askMembers: (target: string) =>
      call(async (): Promise<string[]> => {
        const options = { strategy: 'timer', maxWait: membersMs } as const;
        const said: string[] = [];
        for await (const answer of await connection.requestMany(subjects.members(target), '', options))
          said.push(answer.string());
        return said;
      }),
    /** Leaves a consumer to who asks for it next. */
    unpin: (consumer: string) => call(async () => (await opening).consumers.unpin(name, consumer, group)),
    deleted: () => deleted(name),
  };
}

interface PublishOptions {
  /** A message of the same id within a day is refused, on whatever subject. */
  id?: string;
  headers?: Readonly<Record<string, string>>;
}

interface ReadOptions {
  filter: string;
  /** The first number, or the first moment. */
  from: number | { ms: number };
  to?: number | undefined;
  signal?: AbortSignal | undefined;
}

interface ConsumeOptions {
  onMessage: (message: JsMsg) => void;
  /** Whether it is this process that is given the messages. */
  onPinned: (isPinned: boolean) => void;
  /** Nothing comes any more: the consumer has no leader, it or the stream was deleted, or whoever asked has stopped. */
  onEnd: () => void;
}

/** The stream of an inbox; it keeps everything until its user sets `max_age` or `max_bytes`. */
export function makeStreamConfig(name: string, replicas: number) {
  return {
    name,
    subjects: nameSubjects(name).stream,
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    // A full inbox refuses: removing the oldest event might remove one that waits to be forwarded.
    discard: DiscardPolicy.New,
    discard_new_per_subject: true,
    max_msgs_per_subject: 1,
    num_replicas: replicas,
    duplicate_window: idMs * nanosPerMs,
    allow_direct: true,
  };
}

/** What is promised, or `undefined` where it takes longer. */
export async function within<T>(ms: number, promise: Promise<T>, sleep: Io['sleep']): Promise<T | undefined> {
  const waiting = new AbortController();
  const late = sleep(ms, waiting.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    waiting.abort();
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function isApiError(error: unknown, ...codes: readonly number[]): error is JetStreamApiError {
  return error instanceof JetStreamApiError && codes.includes(error.code);
}

/** Whether an error of a call may be gone the next time. */
export function isOutage(error: unknown): boolean {
  return error instanceof SotraError && error.code === 'network';
}

/** Whether a consumer that was asked for is not there. */
export function isConsumerGone(error: unknown): boolean {
  return error instanceof SotraError && isApiError(error.cause, JetStreamApiCodes.ConsumerNotFound);
}

/** Of a stream that is full the servers say so, and by the same number of a subject that has its message. */
export function isStreamFull(error: unknown): boolean {
  if (error instanceof SotraError) return isStreamFull(error.cause);
  return isApiError(error, maxBytesExceeded) || /maximum bytes/.test(readMessage(error));
}

/** The status of a message that stands for an answer. */
function readErrorStatus(thrown: unknown): unknown {
  return thrown instanceof JetStreamError && 'code' in thrown ? thrown.code : undefined;
}

/** Whether nobody answers who asks for messages. */
function isLost(type: string): boolean {
  return ['no_responders', 'consumer_not_found', 'stream_not_found'].includes(type);
}

/** What is said where a stream is not there, and in a moment without a leader. */
function isGone(thrown: unknown): boolean {
  return (
    readErrorStatus(thrown) === 503 || hasNoResponder(thrown) || isApiError(thrown, JetStreamApiCodes.StreamNotFound)
  );
}

function deleted(stream: string, cause?: unknown): SotraError {
  return new SotraError('config', `the stream ${stream} of the inbox was deleted on the servers`, {
    hint: 'Start webhook listen again: it makes a new one.',
    cause,
  });
}

function streamError(thrown: unknown, stream: string): SotraError {
  if (thrown instanceof SotraError) return thrown;
  const known = connectionError(thrown);
  if (known !== undefined) return known;
  const [cause, text] = [thrown, readMessage(thrown)];
  const config = (message: string, hint: string) => new SotraError('config', message, { hint, cause });
  if (isApiError(thrown, noAccount))
    return config(
      'the servers of the inbox have no JetStream for this account',
      'Start nats-server with -js, or enable JetStream for the account.',
    );
  if (isApiError(thrown, noCluster))
    return config(`a single server cannot hold several replicas of the stream ${stream}`, 'Add --replicas 1.');
  if (isApiError(thrown, noSpace) || /insufficient/.test(text))
    return config(
      `the servers of the inbox have no room for the stream ${stream}: ${text}`,
      'Raise max_file_store of JetStream, or free some disk space; until then deliveries are refused with 503.',
    );
  if (isStreamFull(thrown))
    return config(
      `the inbox ${stream} is full: ${text}`,
      'Allow it more bytes, or keep events for less long; until then deliveries are refused with 503.',
    );
  if (isGone(thrown) || isApiError(thrown, noPeers) || (thrown instanceof JetStreamApiError && thrown.status >= 500))
    return new SotraError('network', `the servers of the inbox ${stream} are not ready: ${text}`, {
      hint: 'Look at the servers: most of the replicas must run and reach each other.',
      cause,
    });
  return config(`the inbox ${stream} cannot be used: ${text}`, 'Look at the log of nats-server.');
}
