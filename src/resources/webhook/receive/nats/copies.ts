import { isOutage, type Streams } from './streams.ts';

/** What servers say while another one takes the lead may be taken back: so long a copy stays at least. */
const settleMs = 5000;
/** A minute: while a server is away for longer, copies hold up nothing. */
const maxRounds = 12;

interface CopyOptions {
  streams: Pick<Streams, 'isWhole' | 'keepFirst'>;
  stream: string;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Then what is left is tried once more. */
  signal: AbortSignal;
}

/**
 * Removes messages that are copies, while all servers are there and up to date: where they differ, the one removed might be the only one that
 * stays. What is left is removed by whoever forwards next; no command shows it.
 */
export function startRemoval({ streams, stream, sleep, signal }: CopyOptions) {
  const copies = new Map<number, { subject: string; rounds: number; release: () => void }>();
  let running: Promise<void> | undefined;
  const removeOld = async (old: readonly number[]): Promise<void> => {
    if (!(await streams.isWhole(stream))) return;
    for (const seq of old) {
      const copy = copies.get(seq);
      try {
        await streams.keepFirst(stream, copy?.subject ?? '', seq);
      } catch (error) {
        if (isOutage(error)) return;
        // Without the permission it stays.
      }
      copies.delete(seq);
      copy?.release();
    }
  };
  const run = async (): Promise<void> => {
    while (copies.size > 0 && !signal.aborted) {
      const old = [...copies.keys()];
      await sleep(settleMs, signal).catch(() => undefined);
      await removeOld(old).catch(() => undefined);
      for (const copy of copies.values()) {
        copy.rounds += 1;
        if (copy.rounds === maxRounds) copy.release();
      }
    }
    running = undefined;
  };
  return {
    /** `release` is called when it is removed, or need not be waited for; perhaps twice. */
    add: (subject: string, seq: number, release = () => {}): void => {
      copies.set(seq, { subject, rounds: 0, release });
      running ??= run();
    },
    /** Resolves when what could be removed is. */
    done: async (): Promise<void> => running,
  };
}
