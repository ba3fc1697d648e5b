import type { Context } from '../context.ts';
import { type ErrorCode, toSotraError } from '../errors.ts';
import { computeBackoff, policies } from '../http/retry.ts';

/** How something is asked again and again, in spite of a service that fails for a while. */
export interface Pace {
  /** To be called after each round that succeeded. */
  succeeded: () => Promise<void>;
  /**
   * To be called with what a round threw; `temporary` names further codes that may pass. Errors: what was thrown, where it does not pass, was
   * tried `--retries` times, or the service wants a longer wait than `--timeout` allows, by default a minute.
   */
  failed: (thrown: unknown, temporary?: readonly ErrorCode[]) => Promise<void>;
  /** Resolves when the next round is due, or a signal came; failures double the wait, up to a minute. */
  pause: (maxMs?: number) => Promise<void>;
}

const temporaryErrors: readonly ErrorCode[] = ['network', 'timeout', 'server-error', 'rate-limited'];

export function createPace(
  { world, options }: Pick<Context, 'world' | 'options'>,
  everyMs: number,
  say: (text: string) => unknown,
): Pace {
  const { retries = Number.POSITIVE_INFINITY, maxWaitMs } = options;
  let [failures, attempts, wishedMs] = [0, 0, 0];
  return {
    succeeded: async () => {
      if (failures > 0) await say('The service answers again.');
      [failures, attempts, wishedMs] = [0, 0, 0];
    },
    failed: async (thrown, temporary = []) => {
      const error = toSotraError(thrown);
      wishedMs = (error.retryAfterSec ?? 0) * 1000;
      if (![...temporaryErrors, ...temporary].includes(error.code) || wishedMs > maxWaitMs) throw thrown;
      failures += 1;
      attempts += error.attempts ?? 1;
      if (attempts > retries) throw thrown;
      if (failures === 1) await say(`${error.message}; retrying.`);
    },
    pause: async (maxMs = Number.POSITIVE_INFINITY) => {
      const waitMs = Math.max(everyMs, computeBackoff({ ...policies.poll, firstMs: everyMs }, failures + 1), wishedMs);
      await world.sleep(Math.min(waitMs, maxMs), world.signal).catch(() => undefined);
    },
  };
}
