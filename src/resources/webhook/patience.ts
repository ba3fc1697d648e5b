import type { World } from '../../context.ts';
import { SotraError } from '../../errors.ts';

/** How an upload waits before it repeats what the HTTP layer has given up on. */
export interface Patience {
  /** Waits after the n-th failure, from 1; throws `interrupted` when asked to stop. */
  wait: (failures: number, error: SotraError) => Promise<void>;
}

const firstMs = 250;
const longestMs = 15_000;
const mostTries = 8;

/** Waiting with full jitter, doubling from 250 ms to 15 s; at least a second where the service asked for less haste. */
export function createPatience({ random, sleep, signal }: World): Patience {
  return {
    wait: async (failures, error) => {
      const jitter = Math.round((0.5 + random() / 2) * Math.min(longestMs, firstMs * 2 ** (failures - 1)));
      try {
        await sleep(error.code === 'rate-limited' ? Math.max(1000, jitter) : jitter, signal);
      } catch (cause) {
        throw new SotraError('interrupted', 'interrupted', { cause });
      }
    },
  };
}

/** True for a failure that may pass: no answer, a broken one, 5xx, 429. Never throws. */
function mayPass(error: unknown): error is SotraError {
  return error instanceof SotraError && error.outcome !== undefined && error.code !== 'interrupted';
}

/**
 * What an act gives that may be done again safely, tried up to eight times while its failure may pass. Errors: the last one.
 * `onFailure` is told of each failure that is followed by another try.
 */
export async function patiently<T>(
  patience: Patience,
  act: () => Promise<T>,
  onFailure: (error: SotraError) => void = () => undefined,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await act();
    } catch (thrown) {
      if (!mayPass(thrown) || failures >= mostTries) throw thrown;
      onFailure(thrown);
      await patience.wait(failures, thrown);
    }
  }
}
