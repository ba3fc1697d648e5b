import { createHexSet } from '../../../model/hex-set.ts';

/** A set of normalized addresses in a fraction of the memory that strings take: 20 bytes an EVM address and its place. */
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
