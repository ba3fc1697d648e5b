import { secp256k1 } from '@noble/curves/secp256k1.js';
import { type Hex, hashMessage, keccak256, toBytes } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { expect, test } from 'vitest';
import { encodeBase58, plainAddress } from '../../../src/api/address.ts';
import type { Chain } from '../../../src/api/chain.ts';
import { commentProblem, fieldProblem, isServiceName } from '../../../src/api/signed-text.ts';
import {
  ed25519Problem,
  normalizeSignature,
  recoverAddress,
  verifySignature,
} from '../../../src/api/verify-signature.ts';
import type { SignedComment } from '../../../src/commands/comment/comment-text.ts';
import { makeSignedComment } from '../../../src/commands/comment/sign.ts';
import { makeSigner } from '../../../src/keys/signer.ts';
import { recode } from '../../support/traders.ts';

const degen = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';
const hash = `0x${'aB'.repeat(32)}`;
const solanaHash = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW';
const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

const solanaForm = 'a transaction on solana is 64 bytes in base58 (87 or 88 letters)';
const transactions: readonly [chain: Chain, transactionHash: string, problem: string | undefined][] = [
  ['base', hash, undefined],
  ['hyperliquid', hash, undefined],
  ['hyperliquid', '1', undefined],
  ['solana', solanaHash, undefined],
  ['base', '123', 'that is an order id, which only hyperliquid has; a transaction on base is 0x and 64 hex digits'],
  ['base', solanaHash, 'that is a Solana transaction; a transaction on base is 0x and 64 hex digits'],
  ['base', degen, 'that is an address, not a transaction; a transaction on base is 0x and 64 hex digits'],
  ['base', `${hash} `, 'it begins or ends with a space or line end; a transaction on base is 0x and 64 hex digits'],
  ['base', `${hash}a`, 'it has 65 hex digits; a transaction on base is 0x and 64 hex digits'],
  ['base', '0xabg', 'it is not a transaction hash; a transaction on base is 0x and 64 hex digits'],
  ['base', `x${hash}`, 'it is not a transaction hash; a transaction on base is 0x and 64 hex digits'],
  ['base', 'a b', 'it is not a transaction hash; a transaction on base is 0x and 64 hex digits'],
  [
    'hyperliquid',
    '123456789012345678901',
    'it is not a transaction hash; a transaction on hyperliquid is 0x and 64 hex digits, or an order id',
  ],
  ['solana', hash, `that is the hash of an EVM transaction; ${solanaForm}`],
  ['solana', '123', `that is an order id, which only hyperliquid has; ${solanaForm}`],
  ['solana', mint, `that is an address, not a transaction; ${solanaForm}`],
  ['solana', 'x0l', `it is not a transaction hash; ${solanaForm}`],
];

test.each(transactions)('on %s the transaction %j: %s', (chain, transactionHash, problem) => {
  const tokenAddress = chain === 'solana' ? mint : degen;
  const found = fieldProblem({ chain, transactionHash, tokenAddress, commentText: 'gm' });
  expect(found).toEqual(problem === undefined ? undefined : { field: 'transactionHash', problem });
});

const tokens: readonly [chain: Chain, tokenAddress: string, problem: string | undefined][] = [
  ['base', degen, undefined],
  ['hyperliquid', degen, undefined],
  ['hyperliquid', 'ETH', undefined],
  ['hyperliquid', 'x'.repeat(64), undefined],
  ['hyperliquid', 'x'.repeat(65), 'a token on hyperliquid is a coin such as ETH, or an address'],
  ['hyperliquid', ' ETH', 'a token on hyperliquid is a coin such as ETH, or an address'],
  ['base', 'ETH', 'a token on base is 0x and 40 hex digits'],
  ['base', mint, 'that is a Solana mint; a token on base is 0x and 40 hex digits'],
  ['solana', mint, undefined],
  ['solana', degen, 'a token on solana is a mint: 32 bytes in base58 (43 or 44 letters)'],
];

