import { hourMs } from '../../model/duration.ts';
import { hideUrlSecrets } from '../../model/url-secrets.ts';
import type { World } from '../../world.ts';
import type { Claim, Target } from '../inbox.ts';
import type { countHours } from './hours.ts';
import { holdLeases } from './leases.ts';
import type { Marks } from './marks.ts';
import { type Floor, workPartition } from './partition.ts';
import type { InboxStreams } from './streams.ts';
import { addTargets, readFloor, readTarget } from './targets.ts';

interface TakeOptions extends InboxStreams {
  marks: Marks;
  hours: ReturnType<typeof countHours>;
  member: string;
  world: Pick<World, 'now' | 'sleep'>;
  signal: AbortSignal;
}

/** How often floors are written. */
const floorMs = 1000;

/** The deliveries that a target has not got yet, of the partitions that this process holds; see `Inbox.take`. */
export async function* takeDeliveries(target: Target, options: TakeOptions): AsyncGenerator<Claim> {
  const { streams, subjects, marks, hours, world, signal } = options;
  const known = await readTarget(target, options);
  const claims: Claim[] = [];
  const floors = new Map<number, Floor>();
  let [wake, failure]: [() => void, unknown] = [() => {}, undefined];
  const writeFloors = async (): Promise<void> => {
    const changed = [...floors];
    floors.clear();
    // What is settled is marked before it is skipped.
    await marks.flush();
    for (const [partition, floor] of changed) await marks.add(subjects.floor(known.id, partition), floor);
  };
  const work = async (partition: number, stopping: AbortSignal, lost: AbortSignal): Promise<void> => {
    try {
      await workPartition({
        target,
        targetId: known.id,
        partition,
        floor: await readFloor(known, partition, options),
        streams,
        subjects,
        sleep: world.sleep,
        stopping,
        lost,
        offer: (claim) => {
          if (signal.aborted) return claim.release();
          claims.push(claim);
          wake();
        },
        settle: async (delivery, forward) => {
          await marks.add(subjects.forward(delivery, known.id), { url: hideUrlSecrets(target.url), ...forward });
          hours.forward(delivery.webhook, delivery.atMs, forward);
        },
        onFloor: (floor) => floors.set(partition, { ...floor }),
      });
    } finally {
      await writeFloors().then(marks.flush);
    }
  };
  const tend = async (): Promise<void> => {
    for (let usedMs = world.now(); !signal.aborted; await world.sleep(floorMs, signal)) {
      await writeFloors().catch(() => undefined);
      if (world.now() - usedMs < hourMs) continue;
      usedMs = world.now();
      await addTargets([target], { ...options, nowMs: usedMs }).catch(() => undefined);
    }
  };
  const tending = tend().catch(() => undefined);
  const leasing = holdLeases({ ...options, target: known.id, work }).catch((error) => {
    failure = error;
  });
  void leasing.then(() => wake());
  const stop = () => wake();
  signal.addEventListener('abort', stop);
  try {
    while (!signal.aborted && failure === undefined) {
      const claim = claims.shift();
      if (claim !== undefined) {
        if (claim.lost?.aborted) claim.release();
        else yield claim;
        continue;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (failure !== undefined) throw failure;
  } finally {
    signal.removeEventListener('abort', stop);
    for (const claim of claims.splice(0)) claim.release();
    await leasing;
    await tending;
  }
}
