import { SotraError } from '../errors.ts';
import { encodeBase58 } from '../model/address.ts';
import type { ChainFamily } from '../model/chain.ts';

/** A key that can sign; `wipe` removes it from memory as far as its library allows. */
export interface Signer {
  address: string;
  sign: (message: string) => Promise<string>;
  wipe: () => void;
}

/** A signer for 32 bytes of key, with the library of its family, loaded now. Errors: `signing-key`, without the library's message. */
export async function makeSigner(family: ChainFamily, bytes: Uint8Array): Promise<Signer> {
  try {
    return family === 'solana' ? await solanaSigner(bytes) : await evmSigner(bytes);
  } catch {
    // What a library says of a key might show it, so nothing of it is kept.
    throw new SotraError('signing-key', 'the signing library refuses this key');
  }
}

/** EIP-191 (`personal_sign`). viem takes keys as text, which JavaScript cannot wipe. */
async function evmSigner(key: Uint8Array): Promise<Signer> {
  const { privateKeyToAccount } = await import('viem/accounts');
  const account = privateKeyToAccount(`0x${Buffer.from(key.buffer, key.byteOffset, key.length).toString('hex')}`);
  return { address: account.address, sign: (message) => account.signMessage({ message }), wipe: () => undefined };
}

async function solanaSigner(seed: Uint8Array): Promise<Signer> {
  const { solanaKey } = await import('./solana-key.ts');
  const { address, sign, wipe } = solanaKey(seed);
  return {
    address,
    sign: async (message) => encodeBase58(sign(new TextEncoder().encode(message))),
    wipe,
  };
}

/** True where all words are of the English list that recovery phrases are made of (BIP-39). */
export async function areRecoveryWords(words: readonly string[]): Promise<boolean> {
  const { english } = await import('viem/accounts');
  return words.every((word) => english.includes(word));
}
