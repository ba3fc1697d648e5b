/** A set of keys of lowercase hex digits, all equally long, in a fraction of the memory that strings take. */
export interface HexSet {
  /** Adds the key that stands at a place of a text: true where it was not in the set yet. */
  add: (text: string, at: number) => boolean;
  has: (text: string, at: number) => boolean;
  /** Adds the key whose digits stand at a place as bytes; `undefined` where other bytes stand there. */
  addBytes: (bytes: DataView, at: number) => boolean | undefined;
  size: () => number;
}

const pageEntries = 1 << 15;

/** An empty set of keys of so many digits, a multiple of eight. Exact: all of a key is compared, none is ever taken for another. */
export function createHexSet(digits: number): HexSet {
  const wordsEach = digits / 8;
  const pages: Uint32Array[] = [];
  const key = new Uint32Array(wordsEach);
  let count = 0;
  /** An entry's number (from 1; 0: free) in as many low bits as number the slots, above them those bits of its hash. */
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
      // Signed: V8 would keep numbers from 2^31 up on the heap, two hundred bytes of garbage a key.
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
