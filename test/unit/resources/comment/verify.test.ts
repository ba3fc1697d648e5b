import { recoverMessageAddress } from 'viem';
import { expect, test } from 'vitest';
import { recoverAddress } from '../../../../src/resources/comment/signature-rules.ts';

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
/** The x of the curve's base point; its y is even. */
const baseX = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n;
const word = (value: bigint) => value.toString(16).padStart(64, '0');
const evmHex = (r: bigint, s: bigint, v = 27): `0x${string}` => `0x${word(r)}${word(s)}${v.toString(16)}`;
const recover = (message: string, hex: string) =>
  recoverAddress(Buffer.from(message), Buffer.from(hex.slice(2), 'hex'));

const outside = 'r or s is outside the range of the curve';
const refusedEvm: readonly [what: string, signature: string, problem: string][] = [
  ['nothing', '0x', 'the signature has 0 bytes, not 65'],
  ['64 bytes', evmHex(1n, 1n).slice(0, -2), 'the signature has 64 bytes, not 65'],
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
  ['an r without a point', evmHex(5n, 1n), 'r belongs to no point of the curve'],
];

test.each(refusedEvm)('a signature of EVM is refused: %s', (_, signature, problem) => {
  expect(recover('gm', signature)).toEqual({ ok: false, problem });
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
    const address = await recoverMessageAddress({ message: 'gm', signature });
    expect(recover('gm', signature)).toEqual({ ok: true, address });
  },
);

test('a signature whose key would be the point at infinity recovers to no key', async () => {
  const { keccak256, toBytes } = await import('viem');
  const digestOf = (text: string) => BigInt(keccak256(toBytes(`\x19Ethereum Signed Message:\n${text.length}${text}`)));
  const message = ['gm0', 'gm1', 'gm2', 'gm3', 'gm4', 'gm5'].find((text) => digestOf(text) < order / 2n) ?? '';
  expect(recover(message, evmHex(baseX, digestOf(message)))).toEqual({ ok: false, problem: 'it recovers to no key' });
});
