/** A set of normalised addresses in a fraction of the memory that strings take: 20 bytes an EVM address and its place. */
export interface AddressSet {
  /** True where the address was not in it yet. */
  add: (address: string) => boolean;
  has: (address: string) => boolean;
  size: () => number;
}

/** An address set that reads EVM addresses straight from bytes as well. */
export interface ByteAddressSet extends AddressSet {
  /**
   * Adds the EVM address whose 40 lowercase hex digits stand at a place: true where it was not in it yet, `undefined` where other bytes
   * stand there.
   */
  addHex: (bytes: DataView, at: number) => boolean | undefined;
}

/** An empty set. Exact: every byte is compared, no address is ever taken for another. Takes ids of at most 60,000 bytes. */
export function createAddressSet(): ByteAddressSet {
  const evm = wordSet();
  const others = byteSet();
  const setOf = (address: string) => (isPlainEvm(address) ? evm : others);
  return {
    add: (address) => setOf(address).add(address),
    has: (address) => setOf(address).has(address),
    addHex: evm.addHex,
    size: () => evm.size() + others.size(),
  };
}

function isPlainEvm(address: string): boolean {
  return address.length === 42 && address.charCodeAt(1) === 0x78 && address.charCodeAt(0) === 0x30;
}

const wordsEach = 5;
const pageEntries = 1 << 15;

