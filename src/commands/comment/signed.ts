import { z } from 'zod';
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
import type { Signer } from '../../keys/signer.ts';
import { readText } from '../../lib/files/source.ts';

/** The output of `comment sign`: the text, the fields that it was made from, and the signature. */
export interface SignedComment extends TextFields, TextForm {
  message: string;
  signature: string;
  signerAddress: string;
}

/** Signs a comment, and verifies the signature. Errors: `signing-key` if that check fails. */
export async function makeSignedComment(
  { chain, tokenAddress, transactionHash, commentText }: TextFields,
  { serviceName, layout }: TextForm,
  signer: Omit<Signer, 'wipe'>,
): Promise<SignedComment> {
  const fields = { chain, tokenAddress: signedToken(tokenAddress), transactionHash, commentText };
  const message = signedText(fields, { serviceName, layout });
  const signature = normalizeSignature(chain, await signer.sign(message));
  const signerAddress = signer.address;
  const verdict = await verifySignature({ chain, message, signature, signerAddress });
  if (!verdict.valid)
    throw new SotraError('signing-key', `the signature just made does not verify (${verdict.reason}): it was not used`);
  return { message, layout, serviceName, ...fields, signature, signerAddress };
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

/** A JSON value as data of a schema, or which field is missing or wrong. */
export function readFields<T>(schema: z.ZodType<T>, value: unknown): { data: T } | { problem: string } {
  if (!isObject(value)) return { problem: 'is not a JSON object' };
  const { success, data, error } = schema.safeParse(value);
  if (success) return { data };
  const [issue] = error.issues;
  const field = String(issue?.path[0]);
  if (value[field] === undefined) return { problem: `${field} is missing` };
  return { problem: `${field} ${JSON.stringify(value[field])}: ${issue?.message}` };
}

/** The signed comment in a JSON value, or which field is missing or wrong. */
export const readSigned = (value: unknown) => readFields<SignedComment>(signedSchema, value);

/** Why a signed comment must not be sent: its text does not match its fields, or its signature is not valid. */
export async function signedProblem(signed: SignedComment): Promise<string | undefined> {
  const wrong = fieldProblem(signed);
  if (wrong !== undefined) return `its ${wrong.field} is wrong: ${wrong.problem}`;
  if (!isServiceName(signed.serviceName)) return 'its serviceName must be one line of visible characters';
  if (signed.message !== signedText(signed, signed)) return 'its message does not match its fields';
  if (signed.tokenAddress !== signedToken(signed.tokenAddress)) return 'its tokenAddress is not lowercase';
  // The service accepts only base58 on solana.
  const verdict = await verifySignature({ ...signed, encoding: 'base58' });
  return verdict.valid ? undefined : verdict.reason;
}

/** Errors: `usage` for a comment that was signed for another service name or layout. */
export function checkForm(name: string, signed: SignedComment, { serviceName, layout }: TextForm): void {
  if (signed.serviceName === serviceName && signed.layout === layout) return;
  throw usageError(
    `${name} is signed for service ${signed.serviceName} in the ${signed.layout} layout, not for ${serviceName} in ${layout}`,
    'Sign it again for this service, or post it with the --service-name and --layout that it was signed with.',
  );
}

/** The signed comment in a file that `comment sign --out` wrote, its signature not yet checked. Errors: `local-file`, `usage`. */
export async function readSignedFile(file: string, { io }: Context): Promise<SignedComment> {
  const text = await readText(file, io);
  const name = file === '-' ? 'stdin' : file;
  const hint = `Write it with sotra comment sign --out <file>. To post many: --file ${file}.`;
  const read = readSigned(tryParseJson(text));
  if ('data' in read) return read.data;
  throw usageError(`${name}: ${read.problem}`, hint);
}
