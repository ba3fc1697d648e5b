import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { SotraError } from '../errors.ts';
import { decodeBase58, decodeHex, encodeHex, isEvmAddress, isSolanaAddress, plainAddress } from './address.ts';
import { findFamily } from './chain.ts';
import { checksumAddress, keccak256 } from './keccak.ts';
import { normalizeSignature } from './signed-text.ts';

export interface Verdict {
  valid: boolean;
  /** Whose signature it is: always known on EVM, on solana only where it is valid. */
  recoveredAddress?: string;
  signerAddress: string;
  /** Why it is not valid. */
  reason?: string;
}

/** Text form of a Solana signature; the service accepts base58 (wire-facts 1, row 22). */
type Encoding = 'base58' | 'base64' | 'hex';

/** What is to be verified. */
export interface SignatureClaim {
  chain: string;
  /** The signed text. */
  message: string;
  signature: string;
  signerAddress: string;
  /** Of a Solana signature; detected from the text where it is absent. */
  encoding?: Encoding | undefined;
}

/**
 * Whether an address signed a text, strictly: EVM by EIP-191 with s in its lower half, solana by ed25519 with s below the group order. By other
 * code than signs: noble (viem carries an older copy of it; tweetnacl signs for solana). Source: wire-facts 3.6.
 */
export function verifySignature(claim: SignatureClaim): Verdict {
  return findFamily(claim.chain) === 'solana' ? verifySolana(claim) : verifyEvm(claim);
}

function refuseSigner(signerAddress: string, reason: string): Verdict {
  return { valid: false, signerAddress, reason };
}

function verifyEvm({ chain, message, signature: given, signerAddress }: SignatureClaim): Verdict {
  const signature = normalizeSignature(chain, given);
  if (!isEvmAddress(signerAddress))
    return refuseSigner(signerAddress, 'the signer is not an EVM address (0x and 40 hex digits)');
  if (!/^0x([0-9a-fA-F]{2})*$/.test(signature))
    return refuseSigner(signerAddress, 'the signature is not 0x and hex digits');
  const recovered = recoverAddress(new TextEncoder().encode(message), decodeHex(signature));
  if (!recovered.ok) return refuseSigner(signerAddress, recovered.problem);
  const recoveredAddress = recovered.address;
  if (recoveredAddress.toLowerCase() === signerAddress.toLowerCase())
    return { valid: true, recoveredAddress, signerAddress };
  const reason = `over this text it is the signature of ${recoveredAddress}, not of ${signerAddress}`;
  return { valid: false, recoveredAddress, signerAddress, reason };
}

type RecoveredAddress = { ok: true; address: string } | { ok: false; problem: string };

/**
 * The address (with checksum) whose key signed a message by EIP-191 (`personal_sign`), strictly: 65 bytes, v 27 or 28, r and s inside the
 * order, s in its lower half.
 */
export function recoverAddress(message: Uint8Array, bytes: Uint8Array): RecoveredAddress {
  const refuseBytes = (problem: string): RecoveredAddress => ({ ok: false, problem });
  if (bytes.length !== 65) return refuseBytes(`the signature has ${bytes.length} bytes, not 65`);
  const v = bytes[64] ?? 0;
  if (v !== 27 && v !== 28) return refuseBytes(`its last byte is ${v}, not 27 or 28`);
  const signature = attempt(() => secp256k1.Signature.fromBytes(bytes.subarray(0, 64), 'compact'));
  if (signature === undefined) return refuseBytes('r or s is outside the range of the curve');
  if (signature.hasHighS()) return refuseBytes('s is in the upper half of its range (malleable)');
  const digest = personalDigest(message);
  const key = attempt(() => signature.addRecoveryBit(v - 27).recoverPublicKey(digest));
  if (key === undefined) {
    const point = attempt(() => secp256k1.Point.fromBytes(Uint8Array.from([2, ...bytes.subarray(0, 32)])));
    return refuseBytes(point === undefined ? 'r belongs to no point of the curve' : 'it recovers to no key');
  }
  const hash = keccak256(key.toBytes(false).subarray(1));
  return { ok: true, address: checksumAddress(encodeHex(hash.subarray(12))) };
}

/** What noble refuses by throwing, as `undefined`. */
function attempt<T>(compute: () => T): T | undefined {
  try {
    return compute();
  } catch {
    return undefined;
  }
}

