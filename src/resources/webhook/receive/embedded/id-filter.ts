/**
 * An xor filter (Graf and Lemire, 2020, https://arxiv.org/abs/1912.08258): says of all ids but one in 4,096 that they are not among some, in
 * 15 bits for each of those. It has three parts of equally many fingerprints of 12 bits; those of an id, one in each part, give its own by
 * exclusive or. Without any: it says so of no id.
 */
export type IdFilter = Uint8Array;

/** Where the fingerprints of an id are in any filter, as fractions of the length of a part, and its own. */
export interface IdHash {
  places: readonly [number, number, number];
  own: number;
}

const sizes = [1.23, 1.26, 1.3, 1.4, 1.6];

/** An empty filter where ids cannot be told apart, which is not to be expected. */
export function filterOf(ids: Iterable<string>): IdFilter {
  const hashes = [...ids].map(hashOf);
  for (const size of sizes) {
    const part = 2 * Math.ceil((hashes.length * size) / 6) + 10;
    const slots = Uint32Array.from(hashes.flatMap((hash) => slotsOf(hash, part)));
    const order = peel(slots, 3 * part);
    if (order !== undefined) return fill(hashes, slots, order, part);
  }
  return new Uint8Array();
}

export function mayHold(filter: IdFilter, hash: IdHash): boolean {
  const part = (filter.length * 2) / 9;
  const [first, second, third] = hash.places;
  const found =
    fingerprintAt(filter, Math.floor(first * part)) ^
    fingerprintAt(filter, Math.floor(second * part) + part) ^
    fingerprintAt(filter, Math.floor(third * part) + 2 * part);
  return found === hash.own || part === 0;
}

export function hashOf(id: string): IdHash {
  let [one, other] = [0x811c9dc5, 0x9e3779b9];
  for (let index = 0; index < id.length; index += 1) {
    const code = id.charCodeAt(index);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x85ebca6b) ^ (other >>> 15);
  }
  return {
    places: [fraction(mixed(one)), fraction(mixed(other)), fraction(mixed(one ^ Math.imul(other, 0x9e3779b1)))],
    own: mixed(other ^ Math.imul(one, 0x9e3779b1)) & 0xfff,
  };
}

const fraction = (hash: number) => (hash >>> 0) / 2 ** 32;

/** The last step of MurmurHash3, which is in the public domain: each bit of the hash depends on all of them. */
function mixed(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const whole = Math.imul(half ^ (half >>> 13), 0xc2b2ae35);
  return whole ^ (whole >>> 16);
}

function slotsOf({ places }: IdHash, part: number): number[] {
  return places.map((place, index) => Math.floor(place * part) + index * part);
}

/** Takes away ids that have a slot for themselves until none is left; gives ids and slots in turn, `undefined` where some stay. */
function peel(slots: Uint32Array, count: number): Uint32Array | undefined {
  // Of each slot: how many ids use it, and the exclusive or of their numbers.
  const [users, mix] = [new Uint32Array(count), new Uint32Array(count)];
  const change = (id: number, by: 1 | -1) => {
    for (const slot of slots.subarray(3 * id, 3 * id + 3)) {
      users[slot] = (users[slot] ?? 0) + by;
      mix[slot] = (mix[slot] ?? 0) ^ id;
      if (by === -1 && users[slot] === 1) single.push(slot);
    }
  };
  const single: number[] = [];
  for (let id = 0; id < slots.length / 3; id += 1) change(id, 1);
  for (const [slot, used] of users.entries()) if (used === 1) single.push(slot);
  const order = new Uint32Array((slots.length / 3) * 2);
  let taken = 0;
  for (let slot = single.pop(); slot !== undefined; slot = single.pop()) {
    if (users[slot] !== 1) continue;
    const id = mix[slot] ?? 0;
    order.set([id, slot], taken);
    taken += 2;
    change(id, -1);
  }
  return taken === order.length ? order : undefined;
}

/** The last one that was taken comes first: then the slot of each is free for what it needs. */
function fill(hashes: readonly IdHash[], slots: Uint32Array, order: Uint32Array, part: number): IdFilter {
  const filter = new Uint8Array((part * 9) / 2);
  for (let at = order.length - 2; at >= 0; at -= 2) {
    const [id = 0, slot = 0] = order.subarray(at, at + 2);
    let value = hashes[id]?.own ?? 0;
    for (const each of slots.subarray(3 * id, 3 * id + 3)) value ^= fingerprintAt(filter, each);
    setFingerprint(filter, slot, value);
  }
  return filter;
}

/** Two lie in three bytes. */
function fingerprintAt(filter: IdFilter, slot: number): number {
  const byte = (3 * slot) >> 1;
  return (((filter[byte] ?? 0) | ((filter[byte + 1] ?? 0) << 8)) >> (4 * (slot & 1))) & 0xfff;
}

/** Where there is none yet. */
function setFingerprint(filter: IdFilter, slot: number, value: number): void {
  const [byte, bits] = [(3 * slot) >> 1, value << (4 * (slot & 1))];
  filter[byte] = (filter[byte] ?? 0) | (bits & 0xff);
  filter[byte + 1] = (filter[byte + 1] ?? 0) | (bits >> 8);
}
