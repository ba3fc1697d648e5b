import { isObject, tryParseJson } from '../../../../model/json.ts';
import { type EventStatus, type Forward, type StoredDelivery, type Target, targetMs } from '../inbox.ts';
import { bodySeqOf, deliveryOf } from './message.ts';
import { type Floor, isFor } from './partition.ts';
import type { Message, Streams } from './streams.ts';
import { partitionOf, partitions, type Subjects, targetId } from './subjects.ts';

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
  { streams, subjects, nowMs }: { streams: Streams; subjects: Subjects; nowMs: number },
): Promise<void> {
  for (const target of targets) {
    const id = targetId(target);
    const subject = subjects.target(id);
    const last = await streams.last(subjects.state, subject);
    const startSeq = last === undefined ? (await streams.state(subjects.events))?.lastSeq : targetOf(last)?.startSeq;
    const value = JSON.stringify({ ...target, id, startSeq: startSeq ?? 0, usedMs: nowMs } satisfies KnownTarget);
    // Where another process adds it at this moment, its word is as good.
    await streams.replace(subjects.state, subject, value, last?.seq ?? 0);
  }
}

export async function readTarget(target: Target, streams: Streams, subjects: Subjects): Promise<KnownTarget> {
  const last = await streams.last(subjects.state, subjects.target(targetId(target)));
  const known = last && targetOf(last);
  if (known === undefined) throw new Error(`${target.url} was not added to the targets`);
  return known;
}

/** The targets that are waited for: those in use. */
export async function readTargets(streams: Streams, subjects: Subjects, nowMs: number): Promise<KnownTarget[]> {
  const found: KnownTarget[] = [];
  for await (const message of streams.read(subjects.state, {
    filter: subjects.targets,
    from: 'last-of-each',
    ends: true,
  })) {
    const target = targetOf(message);
    if (target !== undefined && target.usedMs > nowMs - targetMs) found.push(target);
  }
  return found;
}

/** Up to where a target has got all of a partition. */
export async function readFloor(
  target: KnownTarget,
  partition: number,
  streams: Streams,
  subjects: Subjects,
): Promise<Floor> {
  const value = parse(await streams.last(subjects.state, subjects.floor(target.id, partition)));
  const [seq, top] = isObject(value) ? [Number(value['seq']), Number(value['top'])] : [0, 0];
  return { seq: Math.max(seq, target.startSeq), top };
}

/** How a delivery ended at each of its targets, and what that makes of one of its events. */
export async function statusOf(
  delivery: StoredDelivery,
  eventType: string,
  {
    targets,
    floors,
    streams,
    subjects,
  }: { targets: readonly KnownTarget[]; floors: Floors; streams: Streams; subjects: Subjects },
): Promise<{ status: EventStatus | null; forwards: Forward[] }> {
  const marks = await Promise.all(
    targets.map(async ({ id }) => parse(await streams.last(subjects.state, subjects.forward(delivery.seq, id)))),
  );
  const forwards = marks.filter(isForward).sort((a, b) => a.atMs - b.atMs);
  if (forwards.some(({ outcome }) => outcome === 'refused')) return { status: 'refused', forwards };
  const partition = partitionOf(delivery.webhook);
  for (const [index, target] of targets.entries()) {
    const waits = marks[index] === undefined && (target.eventType ?? eventType) === eventType;
    if (waits && delivery.seq > (await floors(target, partition)).seq) return { status: 'waiting', forwards };
  }
  return { status: forwards.length > 0 ? 'forwarded' : null, forwards };
}

/** Floors as they were when first asked for. */
export type Floors = ReturnType<typeof floorReader>;

export function floorReader(streams: Streams, subjects: Subjects) {
  const floors = new Map<string, Promise<Floor>>();
  return (target: KnownTarget, partition: number): Promise<Floor> => {
    const key = `${target.id} ${partition}`;
    const floor = floors.get(key) ?? readFloor(target, partition, streams, subjects);
    floors.set(key, floor);
    return floor;
  };
}

/** The deliveries that a target has not got, partition by partition. */
export async function* waitingOf(
  target: KnownTarget,
  streams: Streams,
  subjects: Subjects,
): AsyncGenerator<StoredDelivery> {
  for (let partition = 0; partition < partitions; partition += 1) {
    const filter = subjects.ofPartition(partition);
    const { seq } = await readFloor(target, partition, streams, subjects);
    const first = await streams.next(subjects.events, filter, seq + 1);
    if (first === undefined) continue;
    for await (const message of streams.read(subjects.events, { filter, from: first.seq, ends: true })) {
      if (bodySeqOf(message) !== undefined) continue;
      const delivery = deliveryOf(message);
      const isSettled = async () =>
        (await streams.last(subjects.state, subjects.forward(delivery.seq, target.id))) !== undefined;
      if (isFor(target, delivery) && !(await isSettled())) yield delivery;
    }
  }
}

function parse(message: Message | undefined): unknown {
  return message && tryParseJson(Buffer.from(message.data).toString());
}

function targetOf(message: Message): KnownTarget | undefined {
  const value = parse(message);
  return isObject(value) && typeof value['url'] === 'string' ? (value as unknown as KnownTarget) : undefined;
}

function isForward(value: unknown): value is Forward {
  return isObject(value) && typeof value['url'] === 'string' && typeof value['atMs'] === 'number';
}
