import { windowMs } from '../trades/figures.ts';
import type { Db } from './store.ts';

const dayMs = 86_400_000;

/**
 * When an answer changes next by the passing of time alone, in Unix milliseconds: a trade or comment comes into one of the windows that
 * answers look at (now, 24 hours, 7 and 30 days) or leaves it, or a wallet's tracking has caught up. `Infinity` where nothing lies ahead.
 */
export function nextChangeMs(db: Db, nowMs: number): number {
  const after = (table: string, column: string, ms: number): number => {
    const next = db.get<{ ms: number | null }>(`SELECT min(${column}) AS ms FROM ${table} WHERE ${column} > ?`, [
      nowMs - ms,
    ])?.ms;
    return next === undefined || next === null ? Number.POSITIVE_INFINITY : next + ms;
  };
  return Math.min(
    ...[0, dayMs, windowMs['7d'], windowMs['30d']].map((ms) => after('trade', 'at_ms', ms)),
    ...[0, windowMs['30d']].map((ms) => after('comment', 'at_ms', ms)),
    after('wallet', 'ready_ms', 0),
  );
}
