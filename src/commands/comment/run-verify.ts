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
  const { signed } = input;
  const answer = signed === undefined ? await verifyTyped(input, context) : await verifyFile(input, signed, context);
  return { kind: 'answer', answer, view, exitCode: answer.valid ? 0 : errorExitCodes.verification };
}

async function verifyTyped(input: VerifyInput, context: Context): Promise<Verdict> {
  const { signature, signer } = input;
  if (signature === undefined || signer === undefined)
    throw missingComment(
      input,
      { label: '--signature', help: 'the signature, or --signed <file>', value: signature },
      { label: '--signer', help: 'the address that signed', value: signer },
    );
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
  const { serviceName = signed.serviceName, layout = signed.layout } = input;
  warnOfText(signed.commentText, context);
  if (signedText(signed, { serviceName, layout }) === signed.message) return verifySignature(signed);
  return { valid: false, signerAddress: signed.signerAddress, reason: 'the message does not match the fields' };
}
