import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { hashMessage, keccak256 as viemKeccak256 } from 'viem';
import { expect, test } from 'vitest';
import { encodeBase58 } from '../../../src/api/address.ts';
import { checksumAddress, keccak256 } from '../../../src/api/keccak.ts';
import { recoverAddress, verifySignature } from '../../../src/api/verify-signature.ts';
import { makeSigner } from '../../../src/keys/signer.ts';
import { fc } from '../../support/draw.ts';
import { run, temporaryFolder } from '../../support/harness.ts';
import { isSignedBy, order, publicKey, signDigest } from '../../support/openssl-curve.ts';
import { size } from '../../support/size.ts';
import { degen, evmTrader, recode, solanaTrader, swaps, writeKeys } from '../../support/traders.ts';

const keyBytes = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((key) => {
  const number = BigInt(`0x${Buffer.from(key).toString('hex')}`);
  return number > 0n && number < order;
});
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 });

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** Published digests, that of nothing from the specification of Ethereum. */
const published: readonly [text: string, digest: string][] = [
  ['', 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'],
  ['abc', '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45'],
  ['testing', '5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02'],
  ['Transfer(address,address,uint256)', 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'],
  ['The quick brown fox jumps over the lazy dog', '4d741b6f1eb29cb2a9b9911c82f56fa8d73b04959d3d9d222895df6c0b28aa15'],
];
/** Digests at every length around a block, by code written from the reference of Keccak alone. */
const byLength: readonly [length: number, digest: string][] = [
  [0, 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'],
  [1, '5fe7f977e71dba2ea1a68e21057beebb9be2ac30c6410aa38d4f3fbe41dcffd2'],
  [7, '924099220dce70b94ce3067683548ea0cfd74b7ecd1c2fe3167eb40efe2192fd'],
  [8, '34b93fe0b33e5b57b736973ed41f2262894f361c2ec910d2df3f8fd886d6f47f'],
  [55, 'deb8eef433bece0c3d2423fcdff82fc0750d296c64c26b2ae54b4729f6b88fe4'],
  [134, '82c4f2eb3edbc8660a7803f980e39e7b99ec39a5406e46806ec96be119ffaa3c'],
  [135, 'd442e2e5a608e8e4142d9adcf549171bf969ed2e6788d8bbc6ec9874e38b25f0'],
  [136, 'ec2987c486f9882fd5369e34a81a9dfd047381ffaa80f3c20ac8388e07f5860c'],
  [137, 'da98ab1e0338ec111c87dcd442997e6793df057dd13e67ab88d472eba9810b81'],
  [271, '8241b344b9639361d682c97c608d067cc949c94b60d4c8a4c1ece57c457e98b1'],
  [272, 'c012324a46c22db3c31ac90fd557b5c1ec41d61fd76fd7df9b2ef911d0a932f9'],
  [273, '2a66aff0a6f591e990087b7e6567e0195f9ff6373fd2b95e04fce572c8cab535'],
  [1000, 'fa14bc279541ba0be8eccd963c21e5c968ecc74d0ebf4b21d6c89c66fa26e485'],
];

test('the Keccak-256 that checks is the published one, and that of viem, at every length around a block', () => {
  for (const [text, digest] of published) expect([text, hexOf(keccak256(Buffer.from(text)))]).toEqual([text, digest]);
  for (const [length, digest] of byLength) {
    const data = Uint8Array.from({ length }, (_, index) => (index * 31 + length) & 255);
    expect([length, hexOf(keccak256(data)), viemKeccak256(data)]).toEqual([length, digest, `0x${digest}`]);
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (data) => {
      expect(`0x${hexOf(keccak256(data))}`).toBe(viemKeccak256(data));
    }),
    { numRuns: size(12, 50) },
  );
});

test("an EVM signature of ours is one of the key by Node's OpenSSL, and one made with OpenSSL recovers to the key", async () => {
  await fc.assert(
    fc.asyncProperty(keyBytes, keyBytes, text, async (key, nonce, message) => {
      const signer = await makeSigner('evm', key);
      const digest = hashMessage(message, 'bytes');
      const signature = Buffer.from((await signer.sign(message)).slice(2), 'hex');
      expect(isSignedBy(key, digest, signature)).toBe(true);
      expect(signer.address).toBe(checksumAddress(viemKeccak256(publicKey(key)).slice(-40)));
      const other = signDigest(digest, key, nonce);
      expect(recoverAddress(Buffer.from(message), other)).toEqual({ ok: true, address: signer.address });
    }),
    { numRuns: size(10, 40) },
  );
});

test('a signature changed anywhere is never taken for the same signer', async () => {
  const signer = await makeSigner('evm', Buffer.from(evmTrader.key.slice(2), 'hex'));
  const good = Buffer.from((await signer.sign('gm')).slice(2), 'hex');
  for (let index = 0; index < 65; index += 1) {
    const changed = Buffer.from(good);
    changed[index] = (changed[index] ?? 0) ^ 1;
    const claim = {
      chain: 'base',
      message: 'gm',
      signature: `0x${changed.toString('hex')}`,
      signerAddress: signer.address,
    };
    expect([index, verifySignature(claim).valid]).toEqual([index, false]);
  }
});

test('a Solana signature of ours is accepted by node:crypto, and one of node:crypto by us', async () => {
  for (const message of ['gm', 'Sandbox Swap Comment:\nпривет 🌊\n']) {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
    const signer = await makeSigner('solana', Buffer.from(d, 'base64url'));
    expect(signer.address).toBe(encodeBase58(Buffer.from(x, 'base64url')));
    const ours = Buffer.from(recode(await signer.sign(message), 'hex'), 'hex');
    expect(
      verify(null, Buffer.from(message), createPublicKey(publicKey.export({ format: 'pem', type: 'spki' })), ours),
    ).toBe(true);
    const theirs = encodeBase58(sign(null, Buffer.from(message), privateKey));
    expect(verifySignature({ chain: 'solana', message, signature: theirs, signerAddress: signer.address }).valid).toBe(
      true,
    );
  }
});

test('comment sign and comment verify agree, for both kinds of key and every chain', async () => {
  const keys = writeKeys(temporaryFolder());
  const evmChains = ['ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'hyperliquid'];
  const swapsOf = [
    ...evmChains.map((chain) => ({ chain, tx: swaps.good, token: degen, key: keys.evm, signer: evmTrader.address })),
    {
      chain: 'solana',
      tx: swaps.solana,
      token: 'So11111111111111111111111111111111111111112',
      key: keys.solana,
      signer: solanaTrader.address,
    },
  ];
  for (const { chain, tx, token, key, signer } of swapsOf) {
    const fields = ['--chain', chain, '--tx', tx, '--token', token, '--text', 'gm\nfrens', '--service-name', 'Example'];
    const signed = JSON.parse((await run(['comment', 'sign', ...fields, '--key-file', key, '--json'])).out);
    expect(signed.signerAddress).toBe(signer);
    expect(Object.keys(signed)).toEqual([
      'message',
      'layout',
      'serviceName',
      'chain',
      'tokenAddress',
      'transactionHash',
      'commentText',
      'signature',
      'signerAddress',
    ]);
    const claim = ['comment', 'verify', ...fields, '--signature', signed.signature, '--json', '--signer'];
    const good = await run([...claim, signer]);
    expect([good.code, JSON.parse(good.out)]).toEqual([
      0,
      { valid: true, recoveredAddress: signer, signerAddress: signer },
    ]);
    const other = chain === 'solana' ? 'So11111111111111111111111111111111111111112' : degen;
    const bad = await run([...claim, other]);
    expect(bad.code).toBe(12);
    expect(JSON.parse(bad.out)).toMatchObject({ valid: false, signerAddress: other });
    const wrongLayout = await run([...claim, signer, '--layout', 'blank-line']);
    expect(wrongLayout.code).toBe(12);
  }
});
