import { encodeHex, normalizeAddress } from '../api/address.ts';
import { findFamily, isChainName } from '../api/chain.ts';
import { isObject } from '../api/json.ts';
import { commentProblem, isServiceName, signedText, type TextFields, type TextForm } from '../api/signed-text.ts';
import { checkMadeSignature, type Verdict, verifySignature } from '../api/verify-signature.ts';
import { usageError } from '../errors.ts';
import { solanaKey } from '../keys/solana-key.ts';

export type { ErrorCode } from '../errors.ts';
export { SotraError } from '../errors.ts';
export type { TextFields, TextForm, Verdict };

/** The comment to sign, and the form of the service's texts. */
export interface CommentToSign extends TextFields {
  /** First word of the text; the service says which. */
  serviceName: string;
  /** Default `five-line`. */
  layout?: TextForm['layout'] | undefined;
}

/** A comment with its signature, as `client.comment.post` takes it. */
export interface SignedComment extends TextFields {
  signature: string;
  signerAddress: string;
}

/** An account of viem, or any other that signs messages by EIP-191. */
export interface AccountSigner {
  address: string;
  signMessage: (message: { message: string }) => Promise<string>;
}

/** A seed of ed25519 (32 bytes, or the 64 of a keypair that begins with it), for solana. */
export interface SeedSigner {
  seed: Uint8Array;
}

/** A wallet or a module that keeps its key. */
export interface BytesSigner {
  address: string;
  /** The signature over the bytes of the text, as bytes or text: for EVM chains 65 bytes by EIP-191 (`personal_sign`), for solana 64 of ed25519. */
  sign: (bytes: Uint8Array) => Promise<Uint8Array | string> | Uint8Array | string;
}

/**
 * The text that the author of a comment signs. Errors: SotraError `usage` for a field that does not fit its chain, naming the field and
 * its value.
 */
export function buildCommentText({ serviceName, layout = 'five-line', ...fields }: CommentToSign): string {
  if (typeof serviceName !== 'string' || !isServiceName(serviceName))
    throw usageError(`serviceName ${JSON.stringify(serviceName)}: must be one line of visible characters`);
  if (layout !== 'five-line' && layout !== 'blank-line')
    throw usageError(`layout ${JSON.stringify(layout)}: must be one of five-line, blank-line`);
  for (const field of ['chain', 'tokenAddress', 'transactionHash', 'commentText'] as const)
    if (typeof fields[field] !== 'string' || fields[field] === '')
      throw usageError(`${field} ${JSON.stringify(fields[field])}: must be non-empty text`);
  if (!isChainName(fields.chain))
    throw usageError(`chain ${JSON.stringify(fields.chain)}: must be the name of a chain, such as base`);
  const problem = commentProblem(fields);
  if (problem !== undefined) throw usageError(problem);
  return signedText(fields, { serviceName, layout });
}

/**
 * The comment, signed, and its signature verified. Errors: those of `buildCommentText`; SotraError
 * `signing-key` if the signature is not good for the address; errors of the signer.
 */
export async function signComment({
  signer,
  ...comment
}: CommentToSign & { signer: AccountSigner | SeedSigner | BytesSigner }): Promise<SignedComment> {
  const message = buildCommentText(comment);
  const { chain, tokenAddress, transactionHash, commentText } = comment;
  const { address, given } = await signWith(signer, message, chain);
  const made = given instanceof Uint8Array ? `0x${encodeHex(given)}` : String(given);
  const signature = await checkMadeSignature({ chain, message, signature: made, signerAddress: address });
  const token = normalizeAddress(tokenAddress);
  return { chain, tokenAddress: token, transactionHash, commentText, signature, signerAddress: address };
}

/** Whether a comment is signed by its `signerAddress`, strictly, and why not. Errors: those of `buildCommentText`. */
export async function verifyComment({
  signature,
  signerAddress,
  ...comment
}: CommentToSign & SignedComment): Promise<Verdict> {
  const message = buildCommentText(comment);
  const claim = { signature: String(signature), signerAddress: String(signerAddress) };
  return verifySignature({ chain: comment.chain, message, ...claim });
}

async function signWith(
  signer: AccountSigner | SeedSigner | BytesSigner,
  message: string,
  chain: string,
): Promise<{ address: string; given: Uint8Array | string }> {
  if (!['seed', 'signMessage', 'sign'].some((way) => isObject(signer) && way in signer))
    throw usageError('signer: must be an account of viem, {seed}, or {address, sign}');
  const isSolana = findFamily(chain) === 'solana';
  const bytes = new TextEncoder().encode(message);
  if ('seed' in signer) {
    if (!isSolana) throw usageError(`signer: a seed of ed25519 signs for solana, not for ${chain}`);
    if (!(signer.seed instanceof Uint8Array) || ![32, 64].includes(signer.seed.length))
      throw usageError('signer: seed must be 32 bytes, or the 64 of a keypair');
    const key = solanaKey(signer.seed.subarray(0, 32));
    const given = key.sign(bytes);
    key.wipe();
    return { address: key.address, given };
  }
  const address = String(signer.address);
  if ('signMessage' in signer) {
    if (isSolana) throw usageError('signer: signMessage signs by EIP-191; for solana give a seed or sign(bytes)');
    return { address, given: await signer.signMessage({ message }) };
  }
  return { address, given: await signer.sign(bytes) };
}
