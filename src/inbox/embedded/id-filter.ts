/**
 * An xor filter (Graf and Lemire, 2020, https://arxiv.org/abs/1912.08258): says of all ids but one in 1,024 that they are not among some, in
 * 12.3 bits for each of those: 15 MB for 10 million. It has three parts of equally many fingerprints of 10 bits; those of an id, one in each
 * part, give its own by exclusive or. Without any: it says so of no id.
 */
export type IdFilter = Uint8Array;

/** What an id comes to, in 32 bits each: its place in each part, as a fraction of the length of the part, and its own fingerprint. */
export type IdHash = readonly [number, number, number, number];

const words = 4;
const fingerprintBits = 10;
const mask = 2 ** fingerprintBits - 1;
const sizes = [1.23, 1.26, 1.3, 1.4, 1.6];

/** An empty filter where ids cannot be told apart, which is not to be expected. */
export function filterOf(ids: Iterable<string>): IdFilter {
  const hashes = hashesOf(ids);
  const count = hashes.length / words;
  for (const size of sizes) {
    // Whole bytes.
    const part = 4 * Math.ceil((count * size) / 12) + 12;
    const slots = new Uint32Array(3 * count);
    for (let id = 0; id < count; id += 1)
      for (let index = 0; index < 3; index += 1)
        slots[3 * id + index] = slotOf(hashes[words * id + index] ?? 0, index, part);
    const order = peel(slots, 3 * part);
    if (order !== undefined) return fill(hashes, slots, order, part);
  }
  return new Uint8Array();
}

/** One behind the other: of half a million ids, objects would take 80 MB. */
function hashesOf(ids: Iterable<string>): Uint32Array {
  let hashes = new Uint32Array(words * 1024);
  let used = 0;
  for (const id of ids) {
    if (used === hashes.length) {
      const larger = new Uint32Array(2 * used);
      larger.set(hashes);
      hashes = larger;
    }
    hashes.set(hashOf(id), used);
    used += words;
  }
  return hashes.subarray(0, used);
}

export function mayHold(filter: IdFilter, [first, second, third, own]: IdHash): boolean {
  const part = (filter.length * 8) / (3 * fingerprintBits);
  const found =
    fingerprintAt(filter, slotOf(first, 0, part)) ^
    fingerprintAt(filter, slotOf(second, 1, part)) ^
    fingerprintAt(filter, slotOf(third, 2, part));
  return found === (own & mask) || part === 0;
}

export function hashOf(id: string): IdHash {
  let [one, other] = [0x811c9dc5, 0x9e3779b9];
  for (let index = 0; index < id.length; index += 1) {
    const code = id.charCodeAt(index);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x85ebca6b) ^ (other >>> 15);
  }
  return [
    mixHash(one) >>> 0,
    mixHash(other) >>> 0,
    mixHash(one ^ Math.imul(other, 0x9e3779b1)) >>> 0,
    mixHash(other ^ Math.imul(one, 0x9e3779b1)) >>> 0,
  ];
}

function slotOf(word: number, index: number, part: number): number {
  return Math.floor((word / 2 ** 32) * part) + index * part;
}

/** The last step of MurmurHash3, which is in the public domain: each bit of the hash depends on all of them. */
function mixHash(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const whole = Math.imul(half ^ (half >>> 13), 0xc2b2ae35);
  return whole ^ (whole >>> 16);
}

/** Takes away ids that have a slot for themselves until none is left; gives ids and slots in turn, `undefined` where some stay. */
function peel(slots: Uint32Array, count: number): Uint32Array | undefined {
  // Of each slot: how many ids use it, and the exclusive or of their numbers.
  const [users, mix] = [new Uint32Array(count), new Uint32Array(count)];
  for (let index = 0; index < slots.length; index += 1) {
    const slot = slots[index] ?? 0;
    users[slot] = (users[slot] ?? 0) + 1;
    mix[slot] = (mix[slot] ?? 0) ^ Math.floor(index / 3);
  }
  const single: number[] = [];
  for (let slot = 0; slot < count; slot += 1) if (users[slot] === 1) single.push(slot);
  const order = new Uint32Array((slots.length / 3) * 2);
  let taken = 0;
  for (let slot = single.pop(); slot !== undefined; slot = single.pop()) {
    if (users[slot] !== 1) continue;
    const id = mix[slot] ?? 0;
    order[taken] = id;
    order[taken + 1] = slot;
    taken += 2;
    for (let index = 3 * id; index < 3 * id + 3; index += 1) {
      const used = slots[index] ?? 0;
      const left = (users[used] ?? 0) - 1;
      users[used] = left;
      mix[used] = (mix[used] ?? 0) ^ id;
      if (left === 1) single.push(used);
    }
  }
  return taken === order.length ? order : undefined;
}

/** The last one that was taken comes first: then the slot of each is free for what it needs. */
function fill(hashes: Uint32Array, slots: Uint32Array, order: Uint32Array, part: number): IdFilter {
  const filter = new Uint8Array((3 * part * fingerprintBits) / 8);
  for (let at = order.length - 2; at >= 0; at -= 2) {
    const [id, slot] = [order[at] ?? 0, order[at + 1] ?? 0];
    let value = (hashes[words * id + 3] ?? 0) & mask;
    for (let index = 3 * id; index < 3 * id + 3; index += 1) value ^= fingerprintAt(filter, slots[index] ?? 0);
    setFingerprint(filter, slot, value);
  }
  return filter;
}

/** Four lie in five bytes, each in two of them. */
function fingerprintAt(filter: IdFilter, slot: number): number {
  const [byte, shift] = placeOf(slot);
  return (((filter[byte] ?? 0) | ((filter[byte + 1] ?? 0) << 8)) >> shift) & mask;
}

/** Where there is none yet. */
function setFingerprint(filter: IdFilter, slot: number, value: number): void {
  const [byte, shift] = placeOf(slot);
  filter[byte] = (filter[byte] ?? 0) | ((value << shift) & 0xff);
  filter[byte + 1] = (filter[byte + 1] ?? 0) | ((value << shift) >> 8);
}

function placeOf(slot: number): readonly [number, number] {
  const bit = slot * fingerprintBits;
  return [bit >> 3, bit & 7];
}
