import { setMaxListeners } from 'node:events';
import { isObject, tryParseJson } from '../../model/json.ts';
import type { World } from '../../world.ts';
import { type InboxStreams, isOutage, type Message } from './streams.ts';
import { partitions } from './subjects.ts';

/** The holder of a lease renews it this often; */
const renewMs = 1000;
/** others ask for it when they saw no change for so long, as what they follow may come late; */
const quietMs = 2000;
/** it stops its work when it could not renew for so long; */
const heldMs = 3500;
/** and they take it when they saw no change for so long, by their own clock. */
const staleMs = 5000;
const tickMs = 500;
/** Who takes a lease waits so long for another who does so at the same moment. */
const settleMs = 500;
/** What is on its way when a lease is given back may take so long. */
const endMs = 2500;

interface LeaseOptions extends InboxStreams {
  target: string;
  /** One process that forwards. */
  member: string;
  world: Pick<World, 'now' | 'sleep'>;
  signal: AbortSignal;
  /** Works a partition; ends what is started and marks it after `stopping`, and drops it once the lease is `lost`. */
  work: (partition: number, stopping: AbortSignal, lost: AbortSignal) => Promise<void>;
}

interface HeldLease {
  renewedMs: number;
  stop: AbortController;
  lose: AbortController;
  done: Promise<void>;
}

