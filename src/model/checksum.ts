/**
 * True where the letters of an EVM address are of both cases and not the ones that EIP-55 gives: a mistyped address. One case
 * throughout carries no checksum. Takes 0x and 40 hex digits; never throws. Source: EIP-55.
 */
export function hasWrongChecksum(address: string): boolean {
  const digits = address.slice(2);
  const lower = digits.toLowerCase();
  if (digits === lower || digits === digits.toUpperCase()) return false;
  const hash = keccakOf40(lower);
  for (let index = 0; index < 40; index += 1) {
    const code = digits.charCodeAt(index);
    if (code < 0x41) continue;
    const nibble = ((hash[index >> 3] ?? 0) >>> (((index & 7) ^ 1) * 4)) & 15;
    if (nibble >= 8 !== code < 0x61) return true;
  }
  return false;
}

// Low words at even places, high words at odd ones, of the 24 round constants of Keccak-f[1600].
const roundConstants = Int32Array.from([
  0x00000001, 0x00000000, 0x00008082, 0x00000000, 0x0000808a, 0x80000000, 0x80008000, 0x80000000, 0x0000808b,
  0x00000000, 0x80000001, 0x00000000, 0x80008081, 0x80000000, 0x00008009, 0x80000000, 0x0000008a, 0x00000000,
  0x00000088, 0x00000000, 0x80008009, 0x00000000, 0x8000000a, 0x00000000, 0x8000808b, 0x00000000, 0x0000008b,
  0x80000000, 0x00008089, 0x80000000, 0x00008003, 0x80000000, 0x00008002, 0x80000000, 0x00000080, 0x80000000,
  0x0000800a, 0x00000000, 0x8000000a, 0x80000000, 0x80008081, 0x80000000, 0x00008080, 0x80000000, 0x80000001,
  0x00000000, 0x80008008, 0x80000000,
]);
const rotations = Int32Array.from([
  1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44,
]);
// Places of the lanes' low words, in the order in which rotation carries them on.
const lanes = Int32Array.from([
  20, 14, 22, 34, 36, 6, 10, 32, 16, 42, 48, 8, 30, 46, 38, 26, 24, 4, 40, 28, 44, 18, 12, 2,
]);

/** Keccak-256 of 40 ASCII characters as eight little-endian words: one block, so no sponge is needed. */
function keccakOf40(text: string): Int32Array {
  const state = new Int32Array(50);
  for (let index = 0; index < 40; index += 1)
    state[index >> 2] = (state[index >> 2] ?? 0) | (text.charCodeAt(index) << ((index & 3) * 8));
  state[10] = 1; // padding: a one bit after the text, and one at the end of the 136-byte block
  state[33] = 0x80000000 | 0;
  permute(state);
  return state.subarray(0, 8);
}

function permute(s: Int32Array): void {
  const c = new Int32Array(10);
  const at = (list: Int32Array, index: number): number => list[index] as number;
  for (let round = 0; round < 48; round += 2) {
    for (let x = 0; x < 10; x += 1) c[x] = at(s, x) ^ at(s, x + 10) ^ at(s, x + 20) ^ at(s, x + 30) ^ at(s, x + 40);
    for (let x = 0; x < 10; x += 2) {
      const before = x === 0 ? 8 : x - 2;
      const after = x === 8 ? 0 : x + 2;
      const low = at(c, before) ^ ((at(c, after) << 1) | (at(c, after + 1) >>> 31));
      const high = at(c, before + 1) ^ ((at(c, after + 1) << 1) | (at(c, after) >>> 31));
      for (let y = x; y < 50; y += 10) {
        s[y] = at(s, y) ^ low;
        s[y + 1] = at(s, y + 1) ^ high;
      }
    }
    let low = at(s, 2);
    let high = at(s, 3);
    for (let step = 0; step < 24; step += 1) {
      const place = at(lanes, step);
      const by = at(rotations, step);
      const bits = by & 31;
      const a = by < 32 ? low : high;
      const b = by < 32 ? high : low;
      low = at(s, place);
      high = at(s, place + 1);
      s[place] = (a << bits) | (b >>> (32 - bits));
      s[place + 1] = (b << bits) | (a >>> (32 - bits));
    }
    for (let y = 0; y < 50; y += 10) {
      for (let x = 0; x < 10; x += 1) c[x] = at(s, y + x);
      for (let x = 0; x < 10; x += 1)
        s[y + x] = at(c, x) ^ (~at(c, x < 8 ? x + 2 : x - 8) & at(c, x < 6 ? x + 4 : x - 6));
    }
    s[0] = at(s, 0) ^ at(roundConstants, round);
    s[1] = at(s, 1) ^ at(roundConstants, round + 1);
  }
}
