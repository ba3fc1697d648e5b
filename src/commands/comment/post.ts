import { type CommentAnswer, list, post } from '../../api/comment.ts';
import { normalizeSignature, signedText, signedToken, type TextFields, type TextForm } from '../../api/signed-text.ts';
import { verifySignature } from '../../api/verify-signature.ts';
import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { readMessage, SotraError, usageError } from '../../errors.ts';
import { computeBackoff, policies } from '../../http/retry.ts';
import { keySources, withSigner } from '../../keys/open-key.ts';
import type { Signer } from '../../keys/signer.ts';
import { normalizeAddress, plainAddress } from '../../model/address.ts';
import { findFamily } from '../../model/chain.ts';
import { isObject } from '../../model/json.ts';
import { showUnseen } from '../../model/safe-text.ts';
import { command } from '../../model/shell.ts';
import { confirm } from '../../output/confirm.ts';
import { visibleJson } from '../../output/json.ts';
import { chooseSwap } from './find-swap.ts';
import { describePreview, previewText, warnOfText } from './preview.ts';
import { type CommentInput, type FormInput, hasComment, readComment, readTextForm } from './read-comment.ts';
import { showPreviews } from './run-sign.ts';
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

/** A comment ready to be sent, with the form of its text where that is known. */
interface PreparedComment {
  comment: SendableComment;
  form: TextForm | undefined;
}

export async function runPost(typed: PostInput, context: Context): Promise<Result> {
  checkWays(typed);
  const stdinUse = typed.textFile === '-' ? '--text-file -' : undefined;
  const input = typed.signature === undefined ? await chooseSwap(typed, stdinUse, context) : typed;
  if (input.signed !== undefined) return finishPost(await prepareFile(input, input.signed, context), context);
  const fields = await readComment(input, context);
  if (input.signature !== undefined)
    return finishPost(await prepareSignature(fields, input.signature, input, context), context);
  const form = await readTextForm(input, context);
  await context.ready();
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
    await context.ready();
    await confirmPost(comment, form, context);
  }
  const { comment: answer, ...more } = await sendComment(comment, context);
  return { kind: 'answer', answer, view, ...more };
}

/** Errors: `usage` for a comment that is given or signed in two ways. */
export function checkWays(input: PostInput): void {
  checkPageFlags(input);
  const ways = (['signature', 'signed', 'file'] as const).filter((way) => input[way] !== undefined);
  const [way, other] = ways.map((name) => `--${name}`).concat(input.file === undefined ? keySources(input) : []);
  if (ways.length > 0 && other !== undefined)
    throw usageError(`${way} and ${other} contradict each other`, 'Post what is signed already, or sign with a key.');
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
  if (form !== undefined) warnOfSignature(comment, form, context);
  return { comment, form };
}

/** A signature made elsewhere is sent as it is, but its sender should know if it is not valid. */
function warnOfSignature(comment: SendableComment, form: TextForm, { warn }: Context): void {
  const verdict = verifySignature({ ...comment, message: signedText(comment, form) });
  if (!verdict.valid)
    warn(`the signature does not fit the ${form.layout} text of service ${form.serviceName}: ${verdict.reason}`);
}

async function prepareFile(input: PostInput, file: string, context: Context): Promise<PreparedComment> {
  const signed = await readSignedFile(file, context);
  const problem = signedProblem(signed);
  if (problem !== undefined) throw new SotraError('verification', `${file} was not posted: ${problem}`);
  if (!verifySignature({ ...signed, encoding: 'base58' }).valid)
    context.warn('the signature is not in base58, which is what the service accepts');
  const { serviceName, layout } = await context.service();
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
  const { baseUrl, kind } = await context.service();
  const where = kind === 'sandbox' ? 'the sandbox' : new URL(baseUrl).origin;
  const text = form === undefined ? '' : describePreview(previewText(comment, form), context.io.err);
  await confirm(`post this comment to ${where}`, context, `${text}Signer: ${showUnseen(comment.signerAddress)}\n`);
}

async function showRequest(comment: SendableComment, form: TextForm | undefined, context: Context): Promise<Result> {
  const request = await context.previewCall(post, makeBody(comment));
  const preview = form && previewText(comment, form);
  const { signerAddress } = comment;
  const lines = preview ? `${describePreview(preview, context.io.out)}\n` : '';
  const text = `${lines}Signer: ${showUnseen(signerAddress)}\n\n`;
  return { kind: 'request', request, text, facts: { ...preview, signerAddress } };
}

/** A comment and who signs it. */
export interface AuthoredComment extends TextFields {
  signerAddress: string;
}

export interface SendableComment extends AuthoredComment {
  signature: string;
}

interface PostedComment {
  comment: CommentAnswer;
  /** The service's JSON, where the comment is its answer to the POST. */
  text?: string;
  /** How it is known that the comment was posted, where no answer said so. */
  notes?: readonly string[];
}

