import { isAscii } from 'node:buffer';

/** Distinct addresses in order, one a line, as bytes: a million strings would take longer than the requests. */
export interface AddressLines {
  pieces: readonly Buffer[];
  count: number;
}

/** The bytes of some addresses. */
export function packLines(addresses: readonly string[]): Buffer {
  return Buffer.from(addresses.length === 0 ? '' : `${addresses.join('\n')}\n`);
}

/** The addresses of a piece. */
export function unpackLines(piece: Buffer): string[] {
  // ASCII is the same text in Latin-1, which is decoded twice as fast.
  const lines = piece.toString(isAscii(piece) ? 'latin1' : 'utf8').split('\n');
  lines.pop();
  return lines;
}

/** Addresses in batches of a size; the last one is smaller. */
export function* batchesOf({ pieces }: AddressLines, size: number): Generator<string[], undefined> {
  let waiting: string[] = [];
  for (const piece of pieces) {
    waiting = waiting.concat(unpackLines(piece));
    let from = 0;
    for (; waiting.length - from >= size; from += size) yield waiting.slice(from, from + size);
    waiting = waiting.slice(from);
  }
  if (waiting.length > 0) yield waiting;
  return undefined;
}

const [lineFeed, lowerX, zero] = [0x0a, 0x78, 0x30];
const evmLine = '0x\n'.length + 40;
const isDigit = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9a-f]/.test(String.fromCharCode(byte)) ? 1 : 0));

/** How many lines there are, if each is an EVM address in lowercase, as in most lists. A pattern for each line takes six times as long. */
export function countEvmLines(bytes: Buffer): number | undefined {
  for (let at = 0; at < bytes.length; at += evmLine) {
    const end = at + evmLine - 1;
    if (bytes[at] !== zero || bytes[at + 1] !== lowerX || bytes[end] !== lineFeed) return undefined;
    for (let digit = at + 2; digit < end; digit += 1) if (isDigit[bytes[digit] ?? 0] === 0) return undefined;
  }
  return bytes.length / evmLine;
}

/** Drops all but the first of equal addresses. */
export function dropRepeats({ pieces, count }: AddressLines): AddressLines {
  const sorted = hashLines(pieces, count).sort();
  const repeated = new Set(sorted.filter((hash, index) => hash === sorted[index - 1]));
  if (repeated.size === 0) return { pieces, count };
  const hashes = hashLines(pieces, count);
  const seen = new Set<string>();
  let [index, kept] = [0, 0];
  const isFirst = (address: string) => !repeated.has(hashes[index++] ?? 0) || seen.size < seen.add(address).size;
  const firsts = pieces.map((piece) => {
    const addresses = unpackLines(piece).filter(isFirst);
    kept += addresses.length;
    return packLines(addresses);
  });
  return { pieces: firsts, count: kept };
}

/** A hash of 53 bits of each line. Lines of one hash are compared as text. */
function hashLines(pieces: readonly Buffer[], count: number): Float64Array {
  const hashes = new Float64Array(count);
  let index = 0;
  for (const piece of pieces) {
    const words = new DataView(piece.buffer, piece.byteOffset, piece.length);
    for (let [start, end] = [0, 0]; start < piece.length; start = end + 1) {
      end = piece.indexOf(lineFeed, start);
      hashes[index++] = hashBytes(words, start, end);
    }
  }
  return hashes;
}

/** The loop of cyrb53, with four bytes at a time. */
function hashBytes(bytes: DataView, start: number, end: number): number {
  let [high, low, at] = [0xdeadbeef, 0x41c6ce57, start];
  for (; at + 4 <= end; at += 4) {
    const word = bytes.getInt32(at);
    high = Math.imul(high ^ word, 2_654_435_761);
    low = Math.imul(low ^ word, 1_597_334_677);
    high ^= low >>> 15;
  }
  for (; at < end; at += 1) {
    high = Math.imul(high ^ bytes.getUint8(at), 2_654_435_761);
    low = Math.imul(low ^ bytes.getUint8(at), 1_597_334_677);
  }
  return 2 ** 32 * (high & 0x1f_ffff) + (low >>> 0);
}

/**
 * The addresses that are only in the list, and those that are only in `others`, each in order. Both are read in parallel: only addresses at
 * different places are kept as text meanwhile.
 */
export async function compareLines(
  list: AddressLines,
  others: AsyncIterable<readonly string[]>,
): Promise<{ missing: AddressLines; surplus: string[] }> {
  const [onlyListed, onlyOther] = [new Set<string>(), new Set<string>()];
  const batches = batchesOf(list, 1000);
  let [batch, at]: [readonly string[], number] = [batches.next().value ?? [], 0];
  const next = (): string | undefined => {
    if (at === batch.length) [batch, at] = [batches.next().value ?? [], 0];
    return batch[at++];
  };
  for await (const addresses of others)
    for (const other of addresses) {
      const address = next();
      if (address === other) continue;
      if (!onlyListed.delete(other)) onlyOther.add(other);
      if (address !== undefined && !onlyOther.delete(address)) onlyListed.add(address);
    }
  const pieces = [packLines([...onlyListed])];
  let count = onlyListed.size;
  const readRest = function* () {
    yield batch.slice(at);
    yield* batches;
  };
  for (const rest of readRest()) {
    const missing = rest.filter((address) => !onlyOther.delete(address));
    pieces.push(packLines(missing));
    count += missing.length;
  }
  // A repeat in `others` was matched the first time.
  if (onlyOther.size > 0)
    for (const addresses of batchesOf(list, 1000)) for (const each of addresses) onlyOther.delete(each);
  return { missing: { pieces, count }, surplus: [...onlyOther] };
}