function verifySolana({ message, signature, signerAddress, encoding }: SignatureClaim): Verdict {
  const address = plainAddress(signerAddress);
  const key = isSolanaAddress(address) ? decodeBase58(address) : undefined;
  if (key === undefined) return refuseSigner(signerAddress, 'the signer is not a Solana address (32 bytes in base58)');
  const bytes = decodeSignature(signature, encoding);
  if (bytes === undefined)
    return refuseSigner(signerAddress, `the signature is not ${encoding ?? 'base58, base64 or hex'} text of 64 bytes`);
  const problem = ed25519Problem(new TextEncoder().encode(message), bytes, key);
  if (problem !== undefined) return refuseSigner(signerAddress, problem);
  return { valid: true, recoveredAddress: address, signerAddress };
}

/** The 64 bytes that a text is in each encoding. */
const decoders: Readonly<Record<Encoding, (text: string) => Uint8Array | undefined>> = {
  hex: (text) => (/^(0x)?[0-9a-fA-F]{128}$/.test(text) ? decodeHex(text.slice(-128)) : undefined),
  base64: (text) =>
    /^[A-Za-z0-9+/]{86}==$/.test(text) ? Uint8Array.from(atob(text), (each) => each.charCodeAt(0)) : undefined,
  base58: (text) => {
    const bytes = text.length <= 90 ? decodeBase58(text) : undefined;
    return bytes?.length === 64 ? bytes : undefined;
  },
};

/** In the encoding that fits where none is named: no text fits two. */
function decodeSignature(text: string, encoding?: Encoding): Uint8Array | undefined {
  if (encoding !== undefined) return decoders[encoding](text);
  return decoders.hex(text) ?? decoders.base64(text) ?? decoders.base58(text);
}

/**
 * Whether bytes are a point of small order: under such a key a signature over one text is good for others too, so nobody's wallet is one (the
 * address of 32 ones is). Source: RFC 8032, section 8.4, and the strict verification of Solana's own library.
 */
function isSmallOrder(point: Uint8Array): boolean {
  return attempt(() => ed25519.Point.fromBytes(point, true).isSmallOrder()) === true;
}

/** Why a detached ed25519 signature is not good; `undefined` where it is. */
export function ed25519Problem(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): string | undefined {
  if (signature.length !== 64) return `the signature has ${signature.length} bytes, not 64`;
  const s = BigInt(`0x${encodeHex(Uint8Array.from(signature.subarray(32)).reverse())}`);
  if (s >= ed25519.Point.Fn.ORDER) return 's is not below the order of the group (malleable)';
  if (isSmallOrder(publicKey) || isSmallOrder(signature.subarray(0, 32)))
    return 'the signer or R is a point of small order';
  const fits = attempt(() => ed25519.verify(signature, message, publicKey, { zip215: false }));
  return fits ? undefined : 'over this text it is not the signature of the signer';
}

/** The digest of a message by EIP-191: what a key signs of it. */
export function personalDigest(message: Uint8Array): Uint8Array {
  const prefix = new TextEncoder().encode(`\x19Ethereum Signed Message:\n${message.length}`);
  return keccak256(Uint8Array.from([...prefix, ...message]));
}

/** A signature over 64 bytes as bytes: given so, or as base58, base64 or hex. Errors: `signing-key` for anything else. */
export function readSignatureBytes(given: Uint8Array | string): Uint8Array {
  const bytes = typeof given === 'string' ? decodeSignature(given) : given;
  if (bytes?.length === 64) return bytes;
  throw new SotraError('signing-key', 'the signer gave no signature of 64 bytes');
}

/**
 * An EVM signature that ends with its recovery byte, which is found for one of 64 bytes; s is put into its lower half, as what signs
 * digests may leave it in the upper.
 */
export function withRecoveryByte(signature: string, claim: Omit<SignatureClaim, 'signature'>): string {
  if (!/^0x[0-9a-fA-F]{128}$/.test(signature)) return signature;
  const { ORDER } = secp256k1.Point.Fn;
  const given = BigInt(`0x${signature.slice(66)}`);
  const lower = given > ORDER / 2n ? ORDER - given : given;
  const half = signature.slice(0, 66) + lower.toString(16).padStart(64, '0');
  const candidates = ['1b', '1c'].map((last) => half + last);
  return candidates.find((each) => verifyEvm({ ...claim, signature: each }).valid) ?? `${candidates[0]}`;
}
