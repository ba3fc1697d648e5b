import type { Endpoint, InputOf, Params } from '../api/endpoint.ts';
import type { CallAnswer, RequestChange } from '../client/client.ts';
import { computeBackoff, policies } from '../client/retry.ts';
import type { Context } from '../context.ts';
import { SotraError, writeMessage } from '../errors.ts';

interface RepeatOptions<T> {
  maxCalls?: number;
  /** Looks before each call, and after the last one if it may have arrived, whether its result is there already. */
  settle?: () => Promise<T | undefined>;
}

/**
 * The result of a call, which is made again while its failure may be temporary (no answer, a broken one, 5xx, 429): eight times, or as often as
 * `--retries` allows. `call` is told how often it may repeat a request by itself. Errors: the last one.
 */
export async function repeatCall<T>(
  { client, io, options: { retries } }: Context,
  call: (retries: number | undefined) => Promise<T>,
  {
    maxCalls = retries === undefined ? policies.upload.retries + 1 : Number.POSITIVE_INFINITY,
    settle,
  }: RepeatOptions<T>,
): Promise<T> {
  let sent = 0;
  for (let calls = 1; ; calls += 1) {
    const settled = await settle?.();
    if (settled !== undefined) return settled;
    try {
      return await call(retries === undefined ? undefined : retries - sent);
    } catch (thrown) {
      if (!(thrown instanceof SotraError) || thrown.outcome === undefined || thrown.code === 'interrupted')
        throw thrown;
      sent += thrown.attempts ?? 1;
      Object.assign(thrown, { attempts: sent });
      if (calls >= maxCalls || (retries !== undefined && sent > retries)) {
        const late = thrown.outcome === 'unknown' ? await settle?.() : undefined;
        if (late === undefined) throw thrown;
        return late;
      }
      const minMs = thrown.code === 'rate-limited' ? 1000 : 0;
      const ms = Math.max(minMs, computeBackoff(policies.upload, calls, io.random));
      client.onWait({ kind: 'wait', ms, why: writeMessage(thrown) });
      await io.sleep(ms, io.signal);
    }
  }
}

/** The answer of an idempotent endpoint, repeated in this way. */
export function callRepeatedly<P extends Params, Answer>(
  context: Context,
  endpoint: Endpoint<string, P, Answer>,
  input: InputOf<P>,
  change?: RequestChange,
): Promise<CallAnswer<Answer>> {
  return repeatCall(context, (retries) => context.client.call(endpoint, input, { ...change, retries }), {});
}
