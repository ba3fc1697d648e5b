import { signedText } from '../../api/signed-text.ts';
import { type Verdict, verifySignature } from '../../api/verify-signature.ts';
import { flagWords, shellLine } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { errorExitCodes } from '../../errors.ts';
import { writeSecretFile } from '../../keys/keystore.ts';
import { confirmReplace } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/result.ts';
import { inSlices } from '../../lib/output/view.ts';
import { showPreviews, warnOfText } from './preview.ts';
import {
  type CommentInput,
  type FormInput,
  missingComment,
  readComment,
  readCommentFile,
  readSignedFile,
  readTextForm,
  type SignedComment,
} from './read-comment.ts';
import { chooseSigning, commonFamily, type WayInput, withSigner } from './signer.ts';
import { sign as view } from './view.ts';

interface SignInput extends CommentInput, FormInput, WayInput {
  file?: string | undefined;
  out?: string | undefined;
}

/** One signed comment, many with `--file`, or with `--dry-run` what would be signed. */
export async function runSign(input: SignInput, context: Context): Promise<Result> {
  const { file, textFile, out } = input;
  const { dryRun } = context.options;
  const isMany = file !== undefined;
  const lines = isMany
    ? await readCommentFile(file, context)
    : [{ line: 1, fields: await readComment(input, context) }];
  const form = await readTextForm(input, context);
  commonFamily(lines);
  if (dryRun && out !== undefined) context.note(`Would sign and write to ${out}.`);
  if (dryRun) return showPreviews(lines, form, context, isMany);
  const stdinUse = file === '-' ? '--file -' : textFile === '-' ? '--text-file -' : undefined;
  const signing = await chooseSigning({ lines, form, purpose: 'sign', way: input }, stdinUse, context);
  if (out !== undefined) await confirmReplace('--out', out, context);
  for (const { line, fields } of lines) warnOfText(fields.commentText, context, isMany ? `line ${line}: ` : '');
  const signed = await withSigner(signing, context, async (signer) => {
    const done: SignedComment[] = [];
    for (const { fields } of lines) done.push(await signer.sign(fields));
    return done;
  });
  if (out === undefined)
    return isMany ? { kind: 'items', batches: inSlices(signed), view } : { kind: 'answer', answer: signed[0] };
  const texts = signed.map((each) => `${isMany ? JSON.stringify(each) : JSON.stringify(each, null, 2)}\n`);
  writeSecretFile(out, texts.join(''), { exclusive: false });
  const [what, flag] =
    signed.length === 1 ? ['the signed comment', '--signed'] : [`${signed.length} signed comments`, '--file'];
  context.note(`Wrote ${what} to ${out}. To post: sotra comment post ${shellLine(flagWords(flag, out))}`);
  return { kind: 'none' };
}

interface VerifyInput extends CommentInput, FormInput {
  signature?: string | undefined;
  signer?: string | undefined;
  signed?: string | undefined;
}

export async function runVerify(input: VerifyInput, context: Context): Promise<Result> {
  const { signed } = input;
  const answer = signed === undefined ? await verifyTyped(input, context) : await verifyFile(input, signed, context);
  return { kind: 'answer', answer, exitCode: answer.valid ? 0 : errorExitCodes.verification };
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
  const signed = await readSignedFile(file, context);
  const { serviceName = signed.serviceName, layout = signed.layout } = input;
  warnOfText(signed.commentText, context);
  if (signedText(signed, { serviceName, layout }) === signed.message) return verifySignature(signed);
  return { valid: false, signerAddress: signed.signerAddress, reason: 'the message does not match the fields' };
}
