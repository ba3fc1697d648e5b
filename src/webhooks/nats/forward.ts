import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { AckPolicy, type ConsumerConfig, DeliverPolicy, type JsMsg } from '@nats-io/jetstream';
import { hideUrlSecrets } from '../../client/secrets.ts';
import type { Forward } from '../../lib/forward.ts';
import type { Io } from '../../lib/io.ts';
import { pauseAfter, type Tries, tryOnce } from '../../lib/outbox.ts';
import { type Forwarding, type ForwardOptions, type StoredDelivery, type Target, targetMs } from '../inbox.ts';
import { isFor } from '../route.ts';
import { inboxError, isApiError, isOutage } from './errors.ts';
import { readDelivery } from './messages.ts';
import { ask, findDeletion, nanosPerMs, partitions, publishOnce, type Stream, subjects } from './stream.ts';

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
    try {
      await consumers.info(stream.name, name);
      return false;
    } catch (error) {
      if (!isApiError(error, 'consumerGone')) throw error;
    }
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
    consumersOf(target).map(({ name }) => takeMessages(stream, { name, target }, options, signals)),
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
async function takeMessages(
  stream: Stream,
  { name, target }: { name: string; target: Target },
  options: ForwarderOptions,
  signals: Signals,
): Promise<void> {
  const { stopping } = signals;
  let done = 0;
  const handle = async (message: JsMsg): Promise<void> => {
    const telling = setInterval(() => message.working(), workingMs);
    // It comes again if the servers missed the acknowledgement.
    const isDone = message.seq <= done || (await forwardMessage(stream, { message, target }, options, signals));
    clearInterval(telling);
    if (isDone) message.ack();
    else message.nak();
    if (isDone) done = message.seq;
  };
  const pull: object = {
    max_messages: 1,
    expires: pullMs,
    idle_heartbeat: heartbeatMs,
    group,
    abort_on_missing_resource: true,
  };
  for (; !stopping.aborted; await options.sleep(pauseMs, stopping).catch(() => undefined))
    try {
      const consumer = await stream.client.consumers.get(stream.name, name);
      const messages = await consumer.consume(pull);
      const stop = () => messages.stop();
      stopping.addEventListener('abort', stop, { once: true });
      stopUnanswered(messages).catch(() => undefined);
      for await (const message of messages) await handle(message);
      stopping.removeEventListener('abort', stop);
    } catch (error) {
      // The consumers of a stream that was deleted are named first.
      if (!isOutage(error)) throw inboxError((await findDeletion(stream)) ?? error, stream.name);
    }
}

type Messages = Awaited<ReturnType<Awaited<ReturnType<Stream['client']['consumers']['get']>>['consume']>>;

/** The client would ask servers that elect a leader again and again, without a pause. */
async function stopUnanswered(messages: Messages): Promise<void> {
  for await (const { type } of messages.status()) if (type === 'no_responders') messages.stop();
}

/** Tries until the delivery is accepted or set aside; returns whether it was before forwarding stops. */
async function forwardMessage(
  stream: Stream,
  { message, target }: { message: JsMsg; target: Target },
  { post, policy, onTry, now, sleep }: ForwarderOptions,
  { stopping, cutting }: Signals,
): Promise<boolean> {
  const delivery: StoredDelivery | undefined = readDelivery(message);
  if (delivery === undefined || !delivery.events.some((event) => isFor(target, event))) return true;
  let before: Tries = { tries: 0, refusals: 0, sinceMs: null };
  while (!stopping.aborted) {
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
      return await publishOnce(stream, subject, JSON.stringify(failed)).then(
        () => true,
        () => false,
      );
    }
    await sleep(waitMs, stopping).catch(() => undefined);
  }
  return false;
}
