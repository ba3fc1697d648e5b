/** Why an attempt failed: an answer's status, a connection that was never made, or one that broke on the way. */
export type Failure = { status: number; retryAfter?: string | undefined } | { network: 'refused' | 'broken' };

const firstDelayMs = 250;
const longestDelayMs = 20_000;
const longestWaitMs = 60_000;
const passing = [429, 502, 503, 504];

/**
 * Milliseconds to wait before the next attempt, or `undefined` where there must be none. GET, PUT and DELETE repeat on
 * broken connections and passing statuses; POST only where it surely was not processed (connection refused, 429).
 * `Retry-After` (seconds or a date) is obeyed up to a minute; a longer wish ends the attempts. Otherwise full jitter, doubling
 * from 250 ms to 20 s. Never throws.
 */
export function retryDelay(
  method: string,
  failure: Failure,
  attempt: number,
  retries: number,
  { random, nowMs }: { random: () => number; nowMs: number },
): number | undefined {
  if (attempt > retries || !mayRepeat(method, failure)) return undefined;
  const wished = 'status' in failure ? readRetryAfter(failure.retryAfter, nowMs) : undefined;
  if (wished !== undefined) return wished <= longestWaitMs ? wished : undefined;
  return Math.round(random() * Math.min(longestDelayMs, firstDelayMs * 2 ** (attempt - 1)));
}

function mayRepeat(method: string, failure: Failure): boolean {
  const repeatable = method !== 'POST';
  if ('network' in failure) return repeatable || failure.network === 'refused';
  return failure.status === 429 || (repeatable && passing.includes(failure.status));
}

/** Milliseconds that a `Retry-After` header asks for; `undefined` where it is absent or unreadable. Never throws. */
function readRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header.trim()) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
