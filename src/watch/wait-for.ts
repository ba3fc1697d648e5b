import type { Context } from '../context.ts';
import { messageOf, SotraError } from '../errors.ts';
import { createPace } from './pace.ts';

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
  const why = failure === undefined ? '' : `; last: ${messageOf(failure)}`;
  throw new SotraError('wait-timeout', `${otherwise} within ${timeoutMs / 1000} s${why}`, {
    hint: `Wait longer: --timeout ${Math.min(60, Math.ceil(timeoutMs / 6000))}m.`,
    cause: failure,
  });
}
