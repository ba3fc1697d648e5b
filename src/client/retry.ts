/** Of a request that never reached the service. */
const unsentKinds = ['refused', 'proxy', 'untrusted', 'plain'] as const;
type UnsentKind = (typeof unsentKinds)[number];

export function isUnsent(kind: string): kind is UnsentKind {
  return unsentKinds.some((each) => each === kind);
}

/** Why an attempt failed: the status of an answer, or what happened to the connection. */
export type Failure = { status: number; retryAfter?: string | undefined } | { network: UnsentKind | 'broken' };

export interface RetryPolicy {
  /** The wait after the first failure; it doubles with each further one. */
  firstMs: number;
  maxMs: number;
  /** The part of a wait that is random: 0 for none, 1 for all of it. */
  spread: number;
  /** Attempts after the first, unless `--retries` is given; absent: until it succeeds or is refused. */
  retries?: number;
}

/** Retries of a request to the service. */
export const callPolicy = { firstMs: 250, maxMs: 20_000, spread: 1, retries: 2 } as const satisfies RetryPolicy;

/** Retries of everything else. */
export const policies = {
  /** `feed --watch`, after a failed round; `firstMs` is the time between two rounds. */
  poll: { firstMs: 1000, maxMs: 60_000, spread: 0 },
  /** A posted comment whose answer was lost: looked for in the list. */
  findPosted: { firstMs: 700, maxMs: 1400, spread: 0, retries: 2 },
  /** A stored delivery, to a target of `webhook listen --forward-to`. */
  forward: { firstMs: 10, maxMs: 30_000, spread: 0 },
  /** A stored delivery, by `webhook replay`. */
  replay: { firstMs: 200, maxMs: 10_000, spread: 0, retries: 2 },
  /** A delivery of the sandbox to a webhook. */
  deliver: { firstMs: 1000, maxMs: 8000, spread: 0, retries: 4 },
} as const satisfies Readonly<Record<string, RetryPolicy>>;

/** Milliseconds to wait after the n-th failure, from 1. */
export function computeBackoff(
  { firstMs, maxMs, spread }: RetryPolicy,
  failures: number,
  random: () => number = () => 1,
): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** (failures - 1));
  return Math.round(fullMs * (1 - spread + spread * random()));
}

const temporaryStatuses = [429, 500, 502, 503, 504];

export interface RetryLimits {
  /** Attempts after the first. */
  retries: number;
  /** The longest `Retry-After` that is obeyed. */
  maxWaitMs: number;
  /** Time left for the whole call. */
  leftMs: number;
}

/**
 * Milliseconds to wait before the next attempt; `undefined`: do not repeat. GET, PUT and DELETE repeat after broken connections and 429,
 * 500, 502, 503, 504; POST and PATCH only if it was surely not processed (connection refused, 429). `Retry-After` is obeyed up to `maxWaitMs`; a
 * longer one ends the attempts. Without one `callPolicy` applies.
 */
export function computeRetryDelay(
  method: string,
  failure: Failure,
  attempt: number,
  { retries, maxWaitMs, leftMs }: RetryLimits,
  { random, nowMs }: { random: () => number; nowMs: number },
): number | undefined {
  if (attempt > retries || !mayRepeat(method, failure)) return undefined;
  const wished = 'status' in failure ? readRetryAfter(failure.retryAfter, nowMs) : undefined;
  const delay = wished ?? computeBackoff(callPolicy, attempt, random);
  return delay >= leftMs || (wished ?? 0) > maxWaitMs ? undefined : delay;
}

/** Whether a failed request is sent again at all. */
export function mayRepeat(method: string, failure: Failure): boolean {
  const repeatable = ['GET', 'PUT', 'DELETE'].includes(method);
  if ('network' in failure) {
    const { network } = failure;
    return network === 'refused' || network === 'proxy' || (repeatable && network === 'broken');
  }
  return failure.status === 429 || (repeatable && temporaryStatuses.includes(failure.status));
}

/** Milliseconds that a `Retry-After` header asks for; `undefined` when absent or unreadable. */
export function readRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // A date begins with its weekday; Date.parse would accept 1.5, too.
  const at = /^[A-Z][a-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
