import { hash } from 'node:crypto';
import { encodeBase58 } from '../../src/api/address.ts';
import type { Chain } from '../../src/api/chain.ts';

/** Gives a made-up EVM address, lowercase: the first 20 bytes of the SHA-256 of the seed text. */
export function evmAddress(seedText: string): string {
  return `0x${hash('sha256', seeded(seedText), 'hex').slice(0, 40)}`;
}

/** Gives a made-up Solana address: the 32 bytes of the SHA-256 of the seed text in base58. */
export function solanaAddress(seedText: string): string {
  return encodeBase58(Buffer.from(hash('sha256', seeded(seedText), 'hex'), 'hex'));
}

/**
 * Gives a made-up transaction hash in the form of its chain: 64 bytes in base58 on solana, 0x and 64 hex digits elsewhere.
 */
export function transactionHash(chain: Chain, seedText: string): string {
  return chain === 'solana' ? solanaSignature(seedText) : `0x${hash('sha256', seeded(seedText), 'hex')}`;
}

/**
 * 87 base58 letters of which the first is a 3 or higher are always 64 bytes (2 * 58^86 > 2^504, 58^87 < 2^512). So the 86
 * letters of a SHA-512 in base64 will do once the six that base58 does not know are replaced: many times faster than to
 * encode 64 bytes, and there are some 800 to make.
 */
function solanaSignature(seedText: string): string {
  const letters = hash('sha512', seeded(seedText), 'base64url').replace(/[0OIl_-]/g, 'x');
  return `${3 + (letters.charCodeAt(0) % 3)}${letters}`;
}

function seeded(seedText: string): string {
  return `sotra demo world: ${seedText}`;
}
