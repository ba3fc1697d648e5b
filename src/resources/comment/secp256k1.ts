import { keccak256 } from './keccak.ts';

// The curve y^2 = x^3 + 7 over the field of p; its order n and base point G. Source: SEC 2, section 2.4.1.
const p = 2n ** 256n - 2n ** 32n - 977n;
const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const base: Point = {
  x: 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  y: 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
  z: 1n,
};

/** In Jacobian coordinates; z = 0 is the point at infinity. */
interface Point {
  x: bigint;
  y: bigint;
  z: bigint;
}

export type Recovered = { ok: true; address: string } | { ok: false; problem: string };

/**
 * The address (with checksum) whose key signed a message by EIP-191 (`personal_sign`), strictly: 65 bytes, v 27 or 28, r and s inside the
 * order, s in its lower half. Plain code of ours over big integers: an independent check of what a library signed; for public data
 * only, it does not run in constant time.
 */
export function recoverAddress(message: Uint8Array, signature: Uint8Array): Recovered {
  if (signature.length !== 65) return { ok: false, problem: `the signature has ${signature.length} bytes, not 65` };
  const r = toNumber(signature.subarray(0, 32));
  const s = toNumber(signature.subarray(32, 64));
  const v = signature[64] ?? 0;
  if (v !== 27 && v !== 28) return { ok: false, problem: `its last byte is ${v}, not 27 or 28` };
  if (r === 0n || r >= n || s === 0n || s >= n)
    return { ok: false, problem: 'r or s is outside the range of the curve' };
  if (s > n / 2n) return { ok: false, problem: 's is in the upper half of its range (malleable)' };
  const square = (r * r * r + 7n) % p;
  const root = power(square, (p + 1n) / 4n);
  if ((root * root) % p !== square) return { ok: false, problem: 'r belongs to no point of the curve' };
  const odd = BigInt(v - 27);
  const point: Point = { x: r, y: (root & 1n) === odd ? root : p - root, z: 1n };
  const inverse = invert(r, n);
  const digest = toNumber(personalDigest(message));
  const key = addMultiples(modulo(-digest * inverse, n), base, (s * inverse) % n, point);
  if (key.z === 0n) return { ok: false, problem: 'it recovers to no key' };
  return { ok: true, address: addressOf(key) };
}

/** Keccak-256 of a message with the prefix of EIP-191, version 0x45. */
function personalDigest(message: Uint8Array): Uint8Array {
  const prefix = new TextEncoder().encode(`\x19Ethereum Signed Message:\n${message.length}`);
  return keccak256(Buffer.concat([prefix, message]));
}

function toAffine({ x, y, z }: Point): Point {
  if (z === 0n || z === 1n) return { x, y, z };
  const inverse = invert(z, p);
  const square = (inverse * inverse) % p;
  return { x: (x * square) % p, y: (((y * square) % p) * inverse) % p, z: 1n };
}

function addressOf(key: Point): string {
  const point = toAffine(key);
  const affine = [point.x, point.y].map((each) => each.toString(16).padStart(64, '0'));
  const bytes = Buffer.from(affine.join(''), 'hex');
  return checksumAddress(Buffer.from(keccak256(bytes).subarray(12)).toString('hex'));
}

/** 40 hex digits as an address with the checksum of EIP-55. */
export function checksumAddress(hex: string): string {
  const lower = hex.toLowerCase();
  const digest = Buffer.from(keccak256(new TextEncoder().encode(lower))).toString('hex');
  return `0x${[...lower].map((digit, index) => (Number.parseInt(digest[index] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit)).join('')}`;
}

/** a*P + b*Q, bit by bit for both at once. */
function addMultiples(a: bigint, first: Point, b: bigint, second: Point): Point {
  const both = toAffine(add(first, second));
  let sum: Point = { x: 0n, y: 1n, z: 0n };
  const bits = (value: bigint) => value.toString(2).padStart(256, '0');
  const [ofA, ofB] = [bits(a), bits(b)];
  for (let index = 0; index < 256; index += 1) {
    sum = double(sum);
    const [hasA, hasB] = [ofA[index] === '1', ofB[index] === '1'];
    if (hasA && hasB) sum = add(sum, both);
    else if (hasA) sum = add(sum, first);
    else if (hasB) sum = add(sum, second);
  }
  return sum;
}

function double({ x, y, z }: Point): Point {
  const yy = (y * y) % p;
  const s = (4n * x * yy) % p;
  const m = (3n * x * x) % p;
  const doubled = modulo(m * m - 2n * s, p);
  return { x: doubled, y: modulo(m * (s - doubled) - 8n * yy * yy, p), z: (2n * y * z) % p };
}

/** The second point is affine (z = 1) or at infinity, which saves multiplications. */
function add(a: Point, b: Point): Point {
  if (a.z === 0n) return b;
  if (b.z === 0n) return a;
  const zza = (a.z * a.z) % p;
  const [xb, yb] = [(b.x * zza) % p, (((b.y * zza) % p) * a.z) % p];
  if (a.x === xb) return a.y === yb ? double(a) : { x: 0n, y: 1n, z: 0n };
  const h = modulo(xb - a.x, p);
  const hh = (h * h) % p;
  const hhh = (hh * h) % p;
  const v = (a.x * hh) % p;
  const slope = modulo(yb - a.y, p);
  const x = modulo(slope * slope - hhh - 2n * v, p);
  return { x, y: modulo(slope * (v - x) - a.y * hhh, p), z: (a.z * h) % p };
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

function modulo(value: bigint, by: bigint): bigint {
  const rest = value % by;
  return rest < 0n ? rest + by : rest;
}

function power(value: bigint, exponent: bigint): bigint {
  let [result, square, left] = [1n, value, exponent];
  for (; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % p;
    square = (square * square) % p;
  }
  return result;
}

function invert(value: bigint, by: bigint): bigint {
  let [low, high, lowFactor, highFactor] = [modulo(value, by), by, 1n, 0n];
  while (low > 1n) {
    const quotient = high / low;
    [low, high, lowFactor, highFactor] = [high - quotient * low, low, highFactor - quotient * lowFactor, lowFactor];
  }
  return modulo(lowFactor, by);
}
