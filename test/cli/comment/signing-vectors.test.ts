import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Hex } from 'viem';
import { describe, expect, test } from 'vitest';
import { checksumAddress } from '../../../src/api/checksum.ts';
import { ed25519Problem, recoverAddress, verifySignature } from '../../../src/api/verify-signature.ts';
import { makeSigner } from '../../../src/keys/signer.ts';
import { run, runJson, temporaryFolder } from '../../support/harness.ts';
import { some } from '../../support/size.ts';
import { bonk, degen, evmTrader, solanaTrader, swaps, writeKeys } from '../../support/traders.ts';

const data = 'test/data';

const vectors = (file: string) => JSON.parse(gunzipSync(readFileSync(`${data}/${file}.json.gz`)).toString());

const bytes = (hex: string) => Buffer.from(hex.replace(/^0x/, ''), 'hex');

describe('the independent vectors', () => {
  test('every EIP-191 signature recovers to its address, and is what we sign where the key is known', async () => {
    const all = vectors('signing-evm/eip191_personal_sign');
    expect(all).toHaveLength(8);
    for (const { id, privateKey, messageText, messageHex, address, signature } of all) {
      const message = messageHex === undefined ? (messageText ?? '') : { raw: bytes(messageHex) };
      expect([id, await recoverAddress(message, signature)]).toEqual([id, { ok: true, address }]);
      if (privateKey === undefined || messageText === undefined) continue;
      const signer = await makeSigner('evm', bytes(privateKey));
      expect([id, signer.address, await signer.sign(messageText)]).toEqual([id, address, signature]);
    }
  });

  test('every private key, the edge ones too, has its address, and ours checks what it signs', async () => {
    const all = vectors('signing-evm/private_key_to_address');
    expect(all.length).toBeGreaterThan(100);
    for (const { privateKey, address } of some<{ privateKey: string; address: string }>(all, 60)) {
      const signer = await makeSigner('evm', bytes(privateKey));
      expect(signer.address).toBe(address);
      expect(checksumAddress(address.slice(2))).toBe(address);
      const signature = await signer.sign(`gm ${address}`);
      expect(await recoverAddress(`gm ${address}`, signature as Hex)).toEqual({ ok: true, address });
    }
  });

  test('the ed25519 signatures of RFC 8032 are what we sign, with the same keypair and address', async () => {
    const all = vectors('signing-solana/rfc8032_ed25519');
    expect(all).toHaveLength(3);
    for (const { publicKeyHex, seed, address, messageHex, signatureHex, signatureBase58 } of all) {
      const message = bytes(messageHex);
      expect(ed25519Problem(message, bytes(signatureHex), bytes(publicKeyHex))).toBeUndefined();
      const text = message.toString('utf8');
      if (!Buffer.from(text).equals(message)) continue;
      const signer = await makeSigner('solana', bytes(seed));
      expect([signer.address, await signer.sign(text)]).toEqual([address, signatureBase58]);
      const claim = { chain: 'solana', message: text, signerAddress: address };
      for (const signature of [signatureBase58, signatureHex, bytes(signatureHex).toString('base64')])
        expect(await verifySignature({ ...claim, signature })).toMatchObject({ valid: true });
    }
  });

  test('Wycheproof: the valid ones verify, the invalid ones are refused, also those with s >= L', () => {
    const all = vectors('signing-solana/wycheproof_ed25519');
    expect(all.length).toBeGreaterThan(70);
    for (const { tcId, publicKeyHex, messageHex, signatureHex, result } of all) {
      const problem = ed25519Problem(bytes(messageHex), bytes(signatureHex), bytes(publicKeyHex));
      expect([tcId, problem === undefined ? 'valid' : 'invalid']).toEqual([tcId, result]);
    }
  });
});

test('comment sign and comment verify agree, for both kinds of key and every chain', async () => {
  const keys = writeKeys(temporaryFolder());
  const evmChains = ['ethereum', 'optimism', 'polygon', 'arbitrum', 'zora', 'base', 'zero', 'hyperliquid'];
  const swapsOf = [
    ...evmChains.map((chain) => ({ chain, tx: swaps.good, token: degen, key: keys.evm, signer: evmTrader.address })),
    { chain: 'solana', tx: swaps.solana, token: bonk, key: keys.solana, signer: solanaTrader.address },
  ];
  for (const { chain, tx, token, key, signer } of swapsOf) {
    const fields = ['--chain', chain, '--tx', tx, '--token', token, '--text', 'gm\nfrens', '--service-name', 'Example'];
    const signed = await runJson(['comment', 'sign', ...fields, '--key-file', key]);
    expect(signed.signerAddress).toBe(signer);
    expect(Object.keys(signed).join()).toBe(
      'message,layout,serviceName,chain,tokenAddress,transactionHash,commentText,signature,signerAddress',
    );
    const claim = ['comment', 'verify', ...fields, '--signature', signed.signature, '--json', '--signer'];
    expect((await run([...claim, signer])).code).toBe(0);
    expect(await run([...claim, token])).toMatchObject({ code: 12, out: expect.stringContaining('"valid": false') });
    expect(await run([...claim, signer, '--layout', 'blank-line'])).toMatchObject({ code: 12 });
  }
});
