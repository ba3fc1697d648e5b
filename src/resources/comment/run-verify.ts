import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { exitCodeOf, missingInputs } from '../../errors.ts';
import type { CommentInput, FormInput } from './params.ts';
import { oddities } from './preview.ts';
import { neededFor, readComment, readForm } from './read-comment.ts';
import { readSignedFile } from './read-signed.ts';
import { signedText } from './signing.ts';
import { type Claim, type Verdict, verifySignature } from './verify.ts';
import type { Encoding } from './verify-forms.ts';
import { verify as view } from './view.ts';

interface VerifyInput extends CommentInput, FormInput {
  signature?: string | undefined;
  signer?: string | undefined;
  encoding?: Encoding | undefined;
  signed?: string | undefined;
}

/** Yes or no with the address that signed; exit 12 for no. */
export async function runVerify(input: VerifyInput, context: Context): Promise<Result> {
  const verdict =
    input.signed === undefined ? await verifyTyped(input, context) : await verifyFile(input, input.signed, context);
  return { kind: 'answer', answer: verdict, view, exitCode: verdict.valid ? 0 : exitCodeOf.verification };
}

async function verifyTyped(input: VerifyInput, context: Context): Promise<Verdict> {
  const { signature, signer } = input;
  if (signature === undefined || signer === undefined)
    throw missingInputs([
      ...neededFor(input),
      { label: '--signature', help: 'the signature, or --signed <file>', value: signature },
      { label: '--signer', help: 'the address that signed', value: signer },
    ]);
  const fields = await readComment(input, context);
  const form = await readForm(input, context);
  warnOfText(fields.commentText, context);
  return verifySignature(claimOf(fields.chain, signedText(fields, form), signature, signer, input.encoding));
}

function warnOfText(commentText: string, { warn }: Context): void {
  for (const warning of oddities(commentText)) warn(warning);
}

function claimOf(
  chain: string,
  message: string,
  signature: string,
  signerAddress: string,
  encoding: Encoding | undefined,
): Claim {
  return { chain, message, signature, signerAddress, ...(encoding === undefined ? {} : { encoding }) };
}

async function verifyFile(input: VerifyInput, file: string, context: Context): Promise<Verdict> {
  const signed = await readSignedFile(file, context);
  const { chain, message, signature, signerAddress, layout, serviceName } = signed;
  const form = { layout: input.layout ?? layout, serviceName: input.serviceName ?? serviceName };
  warnOfText(signed.commentText, context);
  if (signedText(signed, form) !== message)
    return { valid: false, signerAddress, reason: 'the message is not the text that the fields make' };
  return verifySignature(claimOf(chain, message, signature, signerAddress, input.encoding));
}
