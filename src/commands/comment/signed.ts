import { z } from 'zod';
import { isEvmAddress, isSolanaAddress, plainAddress } from '../../api/address.ts';
import type { ChainFamily } from '../../api/chain.ts';
import { commentTextKind } from '../../api/comment.ts';
import { chainKind, layouts } from '../../api/formats.ts';
import { isObject, tryParseJson } from '../../api/json.ts';
import { kindSchema } from '../../api/kind-schema.ts';
import {
  fieldProblem,
  isServiceName,
  normalizeSignature,
  signedText,
  signedToken,
  type TextFields,
  type TextForm,
} from '../../api/signed-text.ts';
import { verifySignature } from '../../api/verify-signature.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { askKey, checkKeySource, type KeyInput, keySources } from '../../keys/open-key.ts';
import type { Signer } from '../../keys/signer.ts';
import { readText } from '../../lib/files/source.ts';
import { mayAsk } from '../../lib/output/confirm.ts';
import type { PageInput } from '../../pages/show-address.ts';

/** The output of `comment sign`: the text, the fields that it was made from, and the signature. */
export interface SignedComment extends TextFields, TextForm {
  message: string;
  signature: string;
  signerAddress: string;
}

/** Signs a comment, and verifies the signature. Errors: `signing-key` if that check fails. */
export async function makeSignedComment(
  fields: TextFields,
  { serviceName, layout }: TextForm,
  signer: Signer,
): Promise<SignedComment> {
  const message = signedText(fields, { serviceName, layout });
  const signature = normalizeSignature(fields.chain, await signer.sign(message));
  const signerAddress = signer.address;
  const verdict = await verifySignature({ chain: fields.chain, message, signature, signerAddress });
  if (!verdict.valid)
    throw new SotraError('signing-key', `the signature just made does not verify (${verdict.reason}): it was not used`);
  return {
    message,
    layout,
    serviceName,
    chain: fields.chain,
    tokenAddress: signedToken(fields.tokenAddress),
    transactionHash: fields.transactionHash,
    commentText: fields.commentText,
    signature,
    signerAddress,
  };
}

const signedSchema = z.looseObject({
  message: z.string(),
  layout: z.enum(layouts),
  serviceName: z.string(),
  chain: kindSchema(chainKind),
  tokenAddress: z.string(),
  transactionHash: z.string(),
  commentText: kindSchema(commentTextKind),
  signature: z.string(),
  signerAddress: z.string(),
});

/** The signed comment in a JSON value, or which field is missing or wrong. */
export function readSigned(value: unknown): { ok: true; signed: SignedComment } | { ok: false; problem: string } {
  const checked = signedSchema.safeParse(value);
  if (checked.success) return { ok: true, signed: checked.data };
  if (!isObject(value)) return { ok: false, problem: 'it is not a JSON object' };
  const field = String(checked.error.issues[0]?.path[0]);
  return { ok: false, problem: value[field] === undefined ? `${field} is missing` : `${field} is not valid` };
}

/** Why a signed comment must not be sent: its text does not match its fields, or its signature is not valid. */
export async function signedProblem(signed: SignedComment): Promise<string | undefined> {
  const wrong = fieldProblem(signed);
  if (wrong !== undefined) return `its ${wrong.field} is wrong: ${wrong.problem}`;
  if (!isServiceName(signed.serviceName)) return 'its serviceName must be one line of visible characters';
  if (signed.message !== signedText(signed, signed)) return 'its message does not match its fields';
  if (signed.tokenAddress !== signedToken(signed.tokenAddress)) return 'its tokenAddress is not lowercase';
  const verdict = await verifySignature(signed);
  return verdict.valid ? undefined : verdict.reason;
}

/** The signed comment in a file that `comment sign --out` wrote, its signature not yet checked. Errors: `local-file`, `usage`. */
export async function readSignedFile(file: string, { io }: Context): Promise<SignedComment> {
  const text = await readText(file, io);
  const name = file === '-' ? 'stdin' : file;
  const hint = 'It is written by sotra comment sign --out <file>.';
  const value = tryParseJson(text);
  if (value === undefined) {
    const [first = '', ...rest] = text.trim().split('\n');
    if (rest.length > 0 && tryParseJson(first) !== undefined)
      throw usageError(`${name} holds several comments`, `Post them with --file ${file}.`);
    throw usageError(`${name} is not JSON`, hint);
  }
  const read = readSigned(value);
  if (read.ok) return read.signed;
  throw usageError(`${name} is not a signed comment: ${read.problem}`, hint);
}

/** How to sign: with a key, a command or a browser wallet. */
export interface WayInput extends KeyInput, PageInput {
  signer?: string | undefined;
}

const orBrowser = ' Or sign with a wallet: --browser.';
const offer = 'Press Enter to sign with your wallet in the browser, or type the key.\n';

/** Errors: `usage` for options of the page without `--browser`. */
export function checkPageFlags({ browser, open, readyFile }: WayInput): void {
  const [flag] = [...(open ? ['--open'] : []), ...(readyFile === undefined ? [] : ['--ready-file'])];
  if (flag !== undefined && !browser) throw usageError(`${flag} needs --browser`, 'Omit it, or add --browser.');
}

/** Errors: `usage` for an address of the other kind of chain. */
function checkSigner(signer: string | undefined, family: ChainFamily): void {
  if (signer === undefined || (family === 'evm' ? isEvmAddress(signer) : isSolanaAddress(plainAddress(signer)))) return;
  const form = family === 'evm' ? 'an EVM address (0x and 40 hex digits)' : 'a Solana address (32 bytes in base58)';
  throw usageError(`--signer ${signer}: must be ${form} on this chain`);
}

/**
 * The input with one way to sign. If it names none, a terminal asks: Enter opens the browser. Errors: `usage` for none or several, and for a
 * second use of stdin.
 */
export async function chooseSigner<Input extends WayInput>(
  input: Input,
  { family, stdinUse }: { family: ChainFamily; stdinUse: string | undefined },
  context: Context,
): Promise<Input> {
  checkKeySource(input, context, stdinUse, orBrowser);
  if (input.signerCommand !== undefined && input.signer === undefined)
    throw usageError('--signer-command needs --signer', 'Add --signer <address>: the address that it signs for.');
  if (input.browser || input.signerCommand !== undefined) checkSigner(input.signer, family);
  if (keySources(input).length > 0 || !mayAsk(context)) return input;
  const typed = await askKey(family, context, offer);
  return typed === '' ? { ...input, browser: true, open: true } : { ...input, typed };
}