test.each(tokens)('on %s the token %j: %s', (chain, tokenAddress, problem) => {
  const transactionHash = chain === 'solana' ? solanaHash : hash;
  const found = fieldProblem({ chain, transactionHash, tokenAddress, commentText: 'gm' });
  expect(found).toEqual(problem === undefined ? undefined : { field: 'tokenAddress', problem });
});

test.each([
  ['a'.repeat(9999), hash, undefined],
  [
    'a'.repeat(10_000),
    hash,
    'commentText has 10000 characters, at most 9999 are allowed (UTF-16 units: most emoji are two)',
  ],
  ['a\0b', hash, 'commentText holds a NUL character'],
  ['gm', '0x1', 'transactionHash 0x1: it has 1 hex digits; a transaction on base is 0x and 64 hex digits'],
])('what is wrong with a comment is one sentence with field and value', (commentText, transactionHash, problem) => {
  expect(commentProblem({ chain: 'base', tokenAddress: degen, transactionHash, commentText })).toBe(problem);
});

const rAndS = 'aB'.repeat(64);
const signatures: readonly [chain: Chain, signature: string, taken: string][] = [
  ['base', `0x${rAndS}00`, `0x${rAndS}1b`],
  ['base', `0x${rAndS}01`, `0x${rAndS}1c`],
  ['base', `0x${rAndS}1b`, `0x${rAndS}1b`],
  ['base', `0x${rAndS}02`, `0x${rAndS}02`],
  ['base', `0x${rAndS}0000`, `0x${rAndS}0000`],
  ['base', `x0x${rAndS}00`, `x0x${rAndS}00`],
  ['solana', `0x${rAndS}00`, `0x${rAndS}00`],
];

test.each(signatures)('on %s the signature %s is sent as %s', (chain, signature, taken) => {
  expect(normalizeSignature(chain, signature)).toBe(taken);
});

test('a service is named by one line that can be seen', () => {
  const names = ['Example', 'My Service', '', ' x', 'x ', 'a\nb', 'a\u200bb'];
  expect(names.map(isServiceName)).toEqual([true, true, false, false, false, false, false]);
});

const evmKey = Uint8Array.from({ length: 32 }, (_, index) => (index === 31 ? 1 : 0));
const seed = Uint8Array.from({ length: 32 }, (_, index) => index + 1);
const fields = { chain: 'base', tokenAddress: degen, transactionHash: hash, commentText: 'gm' } as const;
const form = { serviceName: 'Example', layout: 'five-line' } as const;

const evmComment = async (): Promise<SignedComment> => makeSignedComment(fields, form, await makeSigner('evm', evmKey));

test('a key whose signature does not verify signs nothing', async () => {
  const good = await makeSigner('evm', evmKey);
  const signer = { ...good, sign: () => good.sign('another text') };
  await expect(makeSignedComment(fields, form, signer)).rejects.toMatchObject({
    code: 'signing-key',
    message: expect.stringMatching(/^the signature just made does not verify \(over this text .*\): it was not used$/),
  });
  const refused = { code: 'signing-key', message: 'the signing library refuses this key' };
  await expect(makeSigner('evm', new Uint8Array(32))).rejects.toMatchObject(refused);
});

test('an EVM claim whose parts are no hex is refused by the part', async () => {
  const { message, signature, signerAddress } = await evmComment();
  const reason = async (changes: object) =>
    (await verifySignature({ chain: 'base', message, signature, signerAddress, ...changes })).reason;
  expect(await reason({})).toBeUndefined();
  expect(await reason({ signerAddress: signerAddress.toLowerCase() })).toBeUndefined();
  expect(await reason({ signerAddress: 'x' })).toBe('the signer is not an EVM address (0x and 40 hex digits)');
  const odd = [`a${signature}`, `${signature}0`, `${signature} `, signature.slice(2), '0xzz', ''];
  for (const each of odd) expect(await reason({ signature: each })).toBe('the signature is not 0x and hex digits');
  expect(await verifySignature({ chain: 'base', message, signature: '0x', signerAddress })).toEqual({
    valid: false,
    signerAddress,
    reason: expect.stringContaining('65'),
  });
});

