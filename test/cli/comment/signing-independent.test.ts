import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { hashMessage, keccak256 } from 'viem';
import { expect, test } from 'vitest';
import { encodeBase58 } from '../../../src/api/address.ts';
import { checksumAddress } from '../../../src/api/checksum.ts';
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

test("an EVM signature of ours is one of the key by Node's OpenSSL, and one made with OpenSSL recovers to the key", async () => {
  await fc.assert(
    fc.asyncProperty(keyBytes, keyBytes, text, async (key, nonce, message) => {
      const signer = await makeSigner('evm', key);
      const digest = hashMessage(message, 'bytes');
      const signature = Buffer.from((await signer.sign(message)).slice(2), 'hex');
      expect(isSignedBy(key, digest, signature)).toBe(true);
      expect(signer.address).toBe(checksumAddress(keccak256(publicKey(key)).slice(-40)));
      const other = signDigest(digest, key, nonce);
      expect(await recoverAddress(message, `0x${hexOf(other)}`)).toEqual({ ok: true, address: signer.address });
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
    expect([index, await verifySignature(claim)]).toMatchObject([index, { valid: false }]);
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
    const claim = { chain: 'solana', message, signature: theirs, signerAddress: signer.address };
    expect(await verifySignature(claim)).toMatchObject({ valid: true });
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
