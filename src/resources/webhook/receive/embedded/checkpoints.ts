import { openSync } from 'node:fs';
import type { World } from '../../../../world.ts';
import { storeFile } from './store.ts';
import { callsOf } from './thread-calls.ts';

interface CheckpointOptions {
  folder: string;
  /** With so much in the log it goes into the store. */
  logBytes: number;
  startThread: World['startThread'];
  /** Brings in what the other thread left, by the one that writes: then the log begins anew. */
  finish: () => Promise<void>;
}

/**
 * Brings the log into the store while deliveries go on being stored: a thread of its own writes the pages and syncs them, which takes tenths of a
 * second, and the writer is left with those that changed meanwhile.
 */
export function startCheckpoints({ folder, logBytes, startThread, finish }: CheckpointOptions) {
  let writtenBytes = 0;
  let running: Promise<void> | undefined;
  let call: ReturnType<typeof callsOf> | undefined;
  let handle: number | undefined;
  const checkpoint = async (): Promise<void> => {
    call ??= callsOf(await startThread('inbox-thread'));
    if (handle === undefined) await call({ kind: 'open', folder });
    // Never closed: that would drop the locks that other connections of this process hold on the file.
    handle ??= openSync(storeFile(folder), 'r+');
    await call({ kind: 'checkpoint', handle });
    await finish();
  };
  return {
    /** Errors are left to the commits, which fail where the log cannot grow. */
    wrote: (bytes: number): void => {
      writtenBytes += bytes;
      if (writtenBytes < logBytes || running !== undefined) return;
      writtenBytes = 0;
      running = checkpoint()
        .catch(() => undefined)
        .finally(() => {
          running = undefined;
        });
    },
    close: async (): Promise<void> => {
      await running;
      await call?.({ kind: 'close' });
    },
  };
}
