import type { Context } from '../../../context.ts';
import { SotraError } from '../../../errors.ts';

/** How an upload waits before it repeats what the HTTP layer has given up on, and how often. */
export interface Patience {
  /** Whether to try once more after the n-th failure, from 1, and so many requests in all. */
  mayRepeat: (failures: number, sent: number) => boolean;
  /** How often the next call may repeat by itself after so many requests; `undefined`: as often as any. */
  retriesAfter: (sent: number) => number | undefined;
  /** Milliseconds to wait after the n-th failure, from 1. */
  delay: (failures: number, error: SotraError) => number;
  /** Throws `interrupted` when asked to stop. */
  wait: (ms: number) => Promise<void>;
}

const firstMs = 250;
const longestMs = 15_000;
const maxTries = 8;

/**
 * Waiting with full jitter, doubling from 250 ms to 15 s; at least a second where the service asked for less haste. Eight tries, or no more
 * requests than `--retries` has room for.
 */
export function createPatience({ world, options }: Pick<Context, 'world' | 'options'>): Patience {
  const { random, sleep, signal } = world;
  const { retries } = options;
  return {
    mayRepeat: (failures, sent) => (retries === undefined ? failures < maxTries : sent <= retries),
    retriesAfter: (sent) => (retries === undefined ? undefined : retries - sent),
    delay: (failures, error) => {
      const jitter = Math.round((0.5 + random() / 2) * Math.min(longestMs, firstMs * 2 ** (failures - 1)));
      return error.code === 'rate-limited' ? Math.max(1000, jitter) : jitter;
    },
    wait: async (ms) => {
      try {
        await sleep(ms, signal);
      } catch (cause) {
        throw new SotraError('interrupted', 'interrupted', { cause });
      }
    },
  };
}

/** True for a failure that may pass: no answer, a broken one, 5xx, 429. */
function mayPass(error: unknown): error is SotraError {
  return error instanceof SotraError && error.outcome !== undefined && error.code !== 'interrupted';
}

/**
 * What an act gives that may be done again safely, tried again while its failure may pass. Errors: the last one. `onFailure` is told of each
 * failure that is followed by another try, and when.
 */
export async function patiently<T>(
  patience: Patience,
  act: (retries: number | undefined) => Promise<T>,
  onFailure: (error: SotraError, delayMs: number) => void | Promise<void> = () => undefined,
): Promise<T> {
  let sent = 0;
  for (let failures = 1; ; failures += 1) {
    try {
      return await act(patience.retriesAfter(sent));
    } catch (thrown) {
      if (!mayPass(thrown)) throw thrown;
      sent += thrown.attempts ?? 1;
      if (!patience.mayRepeat(failures, sent)) throw thrown;
      const delayMs = patience.delay(failures, thrown);
      await onFailure(thrown, delayMs);
      await patience.wait(delayMs);
    }
  }
}
