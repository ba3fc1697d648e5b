import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { AckPolicy, type ConsumerConfig, type ConsumerInfo, DeliverPolicy, type JsMsg } from '@nats-io/jetstream';
import { hideUrlSecrets } from '../../client/secrets.ts';
import type { Forward, Retry } from '../../lib/forward.ts';
import type { Io } from '../../lib/io.ts';
import { pauseAfter, type Try, tryOnce } from '../../lib/outbox.ts';
import { type Forwarding, type ForwardOptions, type StoredDelivery, type Target, targetMs } from '../inbox.ts';
import { isFor } from '../route.ts';
import { inboxError, isApiError, isOutage } from './errors.ts';
import { ask, nanosPerMs, partitions, publishOnce, readMessage, type Stream, subjects } from './stream.ts';

/** After so long another forwarder gets a partition, with the delivery in hand. */
const takeoverMs = 5000;
/** How often the servers are told that a delivery is in hand, and how long a request for the next one waits. */
const [workingMs, pullMs, heartbeatMs, pauseMs, graceMs] = [1000, 2000, 1000, 500, 1000];
const group = 'forwarders';

export function targetId({ url, eventType = '', where = '' }: Target): string {
  return createHash('sha256').update(`${eventType} ${where} ${url}`).digest('hex').slice(0, 16);
}

const consumerName = (target: string, partition: number) => `${target}-${partition}`;

/** Adds a target: a consumer for each partition, which gives its messages in order to one forwarder at a time. Whether it is new. */
export async function addTarget(stream: Stream, target: Target): Promise<boolean> {
  const { manager, name } = stream;
  const { url, eventType, where } = target;
  const { state } = await ask(stream, () => manager.streams.info(name));
  const add = async (partition: number): Promise<boolean> => {
    const config = {
      durable_name: consumerName(targetId(target), partition),
      filter_subject: subjects(name).event(partition, '*'),
      metadata: { url: hideUrlSecrets(url), ...(eventType && { eventType }), ...(where && { where }) },
      ...{ deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: state.last_seq + 1 },
      ...{ ack_policy: AckPolicy.Explicit, ack_wait: takeoverMs * nanosPerMs, max_ack_pending: 1 },
      ...{ priority_policy: 'pinned_client', priority_groups: [group], priority_timeout: takeoverMs * nanosPerMs },
      inactive_threshold: targetMs * nanosPerMs,
    };
    try {
      await manager.consumers.info(name, config.durable_name);
      return false;
    } catch (error) {
      if (!isApiError(error, 'consumerGone')) throw error;
    }
    await manager.consumers.add(name, config as Partial<ConsumerConfig>).catch((error) => {
      if (!isApiError(error, 'consumerExists')) throw error;
    });
    return true;
  };
  const added = await Promise.all(Array.from({ length: partitions }, (_, each) => ask(stream, () => add(each))));
  return added.includes(true);
}

/** A target that the servers know. */
export interface KnownTarget extends Target {
  id: string;
  /** The first message that it gets. */
  firstSeq: number;
  /** By partition: up to where all is forwarded or set aside. */
  floors: number[];
  waiting: number;
}

export async function readTargets(stream: Stream): Promise<KnownTarget[]> {
  const infos: ConsumerInfo[] = await ask(stream, async () => {
    const found = [];
    for await (const info of stream.manager.consumers.list(stream.name)) found.push(info);
    return found;
  });
  const targets = new Map<string, KnownTarget>();
  for (const { name, config, ack_floor, num_pending, num_ack_pending } of infos) {
    const [, id = '', partition] = /^([\da-f]{16})-(\d+)$/.exec(name) ?? [];
    const { url, eventType, where } = config.metadata ?? {};
    if (partition === undefined || url === undefined) continue;
    const firstSeq = config.opt_start_seq ?? 1;
    const target = targets.get(id) ?? { id, url, eventType, where, firstSeq, floors: [], waiting: 0 };
    target.floors[Number(partition)] = Math.max(ack_floor.stream_seq, firstSeq - 1);
    target.waiting += num_pending + num_ack_pending;
    targets.set(id, target);
  }
  return [...targets.values()];
}

