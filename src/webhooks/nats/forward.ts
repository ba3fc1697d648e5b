import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { AckPolicy, type ConsumerConfig, DeliverPolicy, type JsMsg } from '@nats-io/jetstream';
import { hideUrlSecrets } from '../../client/secrets.ts';
import type { Io } from '../../lib/io.ts';
import { pauseAfter, recordAtLast, type Tries, tryOnce } from '../../lib/outbox.ts';
import {
  type Forward,
  type Forwarding,
  type ForwardOptions,
  type StoredDelivery,
  type Target,
  targetMs,
} from '../inbox.ts';
import { isFor } from '../route.ts';
import { inboxError, isApiError, isOutage } from './connection.ts';
import { ask, nanosPerMs, partitions, publishOnce, readMessage, type Stream, subjects } from './stream.ts';

/** After so long without a sign of a forwarder, another one gets its partition and the delivery it had begun. */
const takeoverMs = 5000;
/** How often the servers learn that a delivery is still being forwarded. */
const workingMs = 1000;
/** How long a request for the next delivery waits, and how often the servers show meanwhile that they are there. */
const pullMs = 2000;
const heartbeatMs = 1000;
/** Before messages are requested again after a failure. */
const pauseMs = 500;
/** How long a post that has begun may still take when forwarding stops. */
const graceMs = 1000;
const group = 'forwarders';

function targetId({ url, eventType = '', where = '' }: Target): string {
  return createHash('sha256').update(`${eventType} ${where} ${url}`).digest('hex').slice(0, 16);
}

/** The consumers of a target: one for each partition, which gives its messages in order to one forwarder at a time. */
const consumersOf = (target: Target) =>
  Array.from({ length: partitions }, (_, partition) => ({ partition, name: `${targetId(target)}-${partition}` }));

/** Adds a target, which gets the deliveries stored from now on; returns whether it is new. */
export async function addTarget(stream: Stream, target: Target): Promise<boolean> {
  const { consumers, streams } = stream.manager;
  const { state } = await ask(stream, () => streams.info(stream.name));
  const add = async ({ partition, name }: { partition: number; name: string }): Promise<boolean> => {
    const config = {
      durable_name: name,
      filter_subject: subjects(stream.name).event(partition, '*'),
      metadata: { url: hideUrlSecrets(target.url) },
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: state.last_seq + 1,
      ack_policy: AckPolicy.Explicit,
      ack_wait: takeoverMs * nanosPerMs,
      max_ack_pending: 1,
      priority_policy: 'pinned_client',
      priority_groups: [group],
      priority_timeout: takeoverMs * nanosPerMs,
      inactive_threshold: targetMs * nanosPerMs,
    };
    const known = await consumers.info(stream.name, name).catch((error: unknown) => {
      if (!isApiError(error, 'consumerGone')) throw error;
    });
    if (known !== undefined) return false;
    await consumers.add(stream.name, config as Partial<ConsumerConfig>).catch((error) => {
      if (!isApiError(error, 'consumerExists')) throw error;
    });
    return true;
  };
  return (await Promise.all(consumersOf(target).map((each) => ask(stream, () => add(each))))).includes(true);
}

/** How many deliveries wait for a target; for one with conditions also those that do not fit. */
export async function countWaiting(stream: Stream, target: Target): Promise<number> {
  const { consumers } = stream.manager;
  const infos = await Promise.all(
    consumersOf(target).map(({ name }) => ask(stream, () => consumers.info(stream.name, name))),
  );
  return infos.reduce((sum, { num_pending, num_ack_pending }) => sum + num_pending + num_ack_pending, 0);
}

type ForwarderOptions = ForwardOptions & Pick<Io, 'now' | 'sleep'>;
/** `stopping`: no further delivery is begun; `cutting`: one without an answer counts as not tried. */
type Signals = Record<'stopping' | 'cutting', AbortSignal>;

/** Forwards to targets that were added, while the servers give their partitions to this process. */
export function startForwarding(stream: Stream, options: ForwarderOptions): Forwarding {
  const [stopping, cutting] = [new AbortController(), new AbortController()];
  const signals = { stopping: stopping.signal, cutting: cutting.signal };
  setMaxListeners(0, stopping.signal, cutting.signal);
  const working = options.targets.flatMap((target) =>
    consumersOf(target).map(({ name }) => work(stream, { name, target }, options, signals)),
  );
  const broken = Promise.all(working).then(() => new Promise<never>(() => undefined));
  broken.catch(() => undefined);
  return {
    broken,
    stop: async () => {
      stopping.abort();
      const late = setTimeout(() => cutting.abort(), graceMs);
      await Promise.allSettled(working);
      clearTimeout(late);
    },
  };
}

