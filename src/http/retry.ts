/**
 * Why an attempt failed: an answer's status, a connection that was never made, one that broke on the way, or a certificate that is not
 * trusted.
 */
export type Failure =
  | { status: number; retryAfter?: string | undefined }
  | { network: 'refused' | 'broken' | 'untrusted' | 'plain' };

const firstDelayMs = 250;
const longestDelayMs = 20_000;
const passing = [429, 502, 503, 504];

/** How far repeating may go. */
export interface RetryLimits {
  /** Attempts after the first. */
  retries: number;
  /** The longest wait that a service's `Retry-After` is given. */
  maxWaitMs: number;
  /** What is left of the time for the whole call. */
  leftMs: number;
}

/**
 * Milliseconds to wait before the next attempt, or `undefined` where there must be none. GET, PUT and DELETE repeat on
 * broken connections and passing statuses; POST only where it surely was not processed (connection refused, 429).
 * `Retry-After` (seconds or a date) is obeyed up to `maxWaitMs`; a longer wish ends the attempts. Otherwise full jitter, doubling
 * from 250 ms to 20 s. No wait goes beyond what is left of the call's time.
 */
export function retryDelay(
  method: string,
  failure: Failure,
  attempt: number,
  { retries, maxWaitMs, leftMs }: RetryLimits,
  { random, nowMs }: { random: () => number; nowMs: number },
): number | undefined {
  if (attempt > retries || !mayRepeat(method, failure)) return undefined;
  const wished = 'status' in failure ? readRetryAfter(failure.retryAfter, nowMs) : undefined;
  const delay = wished ?? Math.round(random() * Math.min(longestDelayMs, firstDelayMs * 2 ** (attempt - 1)));
  return delay >= leftMs || (wished !== undefined && wished > maxWaitMs) ? undefined : delay;
}

function mayRepeat(method: string, failure: Failure): boolean {
  const repeatable = method !== 'POST';
  if ('network' in failure) return failure.network === 'refused' || (repeatable && failure.network === 'broken');
  return failure.status === 429 || (repeatable && passing.includes(failure.status));
}

/** Milliseconds that a `Retry-After` header asks for; `undefined` where it is absent or unreadable. */
export function readRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header.trim()) * 1000;
  // A date begins with its weekday; Date.parse would take 1.5 for one, too.
  const at = /^[A-Z][a-z]/.test(header.trim()) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
