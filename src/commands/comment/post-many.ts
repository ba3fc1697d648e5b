import type { TextForm } from '../../api/signed-text.ts';
import type { Context } from '../../context.ts';
import { type ErrorCode, orUndefined, SotraError, usageError, writeMessage } from '../../errors.ts';
import { keySources } from '../../keys/open-key.ts';
import { confirm } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/result.ts';
import { openSigner } from './open-signer.ts';
import { checkWays, type PostInput } from './post-one.ts';
import { describePreview, previewText, showPreviews, warnOfText } from './preview.ts';
import { type CommentLine, readCommentFile, readTextForm } from './read-comment.ts';
import { findSignedComment, sendComment } from './send-comment.ts';
import { checkForm } from './signed.ts';
import { type CommentSigner, chooseSigning, type Signing } from './signing.ts';
import { type PostResult, postMany as view } from './view.ts';

/** Errors about one comment: the next one may be accepted. */
const refusals: readonly ErrorCode[] = ['bad-request', 'conflict', 'not-found', 'too-large', 'request-refused'];
/** One or two screens; --dry-run shows all. */
const maxPreviews = 10;

/**
 * Posts the comments of a file in order and skips those that the service already has. Errors: `partial` if some were refused, or
 * after some were posted.
 */
export async function postMany(input: PostInput & { file: string }, context: Context): Promise<Result> {
  checkWays(input);
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
