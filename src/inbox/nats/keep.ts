import type { KeepLimits } from '../inbox.ts';
import { bodyAt, copyFinder, deliveryOf, eventIdOf, type KeyedDelivery } from './message.ts';
import type { QueryOptions } from './queries.ts';
import { floorReader, readTargets } from './targets.ts';

/** Removes the oldest deliveries that exceed the limits and wait for no target; resolves with their number. */
export async function removeOld({ ms, bytes }: KeepLimits, options: QueryOptions): Promise<number> {
  const { streams, subjects, nowMs } = options;
  const state = await streams.state(subjects.events);
  if (state === undefined || state.messages === 0 || (ms === undefined && bytes === undefined)) return 0;
  let surplus = bytes === undefined ? 0 : state.bytes - bytes;
  const meanBytes = state.bytes / state.messages;
  const beforeMs = ms === undefined ? 0 : nowMs - ms;
  const targets = await readTargets(options, nowMs);
  const floors = floorReader(options);
  const keptBodies = new Set<string>();
  const isCopy = copyFinder();
  const waits = async ({ seq, partition }: KeyedDelivery): Promise<boolean> => {
    for (const target of targets) if (seq > (await floors(target, partition)).seq) return true;
    return false;
  };
  let [removed, upTo, keptOne] = [0, 0, false];
  const reading = streams.read(subjects.events, { filter: subjects.all, from: state.firstSeq, ends: true });
  for await (const message of reading) {
    const body = bodyAt(message);
    let keeps = body === undefined ? undefined : keptBodies.has(body);
    if (keeps === undefined) {
      const delivery = deliveryOf(message);
      if (delivery.atMs >= beforeMs && surplus <= 0) break;
      keeps = await waits(delivery);
      if (keeps && eventIdOf(message) === undefined) keptBodies.add(message.subject);
      if (!keeps && !isCopy(message)) removed += 1;
    }
    if (keeps) {
      keptOne = true;
      continue;
    }
    surplus -= meanBytes;
    if (keptOne) await streams.remove(subjects.events, message.seq);
    else upTo = message.seq;
  }
  if (upTo > 0) await streams.removeUpTo(subjects.events, upTo);
  return removed;
}
