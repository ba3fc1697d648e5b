import nacl from 'tweetnacl';
import { encodeBase58 } from '../model/address.ts';
import type { Signer } from '../resources/comment/signed.ts';
import type { Encoding } from '../resources/comment/verify-forms.ts';

/** A signer by ed25519 over the UTF-8 bytes of a text, for a seed of 32 bytes. `forget` wipes its copy of the key. */
export function openSolanaSigner(seed: Uint8Array, encoding: Encoding): Signer {
  const pair = nacl.sign.keyPair.fromSeed(seed);
  return {
    address: encodeBase58(pair.publicKey),
    sign: async (message) => {
      const signature = nacl.sign.detached(new TextEncoder().encode(message), pair.secretKey);
      return encoding === 'base58' ? encodeBase58(signature) : Buffer.from(signature).toString(encoding);
    },
    forget: () => void pair.secretKey.fill(0),
  };
}
