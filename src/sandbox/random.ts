import { createHash } from 'node:crypto';

/** Numbers that look random, the same for the same seed on every machine. */
export function randomFrom(seed: string) {
  let count = 0;
  /** A number in [0, 1). */
  const next = (): number => {
    count += 1;
    return createHash('sha256').update(`${seed} ${count}`).digest().readUInt32BE() / 2 ** 32;
  };
  /** A whole number from low to high, both included. */
  const whole = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    whole,
    /** A number in [low, high). */
    between: (low: number, high: number): number => low + next() * (high - low),
    /** True with the given chance (0..1). */
    chance: (share: number): boolean => next() < share,
    /** One item of a list that has at least one. */
    pick: <T>(list: readonly T[]): T => list[whole(0, list.length - 1)] as T,
  };
}

export type Random = ReturnType<typeof randomFrom>;
