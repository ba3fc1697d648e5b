import { openSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { SotraError } from '../../errors.ts';
import type { World } from '../../world.ts';
import type { ThreadAnswer, ThreadRequest } from './inbox-thread.ts';
import { storeFile } from './store.ts';

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

/** One answer for each request, in their order. */
export function callsOf(thread: Worker): (request: ThreadRequest) => Promise<ThreadAnswer> {
  const calls: { resolve: (answer: ThreadAnswer) => void; reject: (error: unknown) => void }[] = [];
  let gone: SotraError | undefined;
  const end = (cause?: unknown) => {
    gone ??= new SotraError('internal', 'the thread that stores deliveries has ended', { cause });
    for (const { reject } of calls.splice(0)) reject(gone);
  };
  const settle = ({ failure, ...answer }: ThreadAnswer): void => {
    const next = calls.shift();
    if (failure === undefined) next?.resolve(answer);
    else next?.reject(new SotraError('local-file', failure.message, { hint: failure.hint }));
  };
  thread.on('message', (answers: string) => (JSON.parse(answers) as ThreadAnswer[]).forEach(settle));
  thread.on('error', end);
  thread.on('exit', () => end());
  return (request) =>
    new Promise((resolve, reject) => {
      if (gone !== undefined) return reject(gone);
      calls.push({ resolve, reject });
      thread.postMessage(request, request.kind === 'commit' ? [request.bodies.buffer as ArrayBuffer] : []);
    });
}
