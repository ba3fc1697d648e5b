import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { expect, test } from 'vitest';
import { makeSigner } from '../../../src/keys/open-signer.ts';
import { encodeBase58 } from '../../../src/model/address.ts';
import { keccak256 } from '../../../src/resources/comment/keccak.ts';
import { recoverAddress } from '../../../src/resources/comment/secp256k1.ts';
import { verifySignature } from '../../../src/resources/comment/verify.ts';
import { fc } from '../../support/draw.ts';
import { run, temporaryFolder } from '../../support/harness.ts';
import { degen, evmTrader, solanaTrader, swaps, writeKeys } from '../../support/traders.ts';

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const prefixed = (text: string) =>
  keccak_256(
    Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${Buffer.byteLength(text)}`), Buffer.from(text)]),
  );
const keyBytes = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((key) => {
  const number = BigInt(`0x${Buffer.from(key).toString('hex')}`);
  return number > 0n && number < order;
});
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 });

test('our Keccak-256 is that of @noble/hashes, at every length around a block', () => {
  for (const length of [0, 1, 7, 8, 55, 134, 135, 136, 137, 271, 272, 273, 1000]) {
    const data = Uint8Array.from({ length }, (_, index) => (index * 31 + length) & 255);
    expect(Buffer.from(keccak256(data)).toString('hex')).toBe(Buffer.from(keccak_256(data)).toString('hex'));
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (data) => {
      expect(Buffer.from(keccak256(data)).equals(keccak_256(data))).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test('an EVM signature of ours recovers to the same key with @noble/curves, and the reverse', async () => {
  await fc.assert(
    fc.asyncProperty(keyBytes, text, async (key, message) => {
      const signer = await makeSigner('evm', key, 'base58');
      const signature = Buffer.from((await signer.sign(message)).slice(2), 'hex');
      const raw = { prehash: false } as const;
      const recoveryFirst = Buffer.concat([Buffer.from([(signature[64] ?? 0) - 27]), signature.subarray(0, 64)]);
      const recovered = secp256k1.Point.fromBytes(secp256k1.recoverPublicKey(recoveryFirst, prefixed(message), raw));
      expect(recovered.toHex(false)).toBe(Buffer.from(secp256k1.getPublicKey(key, false)).toString('hex'));
      const theirs = secp256k1.sign(prefixed(message), key, { ...raw, format: 'recovered' });
      const bytes = Buffer.concat([theirs.subarray(1), Buffer.from([27 + (theirs[0] ?? 0)])]);
      expect(recoverAddress(Buffer.from(message), bytes)).toEqual({ ok: true, address: signer.address });
    }),
    { numRuns: 40 },
  );
});

test('a signature changed anywhere is never taken for the same signer', async () => {
  const signer = await makeSigner('evm', Buffer.from(evmTrader.key.slice(2), 'hex'), 'base58');
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

test('the other signature of the same key, with s in the upper half, is refused and named', async () => {
  const signer = await makeSigner('evm', Buffer.from(evmTrader.key.slice(2), 'hex'), 'base58');
  const good = Buffer.from((await signer.sign('gm')).slice(2), 'hex');
  const s = order - BigInt(`0x${good.subarray(32, 64).toString('hex')}`);
  const mirrored = `0x${good.subarray(0, 32).toString('hex')}${s.toString(16).padStart(64, '0')}${good[64] === 27 ? '1c' : '1b'}`;
  expect(verifySignature({ chain: 'base', message: 'gm', signature: mirrored, signerAddress: signer.address })).toEqual(
    {
      valid: false,
      signerAddress: evmTrader.address,
      reason: 's is in the upper half of its range (malleable)',
    },
  );
});

test('a Solana signature of ours is accepted by node:crypto, and one of node:crypto by us', async () => {
  for (const message of ['gm', 'Sandbox Swap Comment:\nпривет 🌊\n']) {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
    const signer = await makeSigner('solana', Buffer.from(d, 'base64url'), 'base64');
    expect(signer.address).toBe(encodeBase58(Buffer.from(x, 'base64url')));
    const ours = Buffer.from(await signer.sign(message), 'base64');
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
