import { hash } from 'node:crypto';

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

/** A UUID that is always the same for the same text, so that a world made twice has the same identifiers. */
export function makeUuid(text: string): string {
  const hex = hash('sha1', text);
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`;
}

const sharedDigits = 8;

/**
 * The profile id of a wallet that is a profile of its own. Ids of one request share the prefix of its `first`: they are neighbors in every
 * index, so that a bulk request changes a few pages of each and not one for every wallet.
 */
export function makeProfileId(address: string, first: string = address): string {
  const id = makeUuid(`profile:${address}`);
  return first === address ? id : makeUuid(`profile:${first}`).slice(0, sharedDigits) + id.slice(sharedDigits);
}
