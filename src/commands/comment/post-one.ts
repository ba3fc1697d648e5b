import { post } from '../../api/comment.ts';
import { showUnseen } from '../../api/safe-text.ts';
import { signedText, type TextForm } from '../../api/signed-text.ts';
import { verifySignature } from '../../api/verify-signature.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { keySources } from '../../keys/open-key.ts';
import { confirm } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/result.ts';
import { chooseSwap } from './find-swap.ts';
import { withSigner } from './open-signer.ts';
import { describePreview, previewText, showPreviews, warnOfText } from './preview.ts';
import { type CommentInput, type FormInput, hasComment, readComment, readTextForm } from './read-comment.ts';
import { makeBody, nameDestination, type SendableComment, sendComment } from './send-comment.ts';
import { checkForm, readSignedFile, signedProblem } from './signed.ts';
import { checkPageFlags, chooseSigning, type WayInput } from './signing.ts';
import { post as view } from './view.ts';

export interface PostInput extends CommentInput, FormInput, WayInput {
  signature?: string | undefined;
  signed?: string | undefined;
  file?: string | undefined;
  last?: boolean | undefined;
}

/** A comment ready to be sent, with the form of its text if it is known. */
interface PreparedComment {
  comment: SendableComment;
  form: TextForm | undefined;
}

/** Posts one comment: signed here, elsewhere or in a file. */
export async function postOne(input: PostInput, context: Context): Promise<Result> {
  checkWays(input);
  if (input.signed !== undefined) return finishPost(await prepareFile(input, input.signed, context), context);
  if (input.signature !== undefined)
    return finishPost(await prepareSignature(input, input.signature, context), context);
  return signAndPost(input, context);
}

async function signAndPost(input: PostInput, context: Context): Promise<Result> {
  const stdinUse = input.textFile === '-' ? '--text-file -' : undefined;
  const way = await chooseSwap(input, stdinUse, context);
  const fields = await readComment(way, context);
  const form = await readTextForm(input, context);
  await context.client.requireKey();
  const { dryRun, curl } = context.options;
  const lines = [{ line: 1, fields }];
  const signing = await chooseSigning({ lines, form, purpose: curl ? 'show' : 'post', way }, stdinUse, context);
  const { browser = false, signerCommand } = signing.way;
  if (dryRun && !curl && (browser || signerCommand !== undefined)) return showPreviews(lines, form, context, false);
  return withSigner(signing, context, async (signer) => {
    const comment = await signer.sign(fields);
    return finishPost({ comment, form }, context, { isConfirmed: browser });
  });
}

/** Errors: `usage` for a comment that is given or signed in more than one way. */
export function checkWays(input: PostInput): void {
  checkPageFlags(input);
  const ways = (['signature', 'signed', 'file'] as const).filter((way) => input[way] !== undefined);
  const [way, other] = ways.map((name) => `--${name}`).concat(input.file === undefined ? keySources(input) : []);
  if (ways.length > 0 && other !== undefined)
    throw usageError(`${way} and ${other} contradict each other`, 'Post a signed comment, or sign with a key.');
  if (ways.length > 0 && input.last === true)
    throw usageError(`${way} and --last contradict each other`, 'Name the swap, or sign with a key.');
  if ((way === '--signed' || way === '--file') && hasComment(input))
    throw usageError(`${way} reads the comment from the file: omit --chain, --tx, --token and --text`);
}

/** A comment that was signed elsewhere is sent unchanged, but the user should know if its signature is not valid. */
async function prepareSignature(input: PostInput, signature: string, context: Context): Promise<PreparedComment> {
  const fields = await readComment(input, context);
  if (input.signer === undefined) throw usageError('--signer is required with --signature: the address that signed');
  const comment = { ...fields, signature, signerAddress: input.signer };
  const form = await readTextForm(input, context).catch((thrown: unknown) => {
    if (input.serviceName !== undefined) throw thrown;
    return undefined;
  });
  if (form === undefined) return { comment, form };
  const { valid, reason } = await verifySignature({ ...comment, message: signedText(comment, form) });
  if (!valid)
    context.warn(`the signature does not match the ${form.layout} text of service ${form.serviceName}: ${reason}`);
  return { comment, form };
}

async function prepareFile(input: PostInput, file: string, context: Context): Promise<PreparedComment> {
  const signed = await readSignedFile(file, context);
  const problem = await signedProblem(signed);
  if (problem !== undefined) throw new SotraError('verification', `${file} was not posted: ${problem}`);
  checkForm(file, signed, await readTextForm(input, context, signed));
  return { comment: signed, form: signed };
}

async function finishPost(prepared: PreparedComment, context: Context, { isConfirmed = false } = {}): Promise<Result> {
  const { comment } = prepared;
  warnOfText(comment.commentText, context);
  if (context.options.preview) return showRequest(prepared, context);
  if (!isConfirmed) {
    await context.client.requireKey();
    await confirmPost(prepared, context);
  }
  const { comment: answer, ...more } = await sendComment(comment, context);
  return { kind: 'answer', answer, view, ...more };
}

async function confirmPost({ comment, form }: PreparedComment, context: Context): Promise<void> {
  if (context.io.in.isTTY !== true || context.options.yes) return;
  const where = nameDestination(await context.config.service());
  const text = form === undefined ? '' : describePreview(previewText(comment, form), context.io.err);
  await confirm(`post this comment to ${where}`, context, `${text}Signer: ${showUnseen(comment.signerAddress)}\n`);
}

async function showRequest({ comment, form }: PreparedComment, context: Context): Promise<Result> {
  const request = await context.client.previewCall(post, makeBody(comment));
  const preview = form && previewText(comment, form);
  const { signerAddress } = comment;
  const lines = preview ? `${describePreview(preview, context.io.out)}\n` : '';
  const text = `${lines}Signer: ${showUnseen(signerAddress)}\n\n`;
  return { kind: 'request', request, text, facts: { ...preview, signerAddress } };
}
