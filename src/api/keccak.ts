import { keccak_256 } from '@noble/hashes/sha3.js';
import { encodeHex } from './address.ts';

/** The Keccak-256 digest of Ethereum: 32 bytes. */
export const keccak256: (data: Uint8Array) => Uint8Array = keccak_256;

/** Loads a scrypt without OpenSSL's limit on N, for keystores of old wallets. */
export async function loadScrypt() {
  return (await import('@noble/hashes/scrypt.js')).scryptAsync;
}

/** 40 hex digits as an EVM address with the checksum of EIP-55. */
export function checksumAddress(digits: string): string {
  const lower = digits.toLowerCase();
  const hash = encodeHex(keccak256(new TextEncoder().encode(lower)));
  return `0x${lower.replace(/[a-f]/g, (digit, index) => ((hash[index] ?? '0') >= '8' ? digit.toUpperCase() : digit))}`;
}

/**
 * True where the letters of an EVM address (0x and 40 hex digits) are of both cases and not the ones that EIP-55 gives: a mistyped
 * address. One case throughout carries no checksum.
 */
export function hasWrongChecksum(address: string): boolean {
  const digits = address.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return false;
  return checksumAddress(digits) !== address;
}