/** The body of the POST: the exact values that were signed. */
export function makeBody(comment: SendableComment) {
  const { transactionHash, chain, commentText, signerAddress } = comment;
  const tokenAddress = signedToken(comment.tokenAddress);
  const signature = normalizeSignature(chain, comment.signature);
  return { transactionHash, chain, tokenAddress, commentText, signature, signerAddress };
}

/**
 * Posts a comment once: without an answer it is looked up, and never sent again. Errors: `verification` where another comment than was signed
 * was stored; those of a call, saying what is known.
 */
export async function sendComment(comment: SendableComment, context: Context): Promise<PostedComment> {
  if (context.io.signal.aborted) throw new SotraError('interrupted', 'interrupted: nothing was sent');
  try {
    const { data, text } = await context.call(post, makeBody(comment));
    checkSameComment(comment, data);
    return { comment: data, text };
  } catch (thrown) {
    if (!(thrown instanceof SotraError) || thrown.outcome !== 'unknown') throw thrown;
    return findPosted(comment, thrown, context);
  }
}

/** Errors: `verification` where the service stored another comment than was signed. */
function checkSameComment(sent: SendableComment, answered: unknown): void {
  const body: Record<string, unknown> = makeBody(sent);
  const answer = isObject(answered) ? answered : {};
  const fields = ['signerAddress', 'transactionHash', 'chain', 'tokenAddress', 'commentText'] as const;
  const normalizeField = (value: unknown, field: string) => (field === 'commentText' ? value : comparable(value));
  const wrong = fields.filter((field) => normalizeField(body[field], field) !== normalizeField(answer[field], field));
  if (wrong.length === 0) return;
  const shown = wrong.map(
    (field) => `${field}: signed ${shownJson(body[field])}, answered ${shownJson(answer[field])}`,
  );
  const message = `the service answered with another comment than was signed: ${shown.join('; ')}`;
  throw new SotraError('verification', message, {
    hint: command`See what it holds: sotra comment list ${sent.transactionHash} --chain ${sent.chain}`,
    details: {
      signed: Object.fromEntries(wrong.map((field) => [field, body[field]])),
      answered: Object.fromEntries(wrong.map((field) => [field, answer[field] ?? null])),
    },
  });
}

/** With invisible characters as their codes. */
function shownJson(value: unknown): string {
  return visibleJson(JSON.stringify(value) ?? 'nothing');
}

/** EVM addresses and hashes may come back in another case. */
function comparable(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return /^0x[0-9a-f]+$/i.test(value) ? value.toLowerCase() : normalizeAddress(plainAddress(value));
}

/** The comment of this signer on this swap, as the service has it; `undefined` where there is none. Errors: those of a call. */
export async function findSignedComment(
  comment: AuthoredComment,
  context: Context,
): Promise<CommentAnswer | undefined> {
  const { transactionHash, chain } = comment;
  const { data } = await context.call(list, { hashes: [transactionHash], chain });
  const signer = comparable(comment.signerAddress);
  const token = comparable(comment.tokenAddress);
  const found = Object.values(data).flatMap((entry) => entry?.comments ?? []);
  return found.find((each) => comparable(each.signerAddress) === signer && comparable(each.tokenAddress) === token);
}

async function findPosted(comment: SendableComment, lost: SotraError, context: Context): Promise<PostedComment> {
  const byHand = command`sotra comment list ${comment.transactionHash} --chain ${comment.chain}`;
  const { signal } = context.io;
  const { code, status, requestId } = lost;
  const makeFailure = (outcome: 'unknown' | 'unsent', why: string, hint: string) =>
    new SotraError(code, lost.message + why, { hint, status, requestId, cause: lost, outcome });
  const unknown = 'whether the comment was posted is not known';
  if (signal.aborted) throw makeFailure('unknown', ` while posting: ${unknown}`, `Check: ${byHand}`);
  context.note(`${lost.message}. Checking whether the comment was posted.`);
  try {
    for (let failures = 0; failures <= policies.findPosted.retries; failures += 1) {
      if (failures > 0) await context.io.sleep(computeBackoff(policies.findPosted, failures), signal);
      const found = await findSignedComment(comment, context);
      if (found === undefined) continue;
      checkSameComment(comment, found);
      return { comment: found, notes: [`The answer was lost, but the comment was posted: ${found.uid}.`] };
    }
  } catch (thrown) {
    if (thrown instanceof SotraError && thrown.code === 'verification') throw thrown;
    const why = `; ${unknown}, looking it up failed: ${readMessage(thrown)}`;
    throw makeFailure('unknown', why, `Check before you post again: ${byHand}`);
  }
  const hint = `Post it again. To be sure that it does not appear late: ${byHand}`;
  throw makeFailure('unsent', '; it was looked up and is not there: the comment was not posted', hint);
}