/** What somebody last wrote, and when that was first seen here. */
interface SeenLease {
  text: string;
  seq: number;
  seenMs: number;
  /** By the clock of the servers. */
  storedMs: number;
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
  // One listener for each claim.
  setMaxListeners(0, signal);
  const seen = new Map<string, SeenLease>();
  const held = new Map<number, HeldLease>();
  const ended = new AbortController();
  const note = ({ subject, data, seq, storedMs }: Message): string => {
    const text = Buffer.from(data).toString();
    const value = tryParseJson(text);
    const holder = isObject(value) && typeof value['holder'] === 'string' ? value['holder'] : '';
    if (seen.get(subject)?.text !== text) seen.set(subject, { text, seq, seenMs: now(), storedMs, holder });
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
      // Known already, where the leader was asked meanwhile.
      if (message.seq < (seen.get(message.subject)?.seq ?? 0)) continue;
      const holder = note(message);
      const lost = [...held].find(([partition]) => subjects.lease(target, partition) === message.subject);
      if (lost !== undefined && holder !== member) startRenewing(...lost);
    }
  };
  /** Others begin elsewhere, so that few claim the same. */
  const first = Number.parseInt(member.slice(0, 4), 16) || 0;
  const places = Array.from({ length: partitions }, (_, index) => (first + index) % partitions);
  let beat = 0;
  const write = (subject: string, holder: string) => {
    beat += 1;
    return streams.replace(subjects.state, subject, JSON.stringify({ holder, beat }));
  };
  /** Who announced itself not much before the last one who did: then somebody who is gone is not waited for when its leases are free. */
  const liveMembers = (): number => {
    const own = subjects.member(target, member);
    const prefix = subjects.member(target, '');
    const all = [...seen].filter(([subject, { holder }]) => subject.startsWith(prefix) && holder !== '');
    const lastMs = Math.max(...all.map(([, { storedMs }]) => storedMs));
    const others = all.filter(
      ([subject, { seenMs, storedMs }]) => subject !== own && lastMs - storedMs < heldMs && now() - seenMs < staleMs,
    );
    return others.length + 1;
  };
  const drop = async (partition: number, lease: HeldLease): Promise<void> => {
    held.delete(partition);
    lease.stop.abort();
    lease.lose.abort();
    await lease.done;
  };
  const endOf = async ({ done }: HeldLease): Promise<void> => {
    const over = new AbortController();
    await Promise.race([done, world.sleep(endMs, over.signal).catch(() => undefined)]);
    over.abort();
  };
  const giveBack = async (partition: number, lease: HeldLease): Promise<void> => {
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
  const renew = async (partition: number, lease: HeldLease): Promise<void> => {
    const startedMs = now();
    const subject = subjects.lease(target, partition);
    try {
      if ((await holderOf(subject)) !== member) return void drop(partition, lease);
      if (lease.stop.signal.aborted) return;
      await write(subject, member);
      lease.renewedMs = startedMs;
    } catch {
      // The servers may be back in time.
    }
  };
  const renewing = new Set<number>();
  const startRenewing = (partition: number, lease: HeldLease): void => {
    if (renewing.has(partition) || lease.stop.signal.aborted) return;
    renewing.add(partition);
    void renew(partition, lease).finally(() => renewing.delete(partition));
  };
  const isFree = (partition: number): boolean => {
    const lease = seen.get(subjects.lease(target, partition));
    return lease === undefined || lease.holder === '' || lease.holder === member || now() - lease.seenMs > staleMs;
  };
  const claim = async (partition: number): Promise<void> => {
    const subject = subjects.lease(target, partition);
    // The watch may be behind.
    await holderOf(subject);
    if (!isFree(partition)) return;
    const renewedMs = now();
    await write(subject, member);
    await world.sleep(settleMs, signal).catch(() => undefined);
    await begin(partition, renewedMs);
  };
  const begin = async (partition: number, renewedMs: number): Promise<void> => {
    const subject = subjects.lease(target, partition);
    if ((await holderOf(subject)) !== member || now() - renewedMs > heldMs) return;
    if (signal.aborted) return void (await write(subject, ''));
    const [stop, lose] = [new AbortController(), new AbortController()];
    // One for each mark that is asked for again.
    setMaxListeners(0, stop.signal);
    const lease: HeldLease = { renewedMs, stop, lose, done: Promise.resolve() };
    held.set(partition, lease);
    lease.done = work(partition, stop.signal, lose.signal).catch(() => undefined);
    void lease.done.then(() => {
      // Ended by itself: somebody, perhaps this process, takes it again.
      if (held.get(partition) === lease && !stop.signal.aborted) void giveBack(partition, lease);
    });
  };
  let failure: unknown;
  /** What waits for a server that does not answer holds up nothing else. */
  const running = new Map<string, Promise<unknown>>();
  const start = (name: string, act: () => Promise<unknown>): void => {
    if (running.has(name)) return;
    const done = act()
      .catch((error: unknown) => {
        if (!isOutage(error)) failure = error;
      })
      .finally(() => running.delete(name));
    running.set(name, done);
  };
  const memberSubject = subjects.member(target, member);
  /** When the servers last took it; others that are there do the same before the next tick. */
  let announcedMs: number | undefined;
  const announce = async (): Promise<void> => {
    const startedMs = now();
    try {
      await write(memberSubject, member);
      announcedMs = startedMs;
    } catch (error) {
      announcedMs = undefined;
      throw error;
    }
  };
  const tick = (): void => {
    const isKnown = announcedMs !== undefined;
    if (announcedMs === undefined || now() - announcedMs > renewMs) start(memberSubject, announce);
    if (!isKnown) return;
    const fair = Math.ceil(partitions / liveMembers());
    const working = [...held].filter(([, { stop }]) => !stop.signal.aborted);
    for (const [partition, lease] of working.slice(fair)) void giveBack(partition, lease);
    const others = places.filter((partition) => !held.has(partition));
    const idle = others.filter((partition) => !running.has(subjects.lease(target, partition)));
    const room = Math.max(0, fair - working.length - (others.length - idle.length));
    for (const partition of idle.filter(isFree).slice(0, room))
      start(subjects.lease(target, partition), () => claim(partition));
    for (const partition of idle) {
      const subject = subjects.lease(target, partition);
      const isQuiet = now() - (seen.get(subject)?.seenMs ?? now()) > quietMs;
      if (isQuiet && !isFree(partition)) start(`asked ${subject}`, () => holderOf(subject));
    }
  };
  /** Apart from the rest, so that a server that does not answer delays no lease. */
  const guard = () => {
    for (const [partition, lease] of held) {
      if (lease.stop.signal.aborted) continue;
      if (now() - lease.renewedMs > heldMs) void drop(partition, lease);
      else if (now() - lease.renewedMs > renewMs) startRenewing(partition, lease);
    }
  };
  watch().catch((error: unknown) => {
    failure = error;
  });
  const guarding = (async () => {
    while (!ended.signal.aborted) {
      guard();
      await world.sleep(tickMs, ended.signal);
    }
  })().catch(() => undefined);
  try {
    // What others hold is known first.
    await world.sleep(0, signal);
    start(memberSubject, announce);
    await running.get(memberSubject);
    for (; !signal.aborted; await world.sleep(tickMs, signal).catch(() => undefined)) {
      if (failure !== undefined) throw failure;
      tick();
    }
  } finally {
    await Promise.all(running.values());
    await Promise.all([...held].map(([partition, lease]) => giveBack(partition, lease)));
    await write(memberSubject, '').catch(() => undefined);
    ended.abort();
    await guarding;
  }
}
