/** A set of normalized addresses in a fraction of the memory of strings. */
export interface AddressSet {
  add: (address: string) => boolean;
  has: (address: string) => boolean;
  size: () => number;
}

export interface ByteAddressSet extends AddressSet {
  /** Adds the EVM address whose 40 lowercase hex digits start at `at`: true if it is new, `undefined` where other bytes stand there. */
  addHex: (bytes: DataView, at: number) => boolean | undefined;
}

/** An empty set, exact: every byte is compared. Takes ids of at most 60,000 bytes. */
export function createAddressSet(): ByteAddressSet {
  const evm = createHexSet(40);
  const others = byteSet();
  return {
    add: (address) => (isPlainEvm(address) ? evm.add(address, 2) : others.add(address)),
    has: (address) => (isPlainEvm(address) ? evm.has(address, 2) : others.has(address)),
    addHex: evm.addBytes,
    size: () => evm.size() + others.size(),
  };
}

function isPlainEvm(address: string): boolean {
  return address.length === 42 && address.charCodeAt(1) === 0x78 && address.charCodeAt(0) === 0x30;
}

const pageBytes = 1 << 20;
const lengthBytes = 2;

/** Any ids, as UTF-8 after their length. */
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

/** A set of keys of equally many lowercase hex digits: 20 bytes and a slot for an EVM address. */
export interface HexSet {
  add: (text: string, at: number) => boolean;
  has: (text: string, at: number) => boolean;
  /** The same from bytes; `undefined` where other bytes stand there. */
  addBytes: (bytes: DataView, at: number) => boolean | undefined;
  size: () => number;
}

const pageEntries = 1 << 15;

/** An empty set of keys of so many digits, a multiple of eight; exact: all of a key is compared. */
export function createHexSet(digits: number): HexSet {
  const wordsEach = digits / 8;
  const pages: Uint32Array[] = [];
  const key = new Uint32Array(wordsEach);
  let count = 0;
  /** The number of an entry from 1 (0: free) in the low bits that a slot index has, and its hash in the others. */
  let slots = new Int32Array(1 << 13);

  const load = (text: string, from: number): void => {
    for (let word = 0; word < wordsEach; word += 1) {
      let bits = 0;
      for (let at = from + word * 8; at < from + word * 8 + 8; at += 1) {
        const code = text.charCodeAt(at);
        bits = (bits << 4) | (code < 0x3a ? code - 0x30 : code - 0x57);
      }
      key[word] = bits;
    }
  };
  const loadBytes = (bytes: DataView, from: number): boolean => {
    let wrong = 0;
    for (let word = 0; word < wordsEach; word += 1) {
      // Signed, or V8 keeps numbers from 2^31 up on the heap: two hundred bytes of garbage a key.
      const high = bytes.getInt32(from + word * 8);
      const low = bytes.getInt32(from + word * 8 + 4);
      const highDigits = digitsOf(high);
      const lowDigits = digitsOf(low);
      wrong |= (highDigits & 0xf0f0f0f0) | (lowDigits & 0xf0f0f0f0);
      wrong |= (high ^ textOf(highDigits)) | (low ^ textOf(lowDigits));
      key[word] = (packDigits(highDigits) << 16) | packDigits(lowDigits);
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
  // Mostly the hash is enough to see that a key is another one.
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
    has: (text, at) => {
      load(text, at);
      return slots[find(hashOf(key, 0))] !== 0;
    },
    size: () => count,
    add: (text, at) => {
      load(text, at);
      return addKey();
    },
    addBytes: (bytes, at) => (loadBytes(bytes, at) ? addKey() : undefined),
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

/** The values of four hex digits, a byte each; for other bytes a value over 15 or one that `textOf` does not turn back. */
function digitsOf(text: number): number {
  return (text & 0x0f0f0f0f) + ((text >>> 6) & 0x01010101) * 9;
}

/** The lowercase hex digits of four values, each a byte. */
function textOf(digits: number): number {
  const isLetter = ((digits + 0x06060606) >>> 4) & 0x01010101;
  return digits + 0x30303030 + isLetter * 0x27;
}

/** Four values of four bits each, a byte each, in 16 bits. */
function packDigits(digits: number): number {
  const pairs = digits | (digits >>> 4);
  return ((pairs >>> 8) & 0xff00) | (pairs & 0xff);
}
