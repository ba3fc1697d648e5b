import type { Context } from '../context.ts';
import { type ErrorCode, readMessage, SotraError, toSotraError } from '../errors.ts';
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

interface Wait {
  /** What did not happen, such as `upload 3f9a did not finish`. */
  otherwise: string;
  everyMs: number;
  context: Context;
}

/** The last look takes at least this long. */
const minLookMs = 1000;

/**
 * What `look` finds, asked again until it finds something; what fails for a while is asked again too. Errors: `wait-timeout` after
 * `--timeout`; `interrupted`; those of `look` that do not pass.
 */
export async function waitFor<T>(
  look: () => Promise<T | undefined>,
  { otherwise, everyMs, context }: Wait,
): Promise<T> {
  const { world, options, note } = context;
  const { maxTimeMs, timeoutMs } = options;
  const untilMs = world.now() + timeoutMs;
  const pace = createPace(context, everyMs, note);
  let failure: unknown;
  for (let leftMs = timeoutMs; ; ) {
    // A call must not repeat itself beyond the end.
    options.maxTimeMs = Math.min(maxTimeMs, Math.max(minLookMs, leftMs));
    try {
      const found = await look();
      if (found !== undefined) return found;
      failure = undefined;
      await pace.succeeded();
    } catch (thrown) {
      if (world.signal.aborted) throw thrown;
      if (world.now() < untilMs) await pace.failed(thrown);
      failure = thrown;
    }
    leftMs = untilMs - world.now();
    if (leftMs <= 0) break;
    await pace.pause(leftMs);
    if (world.signal.aborted) throw new SotraError('interrupted', `interrupted: ${otherwise} yet`);
    leftMs = untilMs - world.now();
  }
  const why = failure === undefined ? '' : `; last: ${readMessage(failure)}`;
  throw new SotraError('wait-timeout', `${otherwise} within ${timeoutMs / 1000} s${why}`, {
    hint: `Wait longer: --timeout ${Math.min(60, Math.ceil(timeoutMs / 6000))}m.`,
    cause: failure,
  });
}
