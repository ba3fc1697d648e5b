import { isObject, tryParseJson } from '../../../../model/json.ts';
import type { World } from '../../../../world.ts';
import type { Message, Streams } from './streams.ts';
import { partitions, type Subjects } from './subjects.ts';

/** The holder of a lease renews it this often; */
const renewMs = 1500;
/** stops its work when it could not for so long; */
const heldMs = 4500;
/** and others take it when they saw no change for so long, by their own clock. */
const staleMs = 6000;
const tickMs = 500;
/** What is on its way when a lease is given back may take so long. */
const endMs = 2500;

interface LeaseOptions {
  target: string;
  /** One process that forwards. */
  member: string;
  streams: Streams;
  subjects: Subjects;
  world: Pick<World, 'now' | 'sleep'>;
  signal: AbortSignal;
  /** Works a partition; ends what is begun and marks it after `stopping`, and drops it once the lease is `lost`. */
  work: (partition: number, stopping: AbortSignal, lost: AbortSignal) => Promise<void>;
}

interface Held {
  seq: number;
  renewedMs: number;
  stop: AbortController;
  lose: AbortController;
  done: Promise<void>;
}

/** What somebody last wrote, and when that was seen here. */
interface Seen {
  seq: number;
  seenMs: number;
  holder: string;
}

/**
 * Holds a fair share of the partitions of a target, each by one process at a time: a lease is a subject that is written only over what was
 * read of it. Clocks of machines are not compared.
 */
export async function holdLeases({
  target,
  member,
  streams,
  subjects,
  world,
  signal,
  work,
}: LeaseOptions): Promise<void> {
  const { now } = world;
  const seen = new Map<string, Seen>();
  const held = new Map<number, Held>();
  const ended = new AbortController();
  const note = ({ subject, seq, data }: Message): void => {
    if ((seen.get(subject)?.seq ?? 0) >= seq) return;
    const value = tryParseJson(Buffer.from(data).toString());
    const holder = isObject(value) && typeof value['holder'] === 'string' ? value['holder'] : '';
    seen.set(subject, { seq, seenMs: now(), holder });
  };
  const look = async (subject: string): Promise<void> => {
    const last = await streams.last(subjects.state, subject);
    if (last === undefined) seen.delete(subject);
    else note(last);
  };
  const watch = async () => {
    const options = { filter: subjects.work(target), from: 'last-of-each', ends: false, signal: ended.signal } as const;
    for await (const message of streams.read(subjects.state, options)) note(message);
  };
  const write = (subject: string, holder: string, seenSeq: number): Promise<number | undefined> =>
    streams.replace(subjects.state, subject, JSON.stringify({ holder }), seenSeq);
  const announce = (holder: string) =>
    streams.publish(subjects.state, subjects.member(target, member), JSON.stringify({ holder }));
  const liveMembers = (): number => {
    const own = subjects.member(target, member);
    const prefix = subjects.member(target, '');
    const others = [...seen].filter(
      ([subject, { holder, seenMs }]) =>
        subject.startsWith(prefix) && subject !== own && holder !== '' && now() - seenMs < staleMs,
    );
    return others.length + 1;
  };
  const drop = async (partition: number, lease: Held): Promise<void> => {
    held.delete(partition);
    lease.stop.abort();
    lease.lose.abort();
    await lease.done;
  };
  const giveBack = async (partition: number, lease: Held): Promise<void> => {
    lease.stop.abort();
    if (!signal.aborted) await Promise.race([lease.done, world.sleep(endMs, signal).catch(() => undefined)]);
    lease.lose.abort();
    await lease.done;
    held.delete(partition);
    await write(subjects.lease(target, partition), '', lease.seq).catch(() => undefined);
  };
  const renew = async (partition: number, lease: Held): Promise<void> => {
    const startedMs = now();
    try {
      const seq = await write(subjects.lease(target, partition), member, lease.seq);
      if (seq === undefined) return await drop(partition, lease);
      lease.seq = seq;
      lease.renewedMs = startedMs;
    } catch {
      // The servers may be back in time.
    }
  };
  const acquire = async (partition: number): Promise<void> => {
    const subject = subjects.lease(target, partition);
    const startedMs = now();
    const seq = await write(subject, member, seen.get(subject)?.seq ?? 0);
    // Somebody was faster, or the watch is behind.
    if (seq === undefined) return await look(subject);
    const [stop, lose] = [new AbortController(), new AbortController()];
    const lease: Held = { seq, renewedMs: startedMs, stop, lose, done: Promise.resolve() };
    held.set(partition, lease);
    lease.done = work(partition, stop.signal, lose.signal).catch(() => undefined);
    void lease.done.then(() => {
      // Ended by itself: somebody, perhaps this process, takes it again.
      if (held.get(partition) === lease && !stop.signal.aborted) void giveBack(partition, lease);
    });
  };
  const isFree = (partition: number): boolean => {
    const lease = seen.get(subjects.lease(target, partition));
    return lease === undefined || lease.holder === '' || lease.holder === member || now() - lease.seenMs > staleMs;
  };
  let announcedMs = Number.NEGATIVE_INFINITY;
  const tick = async (): Promise<void> => {
    if (now() - announcedMs > renewMs) {
      announcedMs = now();
      await announce(member);
    }
    const fair = Math.ceil(partitions / liveMembers());
    const extra = [...held].filter(([, { stop }]) => !stop.signal.aborted).slice(fair);
    for (const [partition, lease] of extra) void giveBack(partition, lease);
    const free = Array.from({ length: partitions }, (_, partition) => partition).filter(
      (partition) => !held.has(partition) && isFree(partition),
    );
    const working = [...held.values()].filter(({ stop }) => !stop.signal.aborted).length;
    await Promise.all(free.slice(0, Math.max(0, fair - working)).map(acquire));
  };
  /** Apart from the rest, so that a server that does not answer delays no lease. */
  const guard = () => {
    for (const [partition, lease] of held) {
      if (lease.stop.signal.aborted) continue;
      if (now() - lease.renewedMs > heldMs) void drop(partition, lease);
      else if (now() - lease.renewedMs > renewMs && !renewing.has(partition)) {
        renewing.add(partition);
        void renew(partition, lease).finally(() => renewing.delete(partition));
      }
    }
  };
  const renewing = new Set<number>();
  const watching = watch();
  watching.catch(() => undefined);
  const guarding = (async () => {
    while (!ended.signal.aborted) {
      guard();
      await world.sleep(tickMs, ended.signal);
    }
  })().catch(() => undefined);
  try {
    // What others hold is known first.
    await world.sleep(0, signal);
    for (; !signal.aborted; await world.sleep(tickMs, signal).catch(() => undefined)) {
      const failed = await Promise.race([watching.then(() => undefined), tick().catch((error: unknown) => error)]);
      if (failed !== undefined && !isPassing(failed)) throw failed;
    }
  } finally {
    await Promise.all([...held].map(([partition, lease]) => giveBack(partition, lease)));
    await announce('').catch(() => undefined);
    ended.abort();
    await guarding;
  }
}

function isPassing(error: unknown): boolean {
  return isObject(error) && error['code'] === 'network';
}
