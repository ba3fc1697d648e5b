import { createECDH } from 'node:crypto';

/** Order of secp256k1. Source: SEC 2, section 2.4.1. */
export const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const numberOf = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
const bytesOf = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');

function inverse(value: bigint): bigint {
  let [result, square] = [1n, value % order];
  for (let left = order - 2n; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % order;
    square = (square * square) % order;
  }
  return result;
}

/** The point of a key on secp256k1, by Node's OpenSSL: 64 bytes. */
export function publicKey(key: Uint8Array): Buffer {
  const curve = createECDH('secp256k1');
  curve.setPrivateKey(key);
  return curve.getPublicKey().subarray(1);
}

/** A signature over a digest (65 bytes, s in the lower half), made of the definition of ECDSA and a point of OpenSSL. */
export function signDigest(digest: Uint8Array, key: Uint8Array, nonce: Uint8Array): Buffer {
  const point = publicKey(nonce);
  const r = numberOf(point.subarray(0, 32)) % order;
  const s = (inverse(numberOf(nonce)) * (numberOf(digest) + r * numberOf(key))) % order;
  const odd = (point[63] ?? 0) & 1;
  const isHigh = s > order / 2n;
  return Buffer.concat([bytesOf(r), bytesOf(isHigh ? order - s : s), Buffer.from([27 + (isHigh ? 1 - odd : odd)])]);
}

/** Whether 65 bytes are the signature of a key over a digest: R is the point that the definition of ECDSA gives. */
export function isSignedBy(key: Uint8Array, digest: Uint8Array, signature: Uint8Array): boolean {
  const [r, s] = [numberOf(signature.subarray(0, 32)), numberOf(signature.subarray(32, 64))];
  const nonce = ((numberOf(digest) + r * numberOf(key)) * inverse(s)) % order;
  const point = publicKey(bytesOf(nonce));
  return numberOf(point.subarray(0, 32)) % order === r && 27 + ((point[63] ?? 0) & 1) === signature[64];
}
