/** Distinct addresses in order, one a line, as bytes: a million strings would take longer than the requests. */
export interface AddressLines {
  pieces: readonly Buffer[];
  count: number;
}

/** The bytes of some addresses. */
export function packLines(addresses: readonly string[]): Buffer {
  return Buffer.from(addresses.map((address) => `${address}\n`).join(''));
}

/** The addresses of a piece. */
function unpackLines(piece: Buffer): string[] {
  return piece.toString().split('\n').slice(0, -1);
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

/** Drops all but the first of equal addresses; `hashes` has the hash of every address. */
export function dropRepeats(pieces: readonly Buffer[], hashes: readonly number[]): AddressLines {
  const sorted = new Float64Array(hashes).sort();
  const repeated = new Set(sorted.filter((hash, index) => hash === sorted[index - 1]));
  if (repeated.size === 0) return { pieces, count: hashes.length };
  const seen = new Set<string>();
  const isFirst = (address: string) => !repeated.has(hashAddress(address)) || seen.size < seen.add(address).size;
  let count = 0;
  const kept = pieces.map((piece) => {
    const addresses = unpackLines(piece).filter(isFirst);
    count += addresses.length;
    return packLines(addresses);
  });
  return { pieces: kept, count };
}

/** A hash of 53 bits (the loop of cyrb53). Addresses with equal hashes are compared as text. */
export function hashAddress(address: string): number {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < address.length; at += 1) {
    const code = address.charCodeAt(at);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  return 4_294_967_296 * (high & 0x1f_ffff) + (low >>> 0);
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
