import { usageError } from '../../errors.ts';
import type { Db } from './store.ts';

/** The last moment that the sandbox's clock may show: the end of the year 9999. */
export const latestMs = Date.UTC(10_000, 0, 1) - 1;

export function getMeta(db: Db, key: string): string | undefined {
  return db.get<{ value: string }>('SELECT value FROM meta WHERE key = ?', [key])?.value;
}

/** The key of the chains that this world takes beside those of the document. */
export const moreChainsKey = 'chains';

export function moreChains(db: Db): readonly string[] {
  return getMeta(db, moreChainsKey)?.split(',') ?? [];
}

export function setMeta(db: Db, key: string, value: string): void {
  db.run('INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value', [
    key,
    value,
  ]);
}

/** The sandbox's time by the real one, both in Unix milliseconds, as the clock is set now. */
export function sandboxNow(db: Db, realNowMs: number): number {
  const frozen = getMeta(db, 'clock.frozenMs');
  return frozen === undefined ? realNowMs + Number(getMeta(db, 'clock.offsetMs') ?? 0) : Number(frozen);
}

export function freezeClock(db: Db, atMs: number): void {
  setMeta(db, 'clock.frozenMs', String(atMs));
}

/** Moves the clock forward, frozen or not. */
export function advanceClock(db: Db, byMs: number): void {
  db.transaction(() => {
    const frozen = getMeta(db, 'clock.frozenMs');
    if (frozen !== undefined) setMeta(db, 'clock.frozenMs', String(Number(frozen) + byMs));
    else setMeta(db, 'clock.offsetMs', String(Number(getMeta(db, 'clock.offsetMs') ?? 0) + byMs));
  });
}

/** The same for a user. Errors: `usage` for a time after the year 9999. */
export function advanceTime(db: Db, byMs: number, realNowMs: number): void {
  const now = sandboxNow(db, realNowMs);
  if (now + byMs > latestMs)
    throw usageError(
      `<duration>: ${byMs} ms after ${new Date(now).toISOString()} are after the year 9999`,
      'sotra sandbox reset sets the clock right again.',
    );
  advanceClock(db, byMs);
}
