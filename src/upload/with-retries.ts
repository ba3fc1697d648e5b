import type { Context } from '../context.ts';
import { SotraError } from '../errors.ts';
import { computeBackoff, policies } from '../http/retry.ts';

/** Repeats an idempotent act while its failure may be temporary (no answer, a broken one, 5xx, 429). Errors: the last one. */
export async function withRetries<T>(
  context: Context,
  act: (retries: number | undefined) => Promise<T>,
  onFailure: (error: SotraError, delayMs: number) => void | Promise<void> = () => undefined,
): Promise<T> {
  let sent = 0;
  for (let failures = 1; ; failures += 1) {
    try {
      return await act(retriesLeft(sent, context));
    } catch (thrown) {
      if (!(thrown instanceof SotraError) || thrown.outcome === undefined || thrown.code === 'interrupted')
        throw thrown;
      sent += thrown.attempts ?? 1;
      if (!mayRepeat(failures, sent, context)) throw thrown;
      const delayMs = computeDelay(failures, thrown, context);
      await onFailure(thrown, delayMs);
      await pauseUpload(delayMs, context);
    }
  }
}

/** How often the next call may repeat by itself; `undefined`: as often as any. */
export function retriesLeft(sent: number, { options: { retries } }: Context): number | undefined {
  return retries === undefined ? undefined : retries - sent;
}

/** Eight tries, or as many requests as `--retries` allows. */
export function mayRepeat(failures: number, sent: number, { options: { retries } }: Context): boolean {
  return retries === undefined ? failures <= policies.upload.retries : sent <= retries;
}

export function computeDelay(failures: number, { code }: SotraError, { world }: Context): number {
  const delayMs = computeBackoff(policies.upload, failures, world.random);
  return code === 'rate-limited' ? Math.max(1000, delayMs) : delayMs;
}

/** Errors: `interrupted`. */
export async function pauseUpload(ms: number, { world }: Context): Promise<void> {
  try {
    await world.sleep(ms, world.signal);
  } catch (cause) {
    throw new SotraError('interrupted', 'interrupted', { cause });
  }
}
