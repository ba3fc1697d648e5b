const mask = (1n << 64n) - 1n;
/** Bytes that are taken in between two permutations, for a digest of 256 bits. */
const rateBytes = 136;

const { constants, rotations } = makeTables();

/**
 * The Keccak-256 digest (Ethereum's, padding byte 0x01) of some bytes: 32 bytes. Plain code of ours over big integers, so that what viem
 * signs is checked by nothing that viem uses; for public data only, it does not run in constant time.
 */
export function keccak256(data: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.floor(data.length / rateBytes) * rateBytes + rateBytes);
  padded.set(data);
  padded[data.length] = (padded[data.length] ?? 0) ^ 0x01;
  padded[padded.length - 1] = (padded[padded.length - 1] ?? 0) ^ 0x80;
  const view = new DataView(padded.buffer);
  const state = new BigUint64Array(25);
  for (let block = 0; block < padded.length; block += rateBytes) {
    for (let lane = 0; lane < rateBytes / 8; lane += 1)
      state[lane] = (state[lane] ?? 0n) ^ view.getBigUint64(block + lane * 8, true);
    permute(state);
  }
  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  for (let lane = 0; lane < 4; lane += 1) out.setBigUint64(lane * 8, state[lane] ?? 0n, true);
  return digest;
}

function permute(state: BigUint64Array): void {
  const at = (index: number) => state[index] ?? 0n;
  const column = new BigUint64Array(5);
  const moved = new BigUint64Array(25);
  for (const constant of constants) {
    for (let x = 0; x < 5; x += 1) column[x] = at(x) ^ at(x + 5) ^ at(x + 10) ^ at(x + 15) ^ at(x + 20);
    for (let x = 0; x < 5; x += 1) {
      const parity = (column[(x + 4) % 5] ?? 0n) ^ rotate(column[(x + 1) % 5] ?? 0n, 1n);
      for (let y = 0; y < 25; y += 5) state[x + y] = at(x + y) ^ parity;
    }
    for (let x = 0; x < 5; x += 1)
      for (let y = 0; y < 5; y += 1)
        moved[y + 5 * ((2 * x + 3 * y) % 5)] = rotate(at(x + 5 * y), rotations[x + 5 * y] ?? 0n);
    for (let y = 0; y < 25; y += 5)
      for (let x = 0; x < 5; x += 1)
        state[x + y] = (moved[x + y] ?? 0n) ^ (~(moved[((x + 1) % 5) + y] ?? 0n) & (moved[((x + 2) % 5) + y] ?? 0n));
    state[0] = at(0) ^ constant;
  }
}

function rotate(lane: bigint, by: bigint): bigint {
  return ((lane << by) | (lane >> (64n - by))) & mask;
}

/** Round constants and rotations, computed as the Keccak reference (sections 1.2 and "Rotation offsets") defines them. */
function makeTables() {
  const rotations = new Array<bigint>(25).fill(0n);
  let [x, y] = [1, 0];
  for (let step = 0; step < 24; step += 1) {
    rotations[x + 5 * y] = BigInt((((step + 1) * (step + 2)) / 2) % 64);
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  let register = 1;
  const nextBit = () => {
    const bit = register & 1;
    register = register & 0x80 ? (register << 1) ^ 0x171 : register << 1;
    return bit;
  };
  const constants = Array.from({ length: 24 }, () => {
    let constant = 0n;
    for (let bit = 0; bit < 7; bit += 1) if (nextBit()) constant |= 1n << ((1n << BigInt(bit)) - 1n);
    return constant;
  });
  return { constants, rotations };
}
