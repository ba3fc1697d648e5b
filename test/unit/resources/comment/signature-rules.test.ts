import nacl from 'tweetnacl';
import { privateKeyToAccount } from 'viem/accounts';
import { expect, test } from 'vitest';
import { encodeBase58 } from '../../../../src/model/address.ts';
import {
  readSignatureBytes,
  verifyClaim,
  verifyEd25519,
  withRecoveryByte,
} from '../../../../src/resources/comment/signature-rules.ts';

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`);
const claimOf = (message: string, signerAddress: string = account.address) => ({
  chain: 'base',
  message,
  signerAddress,
});
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const otherS = (signature: string) =>
  `0x${signature.slice(2, 66)}${(order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')}`;

test('the recovery byte of 64 bytes is found, whichever it is', async () => {
  const ends: string[] = [];
  for (const message of ['gm', 'gm 1', 'gm 2', 'gm 3', 'gm 4', 'gm 5', 'gm 6', 'gm 7']) {
    const whole = await account.signMessage({ message });
    ends.push(whole.slice(-2));
    expect(withRecoveryByte(whole.slice(0, 130), claimOf(message))).toBe(whole);
    // The same signature with s in the upper half is that of the other recovery byte.
    expect(withRecoveryByte(otherS(whole), claimOf(message))).toBe(whole);
  }
  expect([...new Set(ends)].sort()).toEqual(['1b', '1c']);
});

test('a signature that has its recovery byte, or is no hex of 64 bytes, stays as it is', async () => {
  const whole = await account.signMessage({ message: 'gm' });
  const half = whole.slice(0, 130);
  for (const signature of [
    whole,
    half.slice(2),
    half.slice(0, -1),
    `${half.slice(0, -1)}g`,
    `a${half}`,
    `${half}0`,
    '',
    '0x',
  ])
    expect(withRecoveryByte(signature, claimOf('gm'))).toBe(signature);
});

test('64 bytes of another signer get a recovery byte too, so that they are refused for the signer', async () => {
  const whole = await account.signMessage({ message: 'gm' });
  const claim = claimOf('gm', `0x${'1'.repeat(40)}`);
  const signature = withRecoveryByte(whole.slice(0, 130), claim);
  expect(signature).toBe(`${whole.slice(0, 130)}1b`);
  expect(verifyClaim({ ...claim, signature }, verifyEd25519)).toMatchObject({
    valid: false,
    reason: expect.stringContaining('over this text it is the signature of 0x'),
  });
});

test('an s in the middle of its range is not turned over', () => {
  const half = order / 2n;
  const r = `0x${'0'.repeat(63)}1`;
  const word = (value: bigint) => value.toString(16).padStart(64, '0');
  const found = (s: bigint) => withRecoveryByte(`${r}${word(s)}`, claimOf('gm')).slice(66, 130);
  expect([found(half), found(half + 1n)]).toEqual([word(half), word(half)]);
  expect(found(order - 1n)).toBe(word(1n));
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

test('without OpenSSL an ed25519 signature is judged as tweetnacl judges it', () => {
  const { publicKey, secretKey } = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(7));
  const message = Buffer.from('gm');
  const signature = nacl.sign.detached(message, secretKey);
  expect(verifyEd25519(signature, message, publicKey)).toBe(true);
  expect(verifyEd25519(signature, Buffer.from('GM'), publicKey)).toBe(false);
  for (const index of [0, 31, 32, 62]) {
    const changed = Uint8Array.from(signature);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(verifyEd25519(changed, message, publicKey)).toBe(false);
  }
  // What noble refuses by throwing is no signature either.
  expect(verifyEd25519(signature.subarray(1), message, publicKey)).toBe(false);
  expect(verifyEd25519(signature, message, publicKey.subarray(1))).toBe(false);
});
