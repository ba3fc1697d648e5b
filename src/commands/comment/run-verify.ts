import { signedText } from '../../api/signed-text.ts';
import { type Verdict, verifySignature } from '../../api/verify-signature.ts';
import type { Context } from '../../context.ts';
import { errorExitCodes, usageError } from '../../errors.ts';
import type { Result } from '../../lib/output/result.ts';
import { warnOfText } from './preview.ts';
import {
  type CommentInput,
  type FormInput,
  hasComment,
  missingComment,
  neededFor,
  readComment,
  readTextForm,
} from './read-comment.ts';
import { readSignedFile } from './signed.ts';
import { verify as view } from './view.ts';

interface VerifyInput extends CommentInput, FormInput {
  signature?: string | undefined;
  signer?: string | undefined;
  signed?: string | undefined;
}

export async function runVerify(input: VerifyInput, context: Context): Promise<Result> {
  const verdict =
    input.signed === undefined ? await verifyTyped(input, context) : await verifyFile(input, input.signed, context);
  return {
    kind: 'answer',
    answer: verdict,
    view,
    exitCode: verdict.valid ? 0 : errorExitCodes.verification,
  };
}

async function verifyTyped(input: VerifyInput, context: Context): Promise<Verdict> {
  const { signature, signer } = input;
  if (signature === undefined || signer === undefined)
    throw missingComment([
      ...neededFor(input),
      { label: '--signature', help: 'the signature, or --signed <file>', value: signature },
      { label: '--signer', help: 'the address that signed', value: signer },
    ]);
  const fields = await readComment(input, context);
  const message = signedText(fields, await readTextForm(input, context));
  warnOfText(fields.commentText, context);
  return verifySignature({ chain: fields.chain, message, signature, signerAddress: signer });
}

async function verifyFile(input: VerifyInput, file: string, context: Context): Promise<Verdict> {
  if (hasComment(input) || input.signature !== undefined || input.signer !== undefined)
    throw usageError(
      '--signed reads everything from the file: omit --chain, --tx, --token, --text, --signature and --signer',
    );
  const signed = await readSignedFile(file, context);
  const { message, signerAddress, layout, serviceName } = signed;
  const form = { layout: input.layout ?? layout, serviceName: input.serviceName ?? serviceName };
  warnOfText(signed.commentText, context);
  if (signedText(signed, form) !== message)
    return { valid: false, signerAddress, reason: 'the message does not match the fields' };
  return verifySignature(signed);
}
