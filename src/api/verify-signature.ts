import { ed25519 } from '@noble/curves/ed25519.js';
import { recoverMessageAddress } from 'viem/utils';
import { SotraError } from '../errors.ts';
import { decodeBase58, decodeHex, encodeBase58, encodeHex, isEvmAddress, plainAddress } from './address.ts';
import { findFamily } from './chain.ts';

export interface Verdict {
  valid: boolean;
  /** Whose signature it is: always known on EVM, on solana only if it is valid. */
  recoveredAddress?: string;
  signerAddress: string;
  /** Why it is not valid. */
  reason?: string;
}

/** The signature to verify. */
export interface SignatureClaim {
  chain: string;
  /** The signed text. */
  message: string;
  signature: string;
  signerAddress: string;
  /** The form in which the service accepts a Solana signature (wire-facts 1, row 22); any is if absent. */
  encoding?: 'base58';
}

/**
 * Whether an address signed a text, strictly: EVM by EIP-191 with s in its lower half, solana by ed25519 with s below the group order.
 * Source: wire-facts 3.6.
 */
export async function verifySignature(claim: SignatureClaim): Promise<Verdict> {
  return findFamily(claim.chain) === 'solana' ? verifySolana(claim) : verifyEvm(claim);
}

/**
 * A signature as the service takes it: on solana base58. Some wallets (Ledger) end those of EVM with the recovery bit itself, 00 or 01, where
 * others write 1b or 1c. Anything else stays as it is.
 */
export function normalizeSignature(chain: string, signature: string): string {
  if (findFamily(chain) !== 'solana')
    return signature.replace(/^(0x[0-9a-fA-F]{128})0([01])$/, (_, rs, bit) => rs + (bit === '0' ? '1b' : '1c'));
  const bytes = decodeSignature(signature);
  return bytes === undefined ? signature : encodeBase58(bytes);
}

/** A signature that was just made, as the service takes it. Errors: `signing-key` if it does not verify. */
export async function checkMadeSignature(claim: SignatureClaim): Promise<string> {
  const signature = normalizeSignature(claim.chain, claim.signature);
  const { valid, reason } = await verifySignature({ ...claim, signature });
  if (valid) return signature;
  throw new SotraError('signing-key', `the signature just made does not verify (${reason}): it was not used`);
}

function refuseSigner(signerAddress: string, reason: string): Verdict {
  return { valid: false, signerAddress, reason };
}

async function verifyEvm({ chain, message, signature: given, signerAddress }: SignatureClaim): Promise<Verdict> {
  const signature = normalizeSignature(chain, given);
  if (!isEvmAddress(signerAddress))
    return refuseSigner(signerAddress, 'the signer is not an EVM address (0x and 40 hex digits)');
  if (!isHex(signature)) return refuseSigner(signerAddress, 'the signature is not 0x and hex digits');
  const recovered = await recoverAddress(message, signature);
  if (!recovered.ok) return refuseSigner(signerAddress, recovered.problem);
  const recoveredAddress = recovered.address;
  if (recoveredAddress.toLowerCase() === signerAddress.toLowerCase())
    return { valid: true, recoveredAddress, signerAddress };
  const reason = `over this text it is the signature of ${recoveredAddress}, not of ${signerAddress}`;
  return { valid: false, recoveredAddress, signerAddress, reason };
}

// Not viem's own types: the declarations of the package cannot name a dependency that it does not install.
type Hex = `0x${string}`;
type SignableMessage = string | { raw: Hex | Uint8Array };

const isHex = (text: string): text is Hex => /^0x([0-9a-fA-F]{2})*$/.test(text);

type RecoveredAddress = { ok: true; address: string } | { ok: false; problem: string };

/** The order of secp256k1. Source: SEC 2, section 2.4.1. */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * The address (with checksum) whose key signed a message by EIP-191 (`personal_sign`), strictly, where viem is not: 65 bytes, v 27 or 28, s in
 * its lower half.
 */
export async function recoverAddress(message: SignableMessage, signature: Hex): Promise<RecoveredAddress> {
  const refuse = (problem: string): RecoveredAddress => ({ ok: false, problem });
  const bytes = signature.length / 2 - 1;
  if (bytes !== 65) return refuse(`the signature has ${bytes} bytes, not 65`);
  const v = Number.parseInt(signature.slice(130), 16);
  if (v !== 27 && v !== 28) return refuse(`its last byte is ${v}, not 27 or 28`);
  const [r, s] = [BigInt(signature.slice(0, 66)), BigInt(`0x${signature.slice(66, 130)}`)];
  if (r === 0n || r >= order || s === 0n || s >= order) return refuse('r or s is outside the range of the curve');
  if (s > order / 2n) return refuse('s is in the upper half of its range (malleable)');
  return recoverMessageAddress({ message, signature }).then(
    (address) => ({ ok: true, address }),
    () => refuse('it recovers to no key'),
  );
}

function verifySolana({ message, signature, signerAddress, encoding }: SignatureClaim): Verdict {
  const address = plainAddress(signerAddress);
  const key = decodeBase58(address, 32);
  if (key === undefined) return refuseSigner(signerAddress, 'the signer is not a Solana address (32 bytes in base58)');
  const bytes = encoding === undefined ? decodeSignature(signature) : decodeBase58(signature, 64);
  if (bytes === undefined)
    return refuseSigner(signerAddress, `the signature is not ${encoding ?? 'base58, base64 or hex'} text of 64 bytes`);
  const problem = ed25519Problem(new TextEncoder().encode(message), bytes, key);
  if (problem !== undefined) return refuseSigner(signerAddress, problem);
  return { valid: true, recoveredAddress: address, signerAddress };
}

/** The bytes of a Solana signature in hex, base64 or base58: no text is two of them. */
function decodeSignature(text: string): Uint8Array | undefined {
  if (/^(0x)?[0-9a-fA-F]{128}$/.test(text)) return decodeHex(text);
  if (/^[A-Za-z0-9+/]{86}==$/.test(text)) return Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  return decodeBase58(text, 64);
}

/**
 * Whether bytes are a point of small order: under such a key a signature over one text is good for others too, so nobody's wallet is one (the
 * address of 32 ones is). Source: RFC 8032, section 8.4, and the strict verification of Solana's own library.
 */
function isSmallOrder(point: Uint8Array): boolean {
  return attempt(() => ed25519.Point.fromBytes(point, true).isSmallOrder()) === true;
}

/** What noble refuses by throwing, as `undefined`. */
function attempt<T>(compute: () => T): T | undefined {
  try {
    return compute();
  } catch {
    return undefined;
  }
}

/** Why a detached ed25519 signature is not good; `undefined` if it is. By noble, as tweetnacl takes an s above the order. */
export function ed25519Problem(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): string | undefined {
  if (signature.length !== 64) return `the signature has ${signature.length} bytes, not 64`;
  const s = BigInt(`0x${encodeHex(Uint8Array.from(signature.subarray(32)).reverse())}`);
  if (s >= ed25519.Point.Fn.ORDER) return 's is not below the order of the group (malleable)';
  if (isSmallOrder(publicKey) || isSmallOrder(signature.subarray(0, 32)))
    return 'the signer or R is a point of small order';
  const fits = attempt(() => ed25519.verify(signature, message, publicKey, { zip215: false }));
  return fits ? undefined : 'over this text it is not the signature of the signer';
}