/** Takes the messages of a consumer, one at a time. Errors: `config` if it was deleted. */
async function work(
  stream: Stream,
  { name, target }: { name: string; target: Target },
  options: ForwarderOptions,
  signals: Signals,
): Promise<void> {
  let current: { message: JsMsg; lost: AbortController; done: Promise<void> } | undefined;
  const handle = async (own: NonNullable<typeof current>): Promise<void> => {
    const delivery = readMessage(own.message);
    const isWanted = delivery?.events.some((event) => isFor(target, event)) ?? false;
    const telling = setInterval(() => own.message.working(), workingMs);
    const delivering =
      delivery && isWanted && deliver(stream, { delivery, target, lost: own.lost.signal }, options, signals);
    const isDone = delivering ? await delivering.catch(() => false) : true;
    clearInterval(telling);
    if (current === own) current = undefined;
    if (isDone) own.message.ack();
    else if (!own.lost.signal.aborted) own.message.nak();
  };
  const take = (message: JsMsg): void => {
    // Its server gives it again: this is the one to acknowledge.
    if (current?.message.seq === message.seq) current.message = message;
    else if (signals.stopping.aborted) message.nak();
    else {
      // Another forwarder ended that one.
      current?.lost.abort();
      current = { message, lost: new AbortController(), done: Promise.resolve() };
      current.done = handle(current);
    }
  };
  let isPinned = false;
  for (; !signals.stopping.aborted; await options.sleep(pauseMs, signals.stopping).catch(() => undefined))
    try {
      const consumer = await stream.client.consumers.get(stream.name, name);
      const pull: object = { max_messages: 1, expires: pullMs, idle_heartbeat: heartbeatMs, group };
      const messages = await consumer.consume({ ...pull, callback: take });
      const stop = () => messages.stop();
      // The status of messages that are stopped already does not end.
      if (signals.stopping.aborted) {
        stop();
        break;
      }
      signals.stopping.addEventListener('abort', stop, { once: true });
      for await (const { type } of messages.status()) {
        if (type === 'consumer_pinned') isPinned = true;
        if (type === 'consumer_unpinned') {
          isPinned = false;
          current?.lost.abort();
        }
        // The client would ask again and again, without a pause.
        if (['no_responders', 'consumer_not_found', 'stream_not_found', 'consumer_deleted'].includes(type)) stop();
      }
      signals.stopping.removeEventListener('abort', stop);
    } catch (error) {
      if (!isOutage(error)) throw inboxError(error, stream.name);
    }
  await current?.done;
  // Another forwarder need not wait until the servers miss this one.
  if (isPinned) await stream.manager.consumers.unpin(stream.name, name, group).catch(() => undefined);
}

/** Tries until the delivery is accepted or set aside; whether it was, or this process lost it before. */
async function deliver(
  stream: Stream,
  { delivery, target, lost }: { delivery: StoredDelivery; target: Target; lost: AbortSignal },
  { post, policy, onTry, onError, now, sleep }: ForwarderOptions,
  { stopping, cutting }: Signals,
): Promise<boolean> {
  const signal = AbortSignal.any([lost, stopping]);
  let before: Tries = { tries: 0, refusals: 0, sinceMs: null };
  while (!signal.aborted) {
    const made = await tryOnce(before, () => post(delivery, target, cutting), { now, signal: cutting });
    if (made === undefined) return false;
    before = made;
    const waitMs = pauseAfter(made, policy);
    onTry({ ...made, delivery, target }, waitMs);
    if (made.outcome.ok) return true;
    if (waitMs === undefined) {
      const { outcome, ms, tries, atMs } = made;
      const { status, error } = outcome;
      const failed: Forward = { url: hideUrlSecrets(target.url), outcome: 'failed', status, ms, tries, error, atMs };
      const subject = subjects(stream.name).failed(delivery.seq, targetId(target));
      // A full stream takes no record: the delivery waits for it, and is not posted again.
      await recordAtLast(() => publishOnce(stream, subject, JSON.stringify(failed)), { onError, sleep, signal });
      return true;
    }
    await sleep(waitMs, signal).catch(() => undefined);
  }
  return false;
}
