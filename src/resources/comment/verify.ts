import { createPublicKey, verify as verifyBytes } from 'node:crypto';
import {
  type Claim,
  ed25519Problem as problemOf,
  type Verdict,
  type VerifyEd25519,
  verifyClaim,
} from './signature-rules.ts';

/**
 * Whether an address signed a text, by the rules of `verifyClaim`. Other code than signs: @noble/curves (viem carries an older copy of
 * it), and Node's OpenSSL for solana.
 */
export function verifySignature(claim: Claim): Verdict {
  return verifyClaim(claim, verifyWithOpenssl);
}

/** Why a detached ed25519 signature is not good; `undefined` where it is. */
export function ed25519Problem(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): string | undefined {
  return problemOf(message, signature, publicKey, verifyWithOpenssl);
}

/** DER header of a 32-byte ed25519 public key. Source: RFC 8410. */
const derPrefix = Buffer.from('302a300506032b6570032100', 'hex');

const verifyWithOpenssl: VerifyEd25519 = (signature, message, publicKey) => {
  const key = createPublicKey({ key: Buffer.concat([derPrefix, publicKey]), format: 'der', type: 'spki' });
  return verifyBytes(null, message, key, signature);
};
