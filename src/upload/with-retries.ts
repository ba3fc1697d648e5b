import type { Endpoint, InputOf, Params } from '../api/endpoint.ts';
import { computeBackoff, policies } from '../client/retry.ts';
import type { Context } from '../context.ts';
import { SotraError } from '../errors.ts';

/** The answer of an idempotent call, repeated while its failure may be temporary (no answer, a broken one, 5xx, 429). Errors: the last one. */
export async function callWithRetries<P extends Params, Answer>(
  context: Context,
  endpoint: Endpoint<string, P, Answer>,
  input: InputOf<P>,
  onFailure: (error: SotraError, delayMs: number) => void | Promise<void> = () => undefined,
) {
  let sent = 0;
  for (let failures = 1; ; failures += 1) {
    try {
      return await context.client.call(endpoint, input, undefined, retriesLeft(sent, context));
    } catch (thrown) {
      if (!(thrown instanceof SotraError) || thrown.outcome === undefined || thrown.code === 'interrupted')
        throw thrown;
      sent += thrown.attempts ?? 1;
      Object.assign(thrown, { attempts: sent });
      if (!hasTriesLeft(failures, sent, context)) throw thrown;
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
export function hasTriesLeft(failures: number, sent: number, { options: { retries } }: Context): boolean {
  return retries === undefined ? failures <= policies.upload.retries : sent <= retries;
}

export function computeDelay(failures: number, { code }: SotraError, { io }: Context): number {
  const delayMs = computeBackoff(policies.upload, failures, io.random);
  return code === 'rate-limited' ? Math.max(1000, delayMs) : delayMs;
}

/** Errors: `interrupted`. */
export async function pauseUpload(ms: number, { io }: Context): Promise<void> {
  try {
    await io.sleep(ms, io.signal);
  } catch (cause) {
    throw new SotraError('interrupted', 'interrupted', { cause });
  }
}
