import { isObject, tryParseJson } from '../../../../model/json.ts';
import type { World } from '../../../../world.ts';
import { isOutage, type Message, type Streams } from './streams.ts';
import { partitions, type Subjects } from './subjects.ts';

/** The holder of a lease renews it this often; */
const renewMs = 1000;
/** stops its work when it could not for so long; */
const heldMs = 3500;
/** and others take it when they saw no change for so long, by their own clock. */
const staleMs = 5000;
const tickMs = 500;
/** Who takes a lease waits so long for another who does so at the same moment. */
const settleMs = 500;
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
  renewedMs: number;
  stop: AbortController;
  lose: AbortController;
  done: Promise<void>;
}

/** What somebody last wrote, and when that was first seen here. */
interface Seen {
  text: string;
  seenMs: number;
  holder: string;
}

/**
 * Holds a fair share of the partitions of a target, each by one process at a time: a lease is a subject that names its holder, and who wrote
 * it last has it. Clocks of machines are not compared.
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
  const note = ({ subject, data }: Message): string => {
    const text = Buffer.from(data).toString();
    const value = tryParseJson(text);
    const holder = isObject(value) && typeof value['holder'] === 'string' ? value['holder'] : '';
    if (seen.get(subject)?.text !== text) seen.set(subject, { text, seenMs: now(), holder });
    return holder;
  };
  /** Who holds it, as the leader of the stream knows. */
  const holderOf = async (subject: string): Promise<string> => {
    const last = await streams.last(subjects.state, subject);
    if (last === undefined) seen.delete(subject);
    return last === undefined ? '' : note(last);
  };
  const watch = async () => {
    const options = { filter: subjects.work(target), from: 'last-of-each', ends: false, signal: ended.signal } as const;
    for await (const message of streams.read(subjects.state, options)) {
      const holder = note(message);
      const lost = [...held].find(([partition]) => subjects.lease(target, partition) === message.subject);
      if (lost !== undefined && holder !== member) startRenewing(...lost);
    }
  };
  let beat = 0;
  const write = (subject: string, holder: string) => {
    beat += 1;
    return streams.publish(subjects.state, subject, JSON.stringify({ holder, beat }));
  };
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
  const endOf = async ({ done }: Held): Promise<void> => {
    const over = new AbortController();
    await Promise.race([done, world.sleep(endMs, over.signal).catch(() => undefined)]);
    over.abort();
  };
  const giveBack = async (partition: number, lease: Held): Promise<void> => {
    lease.stop.abort();
    if (!signal.aborted) await endOf(lease);
    lease.lose.abort();
    await endOf(lease);
    held.delete(partition);
    const subject = subjects.lease(target, partition);
    try {
      if ((await holderOf(subject)) === member) await write(subject, '');
    } catch {
      // Others take it when it is stale.
    }
  };
  const renew = async (partition: number, lease: Held): Promise<void> => {
    const startedMs = now();
    const subject = subjects.lease(target, partition);
    try {
      if ((await holderOf(subject)) !== member) return void drop(partition, lease);
      await write(subject, member);
      lease.renewedMs = startedMs;
    } catch {
      // The servers may be back in time.
    }
  };
  const renewing = new Set<number>();
  const startRenewing = (partition: number, lease: Held): void => {
    if (renewing.has(partition) || lease.stop.signal.aborted) return;
    renewing.add(partition);
    void renew(partition, lease).finally(() => renewing.delete(partition));
  };
  const claim = async (partition: number): Promise<{ partition: number; renewedMs: number } | undefined> => {
    const subject = subjects.lease(target, partition);
    // The watch may be behind.
    await holderOf(subject);
    if (!isFree(partition)) return undefined;
    const renewedMs = now();
    await write(subject, member);
    return { partition, renewedMs };
  };
  const begin = async (partition: number, renewedMs: number): Promise<void> => {
    const subject = subjects.lease(target, partition);
    if ((await holderOf(subject)) !== member) return;
    if (signal.aborted) return void (await write(subject, ''));
    const [stop, lose] = [new AbortController(), new AbortController()];
    const lease: Held = { renewedMs, stop, lose, done: Promise.resolve() };
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
      await write(subjects.member(target, member), member);
    }
    const fair = Math.ceil(partitions / liveMembers());
    const extra = [...held].filter(([, { stop }]) => !stop.signal.aborted).slice(fair);
    for (const [partition, lease] of extra) void giveBack(partition, lease);
    const free = Array.from({ length: partitions }, (_, partition) => partition).filter(
      (partition) => !held.has(partition) && isFree(partition),
    );
    const working = [...held.values()].filter(({ stop }) => !stop.signal.aborted).length;
    const claims = await Promise.all(free.slice(0, Math.max(0, fair - working)).map(claim));
    const claimed = claims.filter((each) => each !== undefined);
    if (claimed.length === 0) return;
    await world.sleep(settleMs, signal).catch(() => undefined);
    await Promise.all(claimed.map(({ partition, renewedMs }) => begin(partition, renewedMs)));
  };
  /** Apart from the rest, so that a server that does not answer delays no lease. */
  const guard = () => {
    for (const [partition, lease] of held) {
      if (lease.stop.signal.aborted) continue;
      if (now() - lease.renewedMs > heldMs) void drop(partition, lease);
      else if (now() - lease.renewedMs > renewMs) startRenewing(partition, lease);
    }
  };
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
      if (failed !== undefined && !isOutage(failed)) throw failed;
    }
  } finally {
    await Promise.all([...held].map(([partition, lease]) => giveBack(partition, lease)));
    await write(subjects.member(target, member), '').catch(() => undefined);
    ended.abort();
    await guarding;
  }
}
