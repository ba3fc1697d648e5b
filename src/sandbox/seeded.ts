/** Numbers that look random, the same for the same seed text on every machine: mulberry32, seeded with the FNV-1a hash of the text. */
export function randomFrom(seedText: string) {
  let state = hashText(seedText);
  /** A number in [0, 1). */
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** A whole number from low to high, both included. */
  const whole = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
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

function hashText(text: string): number {
  let hashed = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hashed = Math.imul(hashed ^ text.charCodeAt(index), 0x01000193);
  }
  return hashed;
}