test('a Solana signature is read as base58, base64 or hex, or as base58 alone', async () => {
  const signer = await makeSigner('solana', seed);
  const signature = await signer.sign('gm');
  const valid = { valid: true, recoveredAddress: signer.address, signerAddress: signer.address };
  const judge = (changes: object) =>
    verifySignature({ chain: 'solana', message: 'gm', signature, signerAddress: signer.address, ...changes });
  const written = { base58: signature, base64: recode(signature, 'base64'), hex: recode(signature, 'hex') };
  for (const [encoding, text] of Object.entries(written)) {
    expect(await judge({ signature: text })).toEqual(valid);
    const problem = encoding === 'base58' ? undefined : 'the signature is not base58 text of 64 bytes';
    expect((await judge({ signature: text, encoding: 'base58' })).reason).toBe(problem);
    expect((await judge({ signature: ` ${text}` })).reason).toBe(
      'the signature is not base58, base64 or hex text of 64 bytes',
    );
  }
  expect((await judge({ signature: `0x${written.hex}` })).valid).toBe(true);
  const prefixed = `solana:${signer.address}`;
  expect(await judge({ signerAddress: prefixed })).toEqual({ ...valid, signerAddress: prefixed });
  for (const address of [degen, 'solana:'])
    expect((await judge({ signerAddress: address })).reason).toContain('not a Solana address');
  expect((await judge({ signerAddress: mint })).reason).toBe('over this text it is not the signature of the signer');
});

test('a base64 signature that begins like hex is read as base64', async () => {
  const signer = await makeSigner('solana', seed);
  const signature = recode(await signer.sign('gm 2870'), 'base64');
  expect(signature).toBe('0xfeYbX58+8ryg9YXxRu1/9uH5asHDpvNrhD01Y+aP6fVi4Eg9cXdU8+ibSsjakGJb2SO2fSe3wPhQqENIY5BQ==');
  const claim = { chain: 'solana', message: 'gm 2870', signature, signerAddress: signer.address };
  expect(await verifySignature(claim)).toMatchObject({ valid: true });
});

test('only a prefix names the chain of an address', () => {
  const others = [mint, `${mint}solana:`, 'sol:x'];
  expect([`solana:${mint}`, ...others].map(plainAddress)).toEqual([mint, ...others]);
});

const hex = (text: string) => Buffer.from(text, 'hex');
const basePoint = `58${'66'.repeat(31)}`;
const identity = `01${'00'.repeat(31)}`;
const order = 'edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010';
const one = `01${'00'.repeat(31)}`;
const smallOrder = 'the signer or R is a point of small order';
const malleable = 's is not below the order of the group (malleable)';
const notSigned = 'over this text it is not the signature of the signer';

const strict: readonly [what: string, publicKey: string, r: string, s: string, problem: string][] = [
  ['s is the order itself', basePoint, basePoint, order, malleable],
  ['s is the order and one', basePoint, basePoint, order.replace('ed', 'ee'), malleable],
  ['s is all ones', basePoint, basePoint, 'ff'.repeat(32), malleable],
  ['s is one less than the order', basePoint, basePoint, order.replace('ed', 'ec'), notSigned],
  ['s and R would be good for any text under this key', identity, basePoint, one, smallOrder],
  ['the same with the sign bit set', identity.replace(/00$/, '80'), basePoint, one, smallOrder],
  ['R is of small order under an honest key', basePoint, identity, one, smallOrder],
  ['neither is', basePoint, basePoint, one, notSigned],
];

test.each(strict)('an ed25519 signature is refused if %s', (_, publicKey, r, s, problem) => {
  expect(ed25519Problem(Buffer.from('gm'), hex(r + s), hex(publicKey))).toBe(problem);
});

