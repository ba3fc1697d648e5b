import { findFamily } from '../../api/chain.ts';
import { post } from '../../api/comment.ts';
import { showUnseen } from '../../api/safe-text.ts';
import { signedText, type TextFields, type TextForm } from '../../api/signed-text.ts';
import { verifySignature } from '../../api/verify-signature.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { keySources, withSigner } from '../../keys/open-key.ts';
import type { Signer } from '../../keys/signer.ts';
import { confirm } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/result.ts';
import { chooseSwap } from './find-swap.ts';
import { describePreview, previewText, warnOfText } from './preview.ts';
import { type CommentInput, type FormInput, hasComment, readComment, readTextForm } from './read-comment.ts';
import { showPreviews } from './run-sign.ts';
import { makeBody, type SendableComment, sendComment } from './send-comment.ts';
import {
  checkPageFlags,
  chooseSigner,
  makeSignedComment,
  readSignedFile,
  signedProblem,
  type WayInput,
} from './signed.ts';
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
export async function postOne(typed: PostInput, context: Context): Promise<Result> {
  checkWays(typed);
  const stdinUse = typed.textFile === '-' ? '--text-file -' : undefined;
  const input = typed.signature === undefined ? await chooseSwap(typed, stdinUse, context) : typed;
  if (input.signed !== undefined) return finishPost(await prepareFile(input, input.signed, context), context);
  const fields = await readComment(input, context);
  if (input.signature !== undefined)
    return finishPost(await prepareSignature(fields, input.signature, input, context), context);
  const form = await readTextForm(input, context);
  await context.client.requireKey();
  const family = findFamily(fields.chain);
  const way = await chooseSigner(input, { family, stdinUse }, context);
  const { dryRun, curl } = context.options;
  const lines = [{ line: 1, fields }];
  if (dryRun && !curl && (way.browser || way.signerCommand !== undefined))
    return showPreviews(lines, form, context, false);
  const signNow = async (signer: Signer) => ({ comment: await makeSignedComment(fields, form, signer), form });
  if (!way.browser)
    return finishPost(await withSigner(way, { family, expected: input.signer }, context, signNow), context);
  const { signInBrowser } = await import('./browser-wallet.ts');
  const purpose = curl ? 'show' : 'post';
  return signInBrowser({ lines, form, family, purpose, input: way }, context, async (wallet) =>
    finishPost(await signNow(wallet), context, { isConfirmed: true }),
  );
}

async function finishPost(
  { comment, form }: PreparedComment,
  context: Context,
  { isConfirmed = false } = {},
): Promise<Result> {
  warnOfText(comment.commentText, context);
  if (context.options.preview) return showRequest(comment, form, context);
  if (!isConfirmed) {
    await context.client.requireKey();
    await confirmPost(comment, form, context);
  }
  const { comment: answer, ...more } = await sendComment(comment, context);
  return { kind: 'answer', answer, view, ...more };
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

async function prepareSignature(
  fields: TextFields,
  signature: string,
  input: PostInput,
  context: Context,
): Promise<PreparedComment> {
  if (input.signer === undefined) throw usageError('--signer is required with --signature: the address that signed');
  const comment = { ...fields, signature, signerAddress: input.signer };
  const form = await readTextForm(input, context).catch((thrown: unknown) => {
    if (input.serviceName !== undefined) throw thrown;
    return undefined;
  });
  if (form !== undefined) await warnOfSignature(comment, form, context);
  return { comment, form };
}

/** A signature made elsewhere is sent unchanged, but the user should know if it is not valid. */
async function warnOfSignature(comment: SendableComment, form: TextForm, { warn }: Context): Promise<void> {
  const verdict = await verifySignature({ ...comment, message: signedText(comment, form) });
  if (!verdict.valid)
    warn(`the signature does not match the ${form.layout} text of service ${form.serviceName}: ${verdict.reason}`);
}

async function prepareFile(input: PostInput, file: string, context: Context): Promise<PreparedComment> {
  const signed = await readSignedFile(file, context);
  const problem = await signedProblem(signed);
  if (problem !== undefined) throw new SotraError('verification', `${file} was not posted: ${problem}`);
  if (!(await verifySignature({ ...signed, encoding: 'base58' })).valid)
    context.warn('the signature is not base58; the service accepts only base58');
  const { serviceName, layout } = await context.config.service();
  const form = { serviceName: input.serviceName ?? serviceName ?? signed.serviceName, layout: input.layout ?? layout };
  if (form.serviceName !== signed.serviceName || form.layout !== signed.layout)
    throw usageError(
      `${file} is signed for service ${signed.serviceName} in the ${signed.layout} layout, not for ${form.serviceName} in ${form.layout}`,
      'Sign it again for this service, or post it with the --service-name and --layout that it was signed with.',
    );
  return { comment: signed, form: signed };
}

async function confirmPost(comment: SendableComment, form: TextForm | undefined, context: Context): Promise<void> {
  if (context.io.in.isTTY !== true || context.options.yes) return;
  const { baseUrl, kind } = await context.config.service();
  const where = kind === 'sandbox' ? 'the sandbox' : new URL(baseUrl).origin;
  const text = form === undefined ? '' : describePreview(previewText(comment, form), context.io.err);
  await confirm(`post this comment to ${where}`, context, `${text}Signer: ${showUnseen(comment.signerAddress)}\n`);
}

async function showRequest(comment: SendableComment, form: TextForm | undefined, context: Context): Promise<Result> {
  const request = await context.client.previewCall(post, makeBody(comment));
  const preview = form && previewText(comment, form);
  const { signerAddress } = comment;
  const lines = preview ? `${describePreview(preview, context.io.out)}\n` : '';
  const text = `${lines}Signer: ${showUnseen(signerAddress)}\n\n`;
  return { kind: 'request', request, text, facts: { ...preview, signerAddress } };
}
