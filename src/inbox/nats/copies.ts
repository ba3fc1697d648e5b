import { isOutage, type Streams } from './streams.ts';

/** What servers say while another one takes the lead may be taken back: so long a copy stays at least. */
const settleMs = 5000;

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
  const copies = new Map<number, string>();
  let running: Promise<void> | undefined;
  const removeOld = async (old: readonly (readonly [seq: number, subject: string])[]): Promise<void> => {
    if (!(await streams.isWhole(stream))) return;
    for (const [seq, subject] of old) {
      try {
        await streams.keepFirst(stream, subject, seq);
      } catch (error) {
        if (isOutage(error)) return;
        // Without the permission it stays.
      }
      copies.delete(seq);
    }
  };
  const run = async (): Promise<void> => {
    while (copies.size > 0 && !signal.aborted) {
      const old = [...copies];
      await sleep(settleMs, signal).catch(() => undefined);
      await removeOld(old).catch(() => undefined);
    }
    running = undefined;
  };
  return {
    add: ({ subject, seq }: { subject: string; seq: number }): void => {
      copies.set(seq, subject);
      running ??= run();
    },
    /** Resolves when what could be removed is. */
    done: async (): Promise<void> => running,
  };
}