test.each([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
])('nobody signs with the key %s of small order', (point) => {
  expect(ed25519Problem(Buffer.from('gm'), hex(basePoint + one), hex(point))).toBe(smallOrder);
});

test('an ed25519 signature has 64 bytes', () => {
  expect(ed25519Problem(Buffer.from('gm'), new Uint8Array(63), hex(basePoint))).toBe(
    'the signature has 63 bytes, not 64',
  );
});

const evmOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
/** The x of the curve's base point; its y is even. */
const baseX = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n;
const word = (value: bigint) => value.toString(16).padStart(64, '0');
const evmHex = (r: bigint, s: bigint, v = 27): Hex => `0x${word(r)}${word(s)}${v.toString(16)}`;

const outside = 'r or s is outside the range of the curve';
const refusedEvm: readonly [what: string, signature: Hex, problem: string][] = [
  ['nothing', '0x', 'the signature has 0 bytes, not 65'],
  ['64 bytes', `0x${word(1n)}${word(1n)}`, 'the signature has 64 bytes, not 65'],
  ['v 0', `0x${word(1n)}${word(1n)}00`, 'its last byte is 0, not 27 or 28'],
  ['v 29', evmHex(1n, 1n, 29), 'its last byte is 29, not 27 or 28'],
  ['r 0', evmHex(0n, 1n), outside],
  ['r of the order', evmHex(evmOrder, 1n), outside],
  ['s 0', evmHex(1n, 0n), outside],
  ['s of the order', evmHex(1n, evmOrder), outside],
  ['s in the upper half', evmHex(1n, evmOrder / 2n + 1n), 's is in the upper half of its range (malleable)'],
  ['an r without a point', evmHex(5n, 1n), 'it recovers to no key'],
];

test.each(refusedEvm)('a signature of EVM is refused: %s', async (_, signature, problem) => {
  expect(await recoverAddress('gm', signature)).toEqual({ ok: false, problem });
});

const recovered: readonly [what: string, r: bigint, s: bigint, v: number][] = [
  ['the highest s', 1n, evmOrder / 2n, 27],
  ['the lowest r and s', 1n, 1n, 28],
  ['the base point as R', baseX, 12_345n, 27],
  ['the base point turned over as R', baseX, 12_345n, 28],
  ['the base point as R, s one', baseX, 1n, 27],
  ['an odd point', 2n, evmOrder / 3n, 28],
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
  const message = ['gm0', 'gm1', 'gm2', 'gm3', 'gm4', 'gm5'].find((text) => digestOf(text) < evmOrder / 2n) ?? '';
  const signature = evmHex(baseX, digestOf(message));
  expect(await recoverAddress(message, signature)).toEqual({ ok: false, problem: 'it recovers to no key' });
});

const bytes = Uint8Array.from({ length: 64 }, (_, index) => 255 - index);
const inHex = Buffer.from(bytes).toString('hex');
const base64 = Buffer.from(bytes).toString('base64');
const base58 = encodeBase58(bytes);

test.each([
  ['hex', inHex],
  ['hex with 0x', `0x${inHex}`],
  ['base64', base64],
  ['base58', base58],
])('a Solana signature in %s is sent in base58', (_, given) => {
  expect(normalizeSignature('solana', given)).toBe(base58);
});

test.each([
  ['no text', ''],
  ['127 hex digits', inHex.slice(1)],
  ['129 hex digits', `${inHex}0`],
  ['base64 of 63 bytes', Buffer.from(bytes.subarray(1)).toString('base64')],
  ['base64 without its end', base64.slice(0, -2)],
  ['base64 with more behind it', `${base64}A`],
  ['base58 of 63 bytes', encodeBase58(bytes.subarray(1))],
  ['base58 of 65 bytes', encodeBase58(Uint8Array.of(1, ...bytes))],
  ['text of no encoding', 'l'.repeat(88)],
])('%s is no signature of 64 bytes and is sent unchanged', (_, given) => {
  expect(normalizeSignature('solana', given)).toBe(given);
});
