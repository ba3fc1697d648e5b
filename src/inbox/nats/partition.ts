import type { Claim, Forward, Target } from '../inbox.ts';
import { isFor } from '../route.ts';
import { startRemoval } from './copies.ts';
import { bodyAt, copyFinder, deliveryOf, type KeyedDelivery } from './message.ts';
import { type InboxStreams, type Message, nearby } from './streams.ts';

/** How far a target is in a partition: all up to `seq` is settled, and some up to `top`. */
export interface Floor {
  seq: number;
  top: number;
}

/** Messages that are held at once; the rest of the partition waits in the stream. */
const maxOpen = 256;
/** What a crash leaves settled above the floor is found by its marks, until so many in turn have none. */
const maxUnmarked = 64;
const retryMs = 500;

interface PartitionOptions extends InboxStreams {
  target: Target;
  targetId: string;
  partition: number;
  floor: Floor;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Nothing more is offered. */
  stopping: AbortSignal;
  /** What is on its way is not waited for. */
  lost: AbortSignal;
  /** Hands a claim to the one who forwards. */
  offer: (claim: Claim) => void;
  settle: (delivery: KeyedDelivery, forward: Omit<Forward, 'url'>) => Promise<void>;
  /** Called when the floor has risen. */
  onFloor: (floor: Floor) => void;
}

/**
 * Offers the deliveries of a partition that its target has not got, one of each webhook at a time, in order, until `stopping`. Removes copies
 * of messages, also those shortly before the floor, which somebody else may have left.
 */
export async function workPartition(options: PartitionOptions): Promise<void> {
  const { target, targetId, partition, streams, subjects, sleep, stopping, lost, offer, settle, onFloor } = options;
  const floor = { ...options.floor };
  // Numbers that are not settled, in their order.
  const open = new Set<number>();
  const queues = new Map<string, { delivery: KeyedDelivery; isMarked: Promise<boolean> }[]>();
  const busy = new Map<string, number>();
  let [read, wake] = [floor.seq, () => {}];

  const woken = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      wake = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  const close = (seq: number): void => {
    open.delete(seq);
    const [first] = open;
    floor.seq = first === undefined ? read : first - 1;
    onFloor(floor);
    wake();
  };
  const offerNext = async (webhook: string): Promise<void> => {
    const first = queues.get(webhook)?.[0];
    if (first === undefined || busy.has(webhook) || stopping.aborted) return;
    const { delivery } = first;
    busy.set(webhook, delivery.seq);
    const free = () => {
      busy.delete(webhook);
      wake();
    };
    const next = () => {
      queues.get(webhook)?.shift();
      if (queues.get(webhook)?.length === 0) queues.delete(webhook);
      close(delivery.seq);
      free();
      void offerNext(webhook);
    };
    const isMarked = await first.isMarked;
    if (stopping.aborted) return free();
    if (isMarked) return next();
    let isSettled = false;
    offer({
      delivery,
      lost,
      settle: async (forward) => {
        floor.top = Math.max(floor.top, delivery.seq);
        await settle(delivery, forward);
        if (isSettled) return;
        isSettled = true;
        next();
      },
      release: free,
    });
  };
  let unmarked = 0;
  const isMarked = async (delivery: KeyedDelivery): Promise<boolean> => {
    if (delivery.seq > floor.top && unmarked >= maxUnmarked) return false;
    try {
      const mark = await streams.last(subjects.state, subjects.forward(delivery, targetId));
      unmarked = mark === undefined ? unmarked + 1 : 0;
      return mark !== undefined;
    } catch {
      await sleep(retryMs, stopping).catch(() => undefined);
      return stopping.aborted || isMarked(delivery);
    }
  };
  const removal = startRemoval({ streams, stream: subjects.events, sleep, signal: stopping });
  const isCopy = copyFinder();
  const filter = subjects.ofPartition(partition);
  const from = Math.max(1, floor.seq + 1 - nearby);
  const before = streams.read(subjects.events, { filter, from, ends: true, headersOnly: true, signal: stopping });
  const left: Message[] = [];
  for await (const message of before) {
    if (message.seq > floor.seq) break;
    if (isCopy(message)) left.push(message);
  }
  for (const message of left) removal.add(message);
  const reading = streams.read(subjects.events, { filter, from: floor.seq + 1, ends: false, signal: stopping });
  for await (const message of reading) {
    while (open.size >= maxOpen && !stopping.aborted) await woken(stopping);
    if (stopping.aborted) break;
    const { seq } = message;
    read = seq;
    open.add(seq);
    if (isCopy(message)) {
      removal.add(message);
      close(seq);
      continue;
    }
    const delivery = bodyAt(message) === undefined ? deliveryOf(message) : undefined;
    if (!delivery?.events.some((event) => isFor(target, event))) {
      close(seq);
      continue;
    }
    const queue = queues.get(delivery.webhook) ?? [];
    queues.set(delivery.webhook, queue);
    // Not one after the other: each is a request.
    queue.push({ delivery, isMarked: isMarked(delivery) });
    void offerNext(delivery.webhook);
  }
  while (busy.size > 0 && !lost.aborted) await woken(lost);
}
