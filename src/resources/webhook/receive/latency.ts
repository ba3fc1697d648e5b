export const hourMs = 3_600_000;

/** Each bucket reaches 5 % further than the one before it. */
const growth = Math.log(1.05);

/** The bucket of a time, from 0 on. */
export function latencyBucket(ms: number): number {
  return Math.round(Math.log(Math.max(0, ms) + 1) / growth);
}

/** A share of the times in buckets is not above this, in milliseconds, within 3 %; `null` without times. */
export function percentile(buckets: readonly { bucket: number; count: number }[], share: number): number | null {
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  let left = Math.ceil(total * share);
  for (const { bucket, count } of [...buckets].sort((a, b) => a.bucket - b.bucket)) {
    left -= count;
    if (left <= 0) return Math.round(Math.exp(bucket * growth) - 1);
  }
  return null;
}
