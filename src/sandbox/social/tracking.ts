import type { Db } from '../db/store.ts';

/** How long the swaps indexer takes to catch up with a wallet that is new to it, by the sandbox's clock; assumed. */
const backfillMs = 10 * 60_000;

/**
 * Starts tracking the wallets of profiles that are not tracked yet: their status goes from `unnamed` to `backfilling`, and to
 * `active` once the backfill is over. Wallets that are tracked stay as they are. Source: section "Profile", status.
 */
export function startTracking(db: Db, profileIds: readonly string[], nowMs: number): void {
  db.run('UPDATE wallet SET ready_ms = ? WHERE +ready_ms IS NULL AND profile_id IN (SELECT value FROM json_each(?))', [
    nowMs + backfillMs,
    JSON.stringify(profileIds),
  ]);
}
