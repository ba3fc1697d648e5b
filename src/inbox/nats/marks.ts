import type { Streams } from './streams.ts';

/** Marks that a crash may lose: so many deliveries are then forwarded again. */
const maxPending = 256;

/** Writes marks in the background; each overwrites the one of its subject. */
export type Marks = ReturnType<typeof startMarks>;

export function startMarks(streams: Streams, stream: string) {
  const pending = new Set<Promise<void>>();
  const failed = new Map<string, string>();
  let failure: unknown;
  const start = (subject: string, text: string): void => {
    const written: Promise<void> = streams
      .publish(stream, subject, text)
      .then(() => undefined)
      .catch((error) => {
        failure = error;
        failed.set(subject, text);
      })
      .finally(() => pending.delete(written));
    pending.add(written);
  };
  const flush = async (): Promise<void> => {
    await Promise.all(pending);
    if (failed.size === 0) return;
    const again = [...failed];
    failed.clear();
    for (const [subject, text] of again) start(subject, text);
    await Promise.all(pending);
    if (failed.size > 0) throw failure;
  };
  return {
    /** Resolves when not too much would be lost. Errors: those of the streams; then the same call is made again. */
    add: async (subject: string, value: unknown): Promise<void> => {
      start(subject, JSON.stringify(value));
      if (failed.size > 0) await flush();
      else if (pending.size >= maxPending) await Promise.race(pending);
    },
    /** Resolves when all is written. */
    flush,
  };
}
