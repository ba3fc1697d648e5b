import { EventEmitter, once, setMaxListeners } from 'node:events';
import type { Io } from '../../lib/io.ts';
import type { Claim, Target } from '../inbox.ts';
import { workPartition } from './partition.ts';
import type { QueryOptions } from './queries.ts';
import { isConsumerGone, isOutage } from './stream.ts';
import { partitions, targetId } from './subjects.ts';
import { addTargets } from './targets.ts';

interface TakeOptions extends QueryOptions {
  sleep: Io['sleep'];
  signal: AbortSignal;
}

/** How often the servers are told that a delivery is still in hand, and the shares of those who forward are compared. */
const [workingMs, shareMs] = [1000, 2000];

/** The deliveries that a target has not got yet, of the partitions that the servers give to this process; see `Inbox.take`. */
export async function* takeDeliveries(target: Target, options: TakeOptions): AsyncGenerator<Claim> {
  const { signal, stream } = options;
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  const claims: Claim[] = [];
  const news = new EventEmitter();
  let failure: unknown;
  const created = (await stream.info())?.created;
  const recover = async (): Promise<void> => {
    const info = await stream.info();
    if (info === undefined) throw stream.deleted();
    // All that is in a new stream came behind this target.
    await addTargets([target], info.created === created ? info.state.last_seq : 0, stream);
  };
  let isRecovering = false;
  const onGone = async (): Promise<void> => {
    if (isRecovering) return;
    isRecovering = true;
    try {
      await recover();
    } catch (error) {
      // Where the servers do not answer now it is said again.
      if (!isOutage(error)) failure = error;
      news.emit('news');
    }
    isRecovering = false;
  };
  const workers = Array.from({ length: partitions }, (_, partition) =>
    workPartition(partition, {
      ...{ ...options, target, onGone: () => void onGone() },
      offer: (claim) => {
        claims.push(claim);
        news.emit('news');
      },
    }),
  );
  const share = async (): Promise<void> => {
    await Promise.all(workers.map(({ start }) => start()));
    const members = Math.max(1, (await stream.askMembers(targetId(target))).length);
    const own = workers.filter(({ isPinned }) => isPinned());
    await Promise.all(own.slice(Math.ceil(partitions / members)).map(({ give }) => give()));
  };
  const every = async (ms: number, act: () => unknown): Promise<void> => {
    for (; !ending.signal.aborted; await options.sleep(ms, ending.signal)) await act();
  };
  const tending = [
    every(workingMs, () => {
      for (const { sayWorking } of workers) sayWorking();
    }),
    every(shareMs, () => share().catch(() => undefined)),
  ].map((each) => each.catch(() => undefined));
  const leave = stream.join(targetId(target), () => workers.flatMap(({ retry }) => retry() ?? []));
  try {
    await Promise.all(workers.map(({ start }) => start())).catch((error) => {
      // It is made again, or its stream was deleted, which is told.
      if (!isConsumerGone(error)) throw error;
    });
    while (!signal.aborted && failure === undefined) {
      const claim = claims.shift();
      if (claim === undefined) await once(news, 'news', { signal }).catch(() => undefined);
      else if (claim.lost?.aborted) claim.release();
      else yield claim;
    }
    if (failure !== undefined) throw failure;
  } finally {
    ending.abort();
    leave();
    for (const claim of claims) claim.release();
    await Promise.all([...tending, ...workers.map(({ end }) => end())]);
  }
}
