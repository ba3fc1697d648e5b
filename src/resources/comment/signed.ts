import { z } from 'zod';
import { SotraError } from '../../errors.ts';
import { chainSchema } from '../../model/chain.ts';
import { commentTextSchema } from './endpoints.ts';
import { signedText, signedToken, type TextFields, type TextForm } from './signing.ts';
import { fieldProblem, isServiceName } from './swap-fields.ts';
import { verifySignature } from './verify.ts';
import type { Encoding } from './verify-forms.ts';

/** What `comment sign` gives: the text, what it was made of, and the signature over it. */
export interface SignedComment extends TextFields, TextForm {
  message: string;
  signature: string;
  signerAddress: string;
}

/** A key that can sign; `forget` wipes it from memory as far as its library allows. */
export interface Signer {
  address: string;
  sign: (message: string) => Promise<string>;
  forget: () => void;
}

/**
 * The fields as a signed comment, its signature checked by other code than made it. Errors: `signing-key` when that check fails.
 */
export async function signComment(
  fields: TextFields,
  { serviceName, layout }: TextForm,
  { signer, encoding }: { signer: Signer; encoding?: Encoding | undefined },
): Promise<SignedComment> {
  const message = signedText(fields, { serviceName, layout });
  const signature = await signer.sign(message);
  const signerAddress = signer.address;
  const verdict = verifySignature({ chain: fields.chain, message, signature, signerAddress, encoding });
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
  layout: z.enum(['five-line', 'blank-line']),
  serviceName: z.string(),
  chain: chainSchema,
  tokenAddress: z.string(),
  transactionHash: z.string(),
  commentText: commentTextSchema,
  signature: z.string(),
  signerAddress: z.string(),
});

/** The signed comment that a JSON value is, or the name of the field that is missing or wrong. */
export function readSigned(value: unknown): { ok: true; signed: SignedComment } | { ok: false; problem: string } {
  const checked = signedSchema.safeParse(value);
  if (checked.success) return { ok: true, signed: checked.data };
  const issue = checked.error.issues[0];
  return { ok: false, problem: `${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'not a signed comment'}` };
}

/** Why a signed comment must not be sent: its text is not that of its fields, or its signature is not good. */
export function signedProblem(signed: SignedComment): string | undefined {
  const wrong = fieldProblem(signed);
  if (wrong !== undefined) return `its ${wrong.field} does not fit: ${wrong.problem}`;
  if (!isServiceName(signed.serviceName)) return 'its serviceName is not one line that can be seen';
  if (signed.message !== signedText(signed, signed)) return 'its message is not the text that its fields make';
  if (signed.tokenAddress !== signedToken(signed.tokenAddress)) return 'its tokenAddress is not lowercase';
  const verdict = verifySignature(signed);
  return verdict.valid ? undefined : verdict.reason;
}
