/** Of ids that are not in a filter one in some 250 looks as if it were. */
const bitsPerId = 14;

/** What an id sets in any filter: some bits of two words that lie side by side. `place`: a fraction of the filter's length. */
export interface IdBits {
  place: number;
  first: number;
  second: number;
}

/** A Bloom filter in blocks of 64 bits, so that one look at the memory tells: says of most ids that they are not among some. */
export function filterOf(ids: readonly string[]): Uint32Array {
  const filter = new Uint32Array(2 * Math.ceil((ids.length * bitsPerId) / 64));
  for (const id of ids) {
    const bits = bitsOf(id);
    const at = indexIn(filter, bits);
    filter[at] = (filter[at] ?? 0) | bits.first;
    filter[at + 1] = (filter[at + 1] ?? 0) | bits.second;
  }
  return filter;
}

export function mayHold(filter: Uint32Array, bits: IdBits): boolean {
  const at = indexIn(filter, bits);
  return ((filter[at] ?? 0) & bits.first) === bits.first && ((filter[at + 1] ?? 0) & bits.second) === bits.second;
}

const indexIn = (filter: Uint32Array, { place }: IdBits) => 2 * Math.floor((place * filter.length) / 2);

export function bitsOf(id: string): IdBits {
  let [where, which] = [0x811c9dc5, 0x9e3779b9];
  for (let index = 0; index < id.length; index += 1) {
    const code = id.charCodeAt(index);
    where = Math.imul(where ^ code, 0x01000193);
    which = Math.imul(which ^ code, 0x85ebca6b) ^ (which >>> 15);
  }
  const bits = mixed(which);
  return { place: (mixed(where) >>> 0) / 2 ** 32, first: threeBits(bits), second: threeBits(bits >>> 15) };
}

const threeBits = (hash: number) => (1 << (hash & 31)) | (1 << ((hash >>> 5) & 31)) | (1 << ((hash >>> 10) & 31));

/** The last step of MurmurHash3, which is in the public domain: each bit of the hash depends on all of them. */
function mixed(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const whole = Math.imul(half ^ (half >>> 13), 0xc2b2ae35);
  return whole ^ (whole >>> 16);
}
