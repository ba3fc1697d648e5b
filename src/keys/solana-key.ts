import nacl from 'tweetnacl';
import { encodeBase58 } from '../api/address.ts';

/** An ed25519 key that signs bytes; `wipe` removes it from memory. */
export function solanaKey(seed: Uint8Array) {
  const pair = nacl.sign.keyPair.fromSeed(seed);
  return {
    address: encodeBase58(pair.publicKey),
    sign: (bytes: Uint8Array): Uint8Array => nacl.sign.detached(bytes, pair.secretKey),
    wipe: () => void pair.secretKey.fill(0),
  };
}