/** EVM addresses in lowercase, five words each. */
function wordSet(): ByteAddressSet {
  const pages: Uint32Array[] = [];
  const key = new Uint32Array(wordsEach);
  let count = 0;
  /** An entry's number (from 1; 0: free) in as many low bits as number the slots, above them those bits of its hash. */
  let slots = new Int32Array(1 << 13);

  const load = (address: string): void => {
    for (let word = 0; word < wordsEach; word += 1) {
      let bits = 0;
      for (let at = 2 + word * 8; at < 10 + word * 8; at += 1) {
        const code = address.charCodeAt(at);
        bits = (bits << 4) | (code < 0x3a ? code - 0x30 : code - 0x57);
      }
      key[word] = bits;
    }
  };
  const loadHex = (bytes: DataView, from: number): boolean => {
    let wrong = 0;
    for (let word = 0; word < wordsEach; word += 1) {
      // Signed: V8 would keep numbers from 2^31 up on the heap, two hundred bytes of garbage an address.
      const high = bytes.getInt32(from + word * 8);
      const low = bytes.getInt32(from + word * 8 + 4);
      const highDigits = digitsOf(high);
      const lowDigits = digitsOf(low);
      wrong |= (highDigits & 0xf0f0f0f0) | (lowDigits & 0xf0f0f0f0);
      wrong |= (high ^ textOf(highDigits)) | (low ^ textOf(lowDigits));
      key[word] = (packed(highDigits) << 16) | packed(lowDigits);
    }
    return wrong === 0;
  };
  const hashOf = (words: Uint32Array, from: number): number => {
    let hash = (words[from] as number) | 0;
    for (let at = from + 1; at < from + wordsEach; at += 1) {
      hash = Math.imul(hash ^ (words[at] as number), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    return hash;
  };
  // Most strangers are told apart by their hash, without a look into the pages.
  const find = (hash: number): number => {
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (let held = slots[slot] as number; held !== 0; held = slots[slot] as number) {
      if (((held ^ hash) & ~mask) === 0 && isKey((held & mask) - 1)) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  };
  const isKey = (entry: number): boolean => {
    const page = pages[Math.floor(entry / pageEntries)] as Uint32Array;
    const at = (entry % pageEntries) * wordsEach;
    for (let word = 0; word < wordsEach; word += 1) if (page[at + word] !== key[word]) return false;
    return true;
  };
  const grow = (): void => {
    slots = new Int32Array(slots.length * 4);
    const mask = slots.length - 1;
    for (let entry = 0; entry < count; entry += 1) {
      const hash = hashOf(pages[Math.floor(entry / pageEntries)] as Uint32Array, (entry % pageEntries) * wordsEach);
      let slot = hash & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = (hash & ~mask) | (entry + 1);
    }
  };
  return {
    has: (address) => {
      load(address);
      return slots[find(hashOf(key, 0))] !== 0;
    },
    size: () => count,
    add: (address) => {
      load(address);
      return addKey();
    },
    addHex: (bytes, at) => (loadHex(bytes, at) ? addKey() : undefined),
  };

  function addKey(): boolean {
    const hash = hashOf(key, 0);
    const slot = find(hash);
    if (slots[slot] !== 0) return false;
    if (count % pageEntries === 0) pages.push(new Uint32Array(pageEntries * wordsEach));
    const page = pages[pages.length - 1] as Uint32Array;
    const at = (count % pageEntries) * wordsEach;
    for (let word = 0; word < wordsEach; word += 1) page[at + word] = key[word] as number;
    count += 1;
    slots[slot] = (hash & (0 - slots.length)) | count;
    if (count * 3 > slots.length * 2) grow();
    return true;
  }
}

/** The values of four hex digits at once, a byte each; of bytes that are none, something that `textOf` does not turn back, or over 15. */
function digitsOf(text: number): number {
  return (text & 0x0f0f0f0f) + ((text >>> 6) & 0x01010101) * 9;
}

/** The lowercase hex digits of four values, each a byte. */
function textOf(digits: number): number {
  const isLetter = ((digits + 0x06060606) >>> 4) & 0x01010101;
  return digits + 0x30303030 + isLetter * 0x27;
}

/** Four values of four bits each, a byte each, in 16 bits. */
function packed(digits: number): number {
  const pairs = digits | (digits >>> 4);
  return ((pairs >>> 8) & 0xff00) | (pairs & 0xff);
}

const pageBytes = 1 << 20;
const lengthBytes = 2;

/** Any other ids, as UTF-8 behind their length. */
function byteSet(): AddressSet {
  const pages: Uint8Array[] = [];
  const key = new Uint8Array(65_536);
  const encoder = new TextEncoder();
  let used = pageBytes;
  let count = 0;
  let slots = new Uint32Array(1 << 8);
  const pageOf = (offset: number) => pages[Math.floor(offset / pageBytes)] as Uint8Array;

  const load = (id: string): number => {
    const { written } = encoder.encodeInto(id, key.subarray(lengthBytes));
    key[0] = written & 0xff;
    key[1] = written >> 8;
    return written + lengthBytes;
  };
  const hashOf = (bytes: Uint8Array, from: number, length: number): number => {
    let hash = 0x811c9dc5;
    for (let at = from; at < from + length; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
    return (hash ^ (hash >>> 15)) >>> 0;
  };
  const isKey = (entry: number, length: number): boolean => {
    const [page, at] = [pageOf(entry - 1), (entry - 1) % pageBytes];
    for (let index = 0; index < length; index += 1) if (page[at + index] !== key[index]) return false;
    return true;
  };
  const find = (length: number): number => {
    let slot = hashOf(key, 0, length) & (slots.length - 1);
    while (slots[slot] !== 0 && !isKey(slots[slot] as number, length)) slot = (slot + 1) & (slots.length - 1);
    return slot;
  };
  const grow = (): void => {
    const old = slots;
    slots = new Uint32Array(old.length * 2);
    for (const entry of old) {
      if (entry === 0) continue;
      const [page, at] = [pageOf(entry - 1), (entry - 1) % pageBytes];
      const length = (page[at] as number) + ((page[at + 1] as number) << 8) + lengthBytes;
      let slot = hashOf(page, at, length) & (slots.length - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
      slots[slot] = entry;
    }
  };
  return {
    has: (id) => slots[find(load(id))] !== 0,
    size: () => count,
    add: (id) => {
      const length = load(id);
      const slot = find(length);
      if (slots[slot] !== 0) return false;
      if (used + length > pageBytes) {
        pages.push(new Uint8Array(pageBytes));
        used = 0;
      }
      pages.at(-1)?.set(key.subarray(0, length), used);
      slots[slot] = (pages.length - 1) * pageBytes + used + 1;
      used += length;
      count += 1;
      if (count * 2 > slots.length) grow();
      return true;
    },
  };
}