/** Forwards to targets that were added, while the servers give their partitions to this process. `retries`: what it tries again. */
export function startForwarding(
  stream: Stream,
  options: ForwardOptions,
  { now, sleep }: Pick<Io, 'now' | 'sleep'>,
): Forwarding & { retries: () => Retry[] } {
  const { post, policy, onTry } = options;
  const [stopping, cutting] = [new AbortController(), new AbortController()];
  setMaxListeners(0, stopping.signal, cutting.signal);
  let fail: (error: unknown) => void = () => {};
  const broken = new Promise<never>((_, reject) => {
    fail = reject;
  });
  broken.catch(() => undefined);
  const retries = new Map<string, Retry>();
  const wait = (ms: number, signal: AbortSignal) => sleep(ms, signal).catch(() => undefined);

  /** Tries until the delivery is accepted or set aside; whether it was, or `lost` came before. */
  const deliver = async (delivery: StoredDelivery, target: Target, lost: AbortSignal): Promise<boolean> => {
    const url = hideUrlSecrets(target.url);
    const key = `${targetId(target)} ${delivery.webhook}`;
    let made: Try | undefined;
    try {
      while (!lost.aborted && !stopping.signal.aborted) {
        const before = made ?? { tries: 0, refusals: 0, sinceMs: null };
        made = await tryOnce(before, () => post(delivery, target, cutting.signal), { now, signal: cutting.signal });
        if (made === undefined) return false;
        const waitMs = pauseAfter(made, policy);
        onTry({ ...made, delivery, target }, waitMs);
        const { outcome, atMs, tries, ms } = made;
        const { webhook, seq, atMs: arrivedMs } = delivery;
        const { status, error } = outcome;
        if (waitMs === undefined) {
          const forward: Forward = { url, outcome: 'failed', status, ms, tries, error, atMs };
          const subject = subjects(stream.name).failed(seq, targetId(target));
          if (!outcome.ok) await publishOnce(stream, subject, JSON.stringify(forward));
          return true;
        }
        retries.set(key, {
          url,
          webhook,
          seq,
          arrivedMs,
          status,
          tries,
          atMs,
          error: error ?? '',
          nextMs: atMs + waitMs,
        });
        await wait(waitMs, AbortSignal.any([lost, stopping.signal]));
      }
    } finally {
      retries.delete(key);
    }
    return false;
  };
  /** What a partition of a target has in hand. A delivery that its server gives again takes the place of the message before. */
  const createHand = (target: Target) => {
    let held: { message: JsMsg; lost: AbortController; done: Promise<void> } | undefined;
    const handle = async (own: NonNullable<typeof held>): Promise<void> => {
      const delivery = readMessage(own.message);
      const isWanted = delivery?.events.some((event) => isFor(target, event)) ?? false;
      const working = setInterval(() => own.message.working(), workingMs);
      const isDone = delivery && isWanted ? await deliver(delivery, target, own.lost.signal).catch(() => false) : true;
      clearInterval(working);
      if (held === own) held = undefined;
      if (isDone) own.message.ack();
      else if (!own.lost.signal.aborted) own.message.nak();
    };
    return {
      take: (message: JsMsg): void => {
        if (held?.message.seq === message.seq) {
          held.message = message;
          return;
        }
        held?.lost.abort();
        if (stopping.signal.aborted) {
          message.nak();
          return;
        }
        const own = { message, lost: new AbortController(), done: Promise.resolve() };
        held = own;
        own.done = handle(own);
      },
      lose: () => held?.lost.abort(),
      settled: async () => held?.done,
    };
  };
  const work = async (target: Target, partition: number): Promise<void> => {
    const hand = createHand(target);
    const name = consumerName(targetId(target), partition);
    let isPinned = false;
    while (!stopping.signal.aborted) {
      try {
        const consumer = await stream.client.consumers.get(stream.name, name);
        const pull = { max_messages: 1, expires: pullMs, idle_heartbeat: heartbeatMs, group };
        const messages = await consumer.consume({ ...(pull as object), callback: hand.take });
        const stop = () => messages.stop();
        stopping.signal.addEventListener('abort', stop, { once: true });
        for await (const { type } of messages.status()) {
          if (type === 'consumer_pinned') isPinned = true;
          if (type === 'consumer_unpinned') {
            isPinned = false;
            hand.lose();
          }
          // The client would ask again and again, without a pause.
          if (['no_responders', 'consumer_not_found', 'stream_not_found', 'consumer_deleted'].includes(type)) stop();
        }
        stopping.signal.removeEventListener('abort', stop);
      } catch (error) {
        if (!isOutage(error)) fail(inboxError(error, stream.name));
      }
      await wait(pauseMs, stopping.signal);
    }
    await hand.settled();
    // Another forwarder need not wait until the servers miss this one.
    if (isPinned) await stream.manager.consumers.unpin(stream.name, name, group).catch(() => undefined);
  };
  const working = options.targets.flatMap((target) =>
    Array.from({ length: partitions }, (_, partition) => work(target, partition)),
  );
  return {
    broken,
    retries: () => [...retries.values()],
    stop: async () => {
      stopping.abort();
      const late = setTimeout(() => cutting.abort(), graceMs);
      await Promise.all(working);
      clearTimeout(late);
    },
  };
}
