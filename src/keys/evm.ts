import { english, privateKeyToAccount } from 'viem/accounts';
import type { Signer } from '../resources/comment/signed.ts';

/**
 * A signer by EIP-191 (`personal_sign`) for 32 bytes of key: 0x and 130 hex digits. viem takes keys as text, which JavaScript cannot wipe: the
 * bytes stay the caller's to wipe. Throws for bytes outside the range of keys.
 */
export function openEvmSigner(key: Uint8Array): Signer {
  const account = privateKeyToAccount(`0x${Buffer.from(key.buffer, key.byteOffset, key.length).toString('hex')}`);
  return {
    address: account.address,
    sign: (message) => account.signMessage({ message }),
    forget: () => undefined,
  };
}

/** True where all words are of the English list that recovery phrases are made of (BIP-39). */
export function areRecoveryWords(words: readonly string[]): boolean {
  return words.every((word) => english.includes(word));
}
