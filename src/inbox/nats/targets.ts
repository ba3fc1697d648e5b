import { isObject } from '../../model/json.ts';
import { hideUrlSecrets } from '../../model/url-secrets.ts';
import type { EventSummary } from '../events.ts';
import { type EventStatus, type Forward, type Target, targetMs } from '../inbox.ts';
import { isFor } from '../route.ts';
import { bodyAt, copyFinder, deliveryOf, jsonOf, type KeyedDelivery } from './message.ts';
import type { Floor } from './partition.ts';
import type { InboxStreams, Message } from './streams.ts';
import { partitions, targetId } from './subjects.ts';

/** A target that somebody forwards to. */
export interface KnownTarget extends Target {
  id: string;
  /** It gets what comes behind this. */
  startSeq: number;
  usedMs: number;
}

/** Adds targets, or says that they are still used. */
export async function addTargets(
  targets: readonly Target[],
  { streams, subjects, member, nowMs }: InboxStreams & { member: string; nowMs: number },
): Promise<void> {
  for (const target of targets) {
    const id = targetId(target);
    if ((await streams.last(subjects.state, subjects.target(id))) === undefined) {
      const startSeq = (await streams.state(subjects.events))?.lastSeq ?? 0;
      await streams.publish(subjects.state, subjects.start(id, member), String(startSeq));
    }
    const value = { ...target, url: hideUrlSecrets(target.url), id, usedMs: nowMs } satisfies Omit<
      KnownTarget,
      'startSeq'
    >;
    await streams.publish(subjects.state, subjects.target(id), JSON.stringify(value));
  }
}

export async function readTarget(target: Target, inbox: InboxStreams): Promise<KnownTarget> {
  const { streams, subjects } = inbox;
  const last = await streams.last(subjects.state, subjects.target(targetId(target)));
  const known = last && (await knownTarget(last, inbox));
  if (known === undefined) throw new Error(`${hideUrlSecrets(target.url)} was not added to the targets`);
  return known;
}

/** The targets that are waited for: those in use. */
export async function readTargets(inbox: InboxStreams, nowMs: number): Promise<KnownTarget[]> {
  const { streams, subjects } = inbox;
  const found: KnownTarget[] = [];
  const stored = streams.read(subjects.state, { filter: subjects.targets, from: 'last-of-each', ends: true });
  for await (const message of stored) {
    const target = await knownTarget(message, inbox);
    if (target !== undefined && target.usedMs > nowMs - targetMs) found.push(target);
  }
  return found;
}

/** Up to where a target has got all of a partition. */
export async function readFloor(
  target: KnownTarget,
  partition: number,
  { streams, subjects }: InboxStreams,
): Promise<Floor> {
  const value = jsonOf(await streams.last(subjects.state, subjects.floor(target.id, partition)));
  const [seq, top] = isObject(value) ? [Number(value['seq']), Number(value['top'])] : [0, 0];
  return { seq: Math.max(seq, target.startSeq), top };
}

/** How a delivery ended at each of its targets, and what that makes of one of its events. */
export async function statusOf(
  delivery: KeyedDelivery,
  event: EventSummary,
  { targets, floors, streams, subjects }: InboxStreams & { targets: readonly KnownTarget[]; floors: Floors },
): Promise<{ status: EventStatus | null; forwards: Forward[] }> {
  const marks = await Promise.all(
    targets.map(async ({ id }) => jsonOf(await streams.last(subjects.state, subjects.forward(delivery, id)))),
  );
  const forwards = marks.filter(isForward).sort((a, b) => a.atMs - b.atMs);
  if (forwards.some(({ outcome }) => outcome === 'refused')) return { status: 'refused', forwards };
  for (const [index, target] of targets.entries()) {
    const waits = marks[index] === undefined && isFor(target, event);
    if (waits && delivery.seq > (await floors(target, delivery.partition)).seq) return { status: 'waiting', forwards };
  }
  return { status: forwards.length > 0 ? 'forwarded' : null, forwards };
}

/** Floors as they were when first asked for. */
export type Floors = ReturnType<typeof floorReader>;

export function floorReader(inbox: InboxStreams) {
  const floors = new Map<string, Promise<Floor>>();
  return (target: KnownTarget, partition: number): Promise<Floor> => {
    const key = `${target.id} ${partition}`;
    const floor = floors.get(key) ?? readFloor(target, partition, inbox);
    floors.set(key, floor);
    return floor;
  };
}

/** The deliveries that a target has not got, partition by partition. */
export async function* waitingOf(target: KnownTarget, inbox: InboxStreams): AsyncGenerator<KeyedDelivery> {
  const { streams, subjects } = inbox;
  for (let partition = 0; partition < partitions; partition += 1) {
    const filter = subjects.ofPartition(partition);
    const { seq } = await readFloor(target, partition, inbox);
    const first = await streams.next(subjects.events, filter, seq + 1);
    if (first === undefined) continue;
    const isCopy = copyFinder();
    for await (const message of streams.read(subjects.events, { filter, from: first.seq, ends: true })) {
      if (bodyAt(message) !== undefined || isCopy(message)) continue;
      const delivery = deliveryOf(message);
      const isSettled = async () =>
        (await streams.last(subjects.state, subjects.forward(delivery, target.id))) !== undefined;
      if (delivery.events.some((event) => isFor(target, event)) && !(await isSettled())) yield delivery;
    }
  }
}

async function knownTarget(message: Message, { streams, subjects }: InboxStreams): Promise<KnownTarget | undefined> {
  const value = jsonOf(message);
  if (!isObject(value) || typeof value['id'] !== 'string') return undefined;
  const starts: number[] = [];
  const filter = subjects.starts(value['id']);
  for await (const { data } of streams.read(subjects.state, { filter, from: 'last-of-each', ends: true }))
    starts.push(Number(Buffer.from(data).toString()));
  // Removed with what is as old as it: then all that is left came behind it.
  const startSeq = starts.length === 0 ? 0 : Math.min(...starts);
  return { ...(value as unknown as Omit<KnownTarget, 'startSeq'>), startSeq };
}

function isForward(value: unknown): value is Forward {
  return isObject(value) && typeof value['url'] === 'string' && typeof value['atMs'] === 'number';
}
