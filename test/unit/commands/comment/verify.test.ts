import { secp256k1 } from '@noble/curves/secp256k1.js';
import { type Hex, hashMessage, keccak256, toBytes } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { expect, test } from 'vitest';
import { encodeBase58 } from '../../../../src/api/address.ts';
import { readSignatureBytes, recoverAddress } from '../../../../src/api/verify-signature.ts';

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
/** The x of the curve's base point; its y is even. */
const baseX = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n;
const word = (value: bigint) => value.toString(16).padStart(64, '0');
const evmHex = (r: bigint, s: bigint, v = 27): Hex => `0x${word(r)}${word(s)}${v.toString(16)}`;

const outside = 'r or s is outside the range of the curve';
const refusedEvm: readonly [what: string, signature: Hex, problem: string][] = [
  ['nothing', '0x', 'the signature has 0 bytes, not 65'],
  ['64 bytes', `0x${word(1n)}${word(1n)}`, 'the signature has 64 bytes, not 65'],
  ['66 bytes', `${evmHex(1n, 1n)}00`, 'the signature has 66 bytes, not 65'],
  ['v 0', `0x${word(1n)}${word(1n)}00`, 'its last byte is 0, not 27 or 28'],
  ['v 26', evmHex(1n, 1n, 26), 'its last byte is 26, not 27 or 28'],
  ['v 29', evmHex(1n, 1n, 29), 'its last byte is 29, not 27 or 28'],
  ['r 0', evmHex(0n, 1n), outside],
  ['r of the order', evmHex(order, 1n), outside],
  ['r above the order', evmHex(order + 1n, 1n), outside],
  ['s 0', evmHex(1n, 0n), outside],
  ['s of the order', evmHex(1n, order), outside],
  ['s above the order', evmHex(1n, order + 1n), outside],
  ['s in the upper half', evmHex(1n, order / 2n + 1n), 's is in the upper half of its range (malleable)'],
  ['an r without a point', evmHex(5n, 1n), 'it recovers to no key'],
];

test.each(refusedEvm)('a signature of EVM is refused: %s', async (_, signature, problem) => {
  expect(await recoverAddress('gm', signature)).toEqual({ ok: false, problem });
});

const recovered: readonly [what: string, r: bigint, s: bigint, v: number][] = [
  ['the highest s', 1n, order / 2n, 27],
  ['the lowest r and s', 1n, 1n, 28],
  ['the base point as R', baseX, 12_345n, 27],
  ['the base point turned over as R', baseX, 12_345n, 28],
  ['the base point as R, s one', baseX, 1n, 27],
  ['an odd point', 2n, order / 3n, 28],
];

test.each(recovered)(
  'what an EVM signature recovers to is what an independent library says: %s',
  async (_, r, s, v) => {
    const signature = evmHex(r, s, v);
    const point = new secp256k1.Signature(r, s, v - 27).recoverPublicKey(hashMessage('gm', 'bytes'));
    const address = publicKeyToAddress(`0x${point.toHex(false)}`);
    expect(await recoverAddress('gm', signature)).toEqual({ ok: true, address });
  },
);

test('a signature whose key would be the point at infinity recovers to no key', async () => {
  const digestOf = (text: string) => BigInt(keccak256(toBytes(`\x19Ethereum Signed Message:\n${text.length}${text}`)));
  const message = ['gm0', 'gm1', 'gm2', 'gm3', 'gm4', 'gm5'].find((text) => digestOf(text) < order / 2n) ?? '';
  const signature = evmHex(baseX, digestOf(message));
  expect(await recoverAddress(message, signature)).toEqual({ ok: false, problem: 'it recovers to no key' });
});

const bytes = Uint8Array.from({ length: 64 }, (_, index) => 255 - index);
const hex = Buffer.from(bytes).toString('hex');
const base64 = Buffer.from(bytes).toString('base64');
const base58 = encodeBase58(bytes);

test.each<[what: string, given: Uint8Array | string]>([
  ['bytes', bytes],
  ['hex', hex],
  ['hex in capitals', hex.toUpperCase()],
  ['hex with 0x', `0x${hex}`],
  ['base64', base64],
  ['base58', base58],
])('64 bytes given as %s are a signature', (_, given) => {
  expect(readSignatureBytes(given)).toEqual(bytes);
});

test.each<[what: string, given: Uint8Array | string]>([
  ['63 bytes', bytes.subarray(1)],
  ['65 bytes', Uint8Array.from([...bytes, 0])],
  ['no bytes', new Uint8Array()],
  ['no text', ''],
  ['127 hex digits', hex.slice(1)],
  ['129 hex digits', `${hex}0`],
  ['hex after another sign', `g${hex}`],
  ['base64 of 63 bytes', Buffer.from(bytes.subarray(1)).toString('base64')],
  ['base64 of 65 bytes', Buffer.from([...bytes, 0]).toString('base64')],
  ['base64 without its end', base64.slice(0, -2)],
  ['base64 after another sign', `-${base64}`],
  ['base58 of 63 bytes', encodeBase58(bytes.subarray(1))],
  ['base58 of 65 bytes', encodeBase58(Uint8Array.from([...bytes, 0]))],
  ['text of no encoding', 'l'.repeat(88)],
])('%s are no signature of 64 bytes', (_, given) => {
  expect(() => readSignatureBytes(given)).toThrow(
    expect.objectContaining({ code: 'signing-key', message: 'the signer gave no signature of 64 bytes' }),
  );
});
