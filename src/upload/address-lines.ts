import { isAscii } from 'node:buffer';

/** Distinct addresses in order, one a line, as bytes: a million strings would take longer than the requests. */
export interface AddressLines {
  pieces: readonly Buffer[];
  count: number;
}

/** The bytes of some addresses. */
function packLines(addresses: readonly string[]): Buffer {
  return Buffer.from(addresses.length === 0 ? '' : `${addresses.join('\n')}\n`);
}

/** The addresses of a piece. */
export function unpackLines(piece: Buffer): string[] {
  const lines = decode(piece).split('\n');
  lines.pop();
  return lines;
}

/** ASCII is the same text in Latin-1, which is decoded twice as fast. */
function decode(piece: Buffer): string {
  return piece.toString(isAscii(piece) ? 'latin1' : 'utf8');
}

/** The addresses as a JSON array, without a string for each. */
export function toJson({ pieces }: AddressLines): string {
  const text = pieces.map(decode).join('').slice(0, -1);
  // No address holds a control character.
  const items = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '","');
  return `["${items}"]`;
}

/** The addresses in chunks of a size; the last one is smaller. */
export function* chunksOf({ pieces }: AddressLines, size: number): Generator<AddressLines, undefined> {
  let [parts, missing]: [Buffer[], number] = [[], size];
  for (const piece of pieces)
    for (let [start, end] = [0, 0]; start < piece.length; start = end) {
      for (; missing > 0 && end < piece.length; missing -= 1) end = piece.indexOf(lineFeed, end) + 1;
      parts.push(piece.subarray(start, end));
      if (missing > 0) continue;
      yield { pieces: parts, count: size };
      [parts, missing] = [[], size];
    }
  if (parts.length > 0) yield { pieces: parts, count: size - missing };
  return undefined;
}

const [lineFeed, lowerX, zero] = [0x0a, 0x78, 0x30];
const evmLine = '0x\n'.length + 40;
const isDigit = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9a-f]/.test(String.fromCharCode(byte)) ? 1 : 0));

/** Lines as they were read, with two hashes of 32 bits for each. */
export interface HashedLines {
  bytes: Buffer;
  count: number;
  hashes: Uint32Array;
}

// As FNV-1a does it.
const [highPrime, lowPrime] = [0x9e3779b1, 0x01000193];

/** Lines that are EVM addresses in lowercase, as most lists have; `undefined` if one is not. A pattern for each line takes six times as long. */
export function hashEvmLines(bytes: Buffer): HashedLines | undefined {
  for (let start = 0; start < bytes.length; start += evmLine) {
    const end = start + evmLine - 1;
    if (bytes[start] !== zero || bytes[start + 1] !== lowerX || bytes[end] !== lineFeed) return undefined;
    for (let at = start + 2; at < end; at += 1) if (isDigit[bytes[at] ?? 0] === 0) return undefined;
  }
  return hashBytes(bytes, bytes.length / evmLine);
}

/** Any addresses. */
export function hashLines(addresses: readonly string[]): HashedLines {
  return hashBytes(packLines(addresses), addresses.length);
}

function hashBytes(bytes: Buffer, count: number): HashedLines {
  const hashes = new Uint32Array(2 * count);
  let [index, high, low] = [0, 0, 0];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte !== lineFeed) {
      high = Math.imul(high ^ byte, highPrime);
      low = Math.imul(low ^ byte, lowPrime);
      continue;
    }
    hashes[index] = high;
    hashes[index + 1] = low;
    index += 2;
    high = 0;
    low = 0;
  }
  return { bytes, count, hashes };
}

/** Drops all but the first of equal addresses; those of one hash are compared as text. */
export function dropRepeats(read: readonly HashedLines[]): AddressLines {
  const repeated = findRepeated(read);
  const seen = new Set<string>();
  let count = 0;
  const pieces = read.map((lines) => {
    if (repeated.size === 0) {
      count += lines.count;
      return lines.bytes;
    }
    const firsts = unpackLines(lines.bytes).filter(
      (address, index) => !repeated.has(lines.hashes[2 * index] ?? 0) || seen.size < seen.add(address).size,
    );
    count += firsts.length;
    return packLines(firsts);
  });
  return { pieces, count };
}

/**
 * The first hashes of lines of which there may be several. A hash table of addresses by their second hash: a Set of a million numbers takes ten
 * times as long.
 */
function findRepeated(read: readonly HashedLines[]): ReadonlySet<number> {
  const total = read.reduce((sum, { count }) => sum + count, 0);
  const last = 2 ** Math.ceil(Math.log2(2 * total + 1)) - 1;
  const table = new Uint32Array(last + 1);
  const repeated = new Set<number>();
  for (const { hashes } of read)
    for (let at = 0; at < hashes.length; at += 2) {
      const high = hashes[at] ?? 0;
      const low = hashes[at + 1] ?? 0;
      let slot = low & last;
      while (table[slot] !== 0 && table[slot] !== high) slot = (slot + 1) & last;
      if (table[slot] === high) repeated.add(high);
      table[slot] = high;
    }
  return repeated;
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
  const listed = addressesOf(list);
  for await (const addresses of others)
    for (const other of addresses) {
      const address = listed.next().value;
      if (address === other) continue;
      if (!onlyListed.delete(other)) onlyOther.add(other);
      if (address !== undefined && !onlyOther.delete(address)) onlyListed.add(address);
    }
  const pieces: Buffer[] = [];
  let [count, missing] = [0, [...onlyListed]];
  const pack = () => {
    pieces.push(packLines(missing));
    count += missing.length;
    missing = [];
  };
  for (const address of listed) {
    if (!onlyOther.delete(address)) missing.push(address);
    if (missing.length >= 1000) pack();
  }
  pack();
  // A repeat in `others` was matched the first time.
  if (onlyOther.size > 0) for (const address of addressesOf(list)) onlyOther.delete(address);
  return { missing: { pieces, count }, surplus: [...onlyOther] };
}

function* addressesOf({ pieces }: AddressLines): Generator<string, undefined> {
  for (const piece of pieces) yield* unpackLines(piece);
  return undefined;
}
