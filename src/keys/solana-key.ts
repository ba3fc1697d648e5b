import nacl from 'tweetnacl';
import { encodeBase58 } from '../model/address.ts';

/** An ed25519 key that signs bytes; `forget` wipes it from memory. */
export interface SolanaKey {
  address: string;
  sign: (bytes: Uint8Array) => Uint8Array;
  forget: () => void;
}

export function solanaKey(seed: Uint8Array): SolanaKey {
  const pair = nacl.sign.keyPair.fromSeed(seed);
  return {
    address: encodeBase58(pair.publicKey),
    sign: (bytes) => nacl.sign.detached(bytes, pair.secretKey),
    forget: () => void pair.secretKey.fill(0),
  };
}
