import { setTimeout as delay } from 'node:timers/promises';
import { size } from './size.ts';

/** Longer than anything takes that works, on a machine that does much else. */
const limitMs = size(100_000, 900_000);

/** Looks again and again until something is there, and gives that; `what` says in an error what did not come. */
export async function until<T>(
  look: () => T | undefined | false,
  what: string | (() => string) = 'something',
): Promise<T> {
  for (const end = Date.now() + limitMs; ; await delay(5)) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end)
      throw new Error(`waited ${limitMs / 1000} s in vain: ${typeof what === 'string' ? what : what()}`);
  }
}
