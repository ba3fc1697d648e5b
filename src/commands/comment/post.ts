import { post } from '../../api/comment.ts';
import { showUnseen } from '../../api/safe-text.ts';
import { signedText, type TextForm } from '../../api/signed-text.ts';
import { verifySignature } from '../../api/verify-signature.ts';
import type { Context } from '../../context.ts';
import { type ErrorCode, orUndefined, SotraError, usageError, writeMessage } from '../../errors.ts';
import { keySources } from '../../keys/open-key.ts';
import { confirm } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/view.ts';
import { chooseSwap } from './find-swap.ts';
import { describePreview, previewText, showPreviews, warnOfText } from './preview.ts';
import {
  type CommentInput,
  type CommentLine,
  checkForm,
  type FormInput,
  readComment,
  readCommentFile,
  readSignedFile,
  readTextForm,
  signedProblem,
} from './read-comment.ts';
import { findSignedComment, makeBody, nameDestination, type SendableComment, sendComment } from './send-comment.ts';
import { type CommentSigner, chooseSigning, openSigner, type Signing, type WayInput, withSigner } from './sign.ts';
import { type PostResult, postMany as view } from './view.ts';

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

/** A comment that was signed elsewhere is sent unchanged, but the user should know if its signature is not valid. */
async function prepareSignature(input: PostInput, signature: string, context: Context): Promise<PreparedComment> {
  const fields = await readComment(input, context);
  const comment = { ...fields, signature, signerAddress: input.signer ?? '' };
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
  return { kind: 'answer', answer, ...more };
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

/** Errors about one comment: the next one may be accepted. */
const refusals: readonly ErrorCode[] = ['bad-request', 'conflict', 'not-found', 'too-large', 'request-refused'];
/** One or two screens; --dry-run shows all. */
const maxPreviews = 10;

/**
 * Posts the comments of a file in order and skips those that the service already has. Errors: `partial` if some were refused, or
 * after some were posted.
 */
export async function postMany(input: PostInput & { file: string }, context: Context): Promise<Result> {
  const { curl, preview } = context.options;
  if (curl) throw usageError('--curl shows one request, and --file posts many', 'Give one comment with --text.');
  const lines = await readCommentFile(input.file, context);
  await context.client.requireKey();
  const unsigned = lines.filter(({ signed }) => signed === undefined);
  const form = await readTextForm(input, context, lines.find(({ signed }) => signed)?.signed);
  for (const { line, signed } of lines) if (signed !== undefined) checkForm(`line ${line}`, signed, form);
  const stdinUse = input.file === '-' ? '--file -' : undefined;
  const toSign = { lines: unsigned, form, purpose: 'post', way: input } as const;
  const signing = unsigned.length === 0 ? undefined : await chooseSigning(toSign, stdinUse, context);
  const [unused] = signing === undefined ? keySources(input) : [];
  if (unused !== undefined) throw usageError(`${unused} is not needed: every line is already signed`, 'Omit it.');
  if (preview) return showPreviews(lines, form, context, true);
  for (const { line, fields } of lines) warnOfText(fields.commentText, context, `line ${line}: `);
  return { kind: 'items', batches: postAll(lines, form, signing, context), view, live: true };
}

async function* postAll(
  lines: readonly CommentLine[],
  form: TextForm,
  signing: Signing | undefined,
  context: Context,
): AsyncGenerator<readonly PostResult[]> {
  const done: PostResult[] = [];
  const signer = signing === undefined ? noSigner : await openSigner(signing, context);
  let ended: unknown = new SotraError('interrupted', 'stopped: the output was closed');
  try {
    if (!signing?.way.browser) await confirmAll(lines, form, signer, context);
    for (const each of lines) {
      const result = await postLine(each, signer, context).catch((thrown: unknown) => {
        throw stoppedError(thrown, each.line, done, lines.length);
      });
      signer.show(each.line, result.reason === undefined ? result.result : `refused: ${result.reason}`);
      done.push(result);
      yield [result];
    }
    ended = refusedError(done);
  } catch (thrown) {
    ended = thrown;
  } finally {
    await signer.close(ended);
  }
  if (ended !== undefined) throw ended;
}

/** For a file in which every line is already signed. */
const noSigner: CommentSigner = {
  address: '',
  sign: () => Promise.reject(new SotraError('internal', 'there is no key to sign with')),
  show: () => undefined,
  close: async () => undefined,
};

async function confirmAll(
  lines: readonly CommentLine[],
  form: TextForm,
  signer: CommentSigner,
  context: Context,
): Promise<void> {
  if (context.io.in.isTTY !== true || context.options.yes) return;
  const { origin } = new URL((await context.config.service()).baseUrl);
  const signers = [...new Set(lines.map(({ signed }) => signed?.signerAddress ?? signer.address))].join(', ');
  const shown = lines
    .slice(0, maxPreviews)
    .map(({ line, fields }) => `Line ${line}: ${describePreview(previewText(fields, form), context.io.err)}`);
  if (lines.length > maxPreviews) shown.push(`${lines.length - maxPreviews} more: see them with --dry-run.\n`);
  await confirm(`post ${lines.length} comments by ${signers} to ${origin}`, context, shown.join('\n'));
}

/** Posts a comment unless the service has it already. Errors: those that also stop the comments after it. */
async function postLine(
  { line, fields, signed }: CommentLine,
  signer: CommentSigner,
  context: Context,
): Promise<PostResult> {
  const { chain, transactionHash, commentText } = fields;
  const signerAddress = signed?.signerAddress ?? signer.address;
  const about = { line, chain, transactionHash, signerAddress, commentText };
  const before = await orUndefined(findSignedComment({ ...fields, signerAddress }, context), ...refusals);
  if (before?.commentText === commentText) return { ...about, result: 'posted before', uid: before.uid };
  try {
    const { comment } = await sendComment(signed ?? (await signer.sign(fields)), context);
    return { ...about, result: 'posted', uid: comment.uid };
  } catch (thrown) {
    if (!(thrown instanceof SotraError) || !refusals.includes(thrown.code)) throw thrown;
    return { ...about, result: 'refused', reason: thrown.message };
  }
}

function refusedError(done: readonly PostResult[]): SotraError | undefined {
  const refused = done.filter(({ result }) => result === 'refused');
  if (refused.length === 0) return undefined;
  return new SotraError('partial', `${refused.length} of ${done.length} comments were refused`, {
    hint: 'Fix those lines and run the same command again: posted comments are not posted twice.',
    details: { results: done },
  });
}

function stoppedError(thrown: unknown, line: number, done: readonly PostResult[], total: number): unknown {
  if (!(thrown instanceof SotraError)) return thrown;
  const { code, hint, status, requestId } = thrown;
  const message = `line ${line}: ${writeMessage(thrown)}`;
  const again = 'Run the same command again: it resumes after the posted comments.';
  const more = { status, requestId, cause: thrown, details: { results: done } };
  if (done.length === 0 || code === 'interrupted' || code === 'verification')
    return new SotraError(code, message, { ...more, hint: hint ?? again });
  const left = `stopped with ${total - done.length} of ${total} comments left`;
  return new SotraError('partial', `${left}; ${message}`, { ...more, hint: again });
}
