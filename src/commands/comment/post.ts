import { isEvmAddress, normalizeAddress } from '../../api/address.ts';
import type { Card } from '../../api/answers.ts';
import { type Chain, findFamily } from '../../api/chain.ts';
import { post } from '../../api/comment.ts';
import { toUnixSec } from '../../api/duration.ts';
import { actor as feed } from '../../api/feed.ts';
import { safeText, showUnseen } from '../../api/safe-text.ts';
import { signedText, type TextForm } from '../../api/signed-text.ts';
import { verifySignature } from '../../api/verify-signature.ts';
import { type Context, createContext } from '../../context.ts';
import { type ErrorCode, orUndefined, SotraError, usageError, writeMessage } from '../../errors.ts';
import { findKeyAddress, keySources } from '../../keys/open-key.ts';
import { confirm } from '../../lib/output/confirm.ts';
import { formatAge, formatUsd, shortAddress } from '../../lib/output/format.ts';
import type { Result } from '../../lib/output/view.ts';
import {
  type CommentInput,
  type CommentLine,
  checkForm,
  checkSigned,
  describePreview,
  type FormInput,
  previewText,
  readComment,
  readCommentFile,
  readSignedFile,
  readTextForm,
  refuseKeyAsText,
  warnOfText,
} from './comment-text.ts';
import { findSignedComment, makeBody, nameDestination, type SendableComment, sendComment } from './send-comment.ts';
import {
  type CommentSigner,
  chooseSigning,
  openSigner,
  type Signing,
  showPreviews,
  type WayInput,
  withSigner,
} from './sign.ts';
import { type PostResult, postMany as view } from './view.ts';

export interface PostInput extends CommentInput, FormInput, WayInput {
  signature?: string | undefined;
  signed?: string | undefined;
  file?: string | undefined;
  last?: boolean | undefined;
}

/** Posts one comment: signed here, elsewhere or in a file. */
export async function postOne(input: PostInput, context: Context): Promise<Result> {
  if (input.signed !== undefined) return postSigned(input, input.signed, context);
  if (input.signature !== undefined) return postSignature(input, input.signature, context);
  const stdinUse = input.textFile === '-' ? '--text-file -' : undefined;
  const way = input.last ? await chooseSwap(input, stdinUse, context) : input;
  const fields = await readComment(way, context);
  const form = await readTextForm(input, context);
  await context.client.requireKey();
  const { dryRun, curl } = context.options;
  const lines = [{ line: 1, fields }];
  const signing = await chooseSigning({ lines, form, purpose: curl ? 'show' : 'post', way }, stdinUse, context);
  const { browser = false, signerCommand } = signing.way;
  if (dryRun && !curl && (browser || signerCommand !== undefined)) return showPreviews(lines, form, context, false);
  return withSigner(signing, context, async (signer) =>
    finishPost(await signer.sign(fields), form, context, { isConfirmed: browser }),
  );
}

async function postSigned(input: PostInput, file: string, context: Context): Promise<Result> {
  const signed = await readSignedFile(file, context);
  await checkSigned(signed, file);
  checkForm(file, signed, await readTextForm(input, context, signed));
  return finishPost(signed, signed, context);
}

/** A comment that was signed elsewhere is sent unchanged, but the user should know if its signature is not valid. */
async function postSignature(input: PostInput, signature: string, context: Context): Promise<Result> {
  const fields = await readComment(input, context);
  const comment = { ...fields, signature, signerAddress: input.signer ?? '' };
  const form = await readTextForm(input, context).catch((thrown: unknown) => {
    if (input.serviceName !== undefined) throw thrown;
    return undefined;
  });
  if (form === undefined) return finishPost(comment, form, context);
  const { valid, reason } = await verifySignature({ ...comment, message: signedText(comment, form) });
  if (!valid)
    context.warn(`the signature does not match the ${form.layout} text of service ${form.serviceName}: ${reason}`);
  return finishPost(comment, form, context);
}

/** Shows the request or sends it. `form` is that of the signed text, if it is known. */
async function finishPost(
  comment: SendableComment,
  form: TextForm | undefined,
  context: Context,
  { isConfirmed = false } = {},
): Promise<Result> {
  warnOfText(comment.commentText, context);
  const { signerAddress } = comment;
  if (context.options.preview) {
    const request = await context.client.previewCall(post, makeBody(comment));
    const preview = form && previewText(comment, form);
    const lines = preview ? `${describePreview(preview, context.io.out)}\n` : '';
    const text = `${lines}Signer: ${showUnseen(signerAddress)}\n\n`;
    return { kind: 'request', request, text, facts: { ...preview, signerAddress } };
  }
  if (!isConfirmed) {
    await context.client.requireKey();
    await confirmPosts([{ line: 1, fields: comment }], form, signerAddress, context);
  }
  const { comment: answer, ...more } = await sendComment(comment, context);
  return { kind: 'answer', answer, ...more };
}

/** One or two screens; --dry-run shows all. */
const maxPreviews = 10;

/** Shows the texts on a terminal and asks; to post is what a script is for. */
async function confirmPosts(
  lines: readonly CommentLine[],
  form: TextForm | undefined,
  signers: string,
  context: Context,
): Promise<void> {
  const { io, options } = context;
  if (io.in.isTTY !== true || options.yes) return;
  const where = nameDestination(await context.config.service());
  const shown = lines.slice(0, maxPreviews).flatMap(({ line, fields }) => {
    const text = form === undefined ? [] : [describePreview(previewText(fields, form), io.err)];
    return lines.length === 1 ? text : text.map((each) => `Line ${line}: ${each}`);
  });
  if (lines.length > maxPreviews) shown.push(`${lines.length - maxPreviews} more: see them with --dry-run.\n`);
  const what = lines.length === 1 ? 'this comment' : `${lines.length} comments`;
  await confirm(`post ${what} to ${where}`, context, [...shown, `Signer: ${showUnseen(signers)}\n`].join('\n'));
}

/** A swap must be worth at least this much to be commented on (wire-facts 3.6). */
const minUsd = 10;

interface Swap {
  chain: Chain;
  transactionHash: string;
  tokenAddress: string;
  symbol: string;
  direction: string;
  usd: number | undefined;
  atSec: number;
}

/** The input with the newest swap of the signer that has no comment. Errors: `usage` without a comment; `not-found` if there is none. */
async function chooseSwap(input: PostInput, stdinUse: string | undefined, context: Context): Promise<PostInput> {
  if ((input.commentText ?? input.textFile) === undefined)
    throw usageError('the comment is missing', 'Give it as the argument: sotra comment post "gm" --last --key <name>.');
  // Before a call, which is logged with the command line.
  if (input.commentText !== undefined) refuseKeyAsText(input.commentText);
  await context.client.requireKey();
  const { address, input: known } = await findKeyAddress(input, context, stdinUse);
  const [swap] = await listSwaps(address, context);
  if (swap === undefined)
    throw new SotraError('not-found', `no recent swap of ${address} can take a comment`, {
      hint: `A swap takes one comment and must be worth at least ${minUsd} USD. Name an older one with --chain, --tx and --token.`,
    });
  context.note(`Commenting on: ${describeSwap(swap, context)}`);
  return { ...known, chain: swap.chain, transactionHash: swap.transactionHash, tokenAddress: swap.tokenAddress };
}

/** Swaps of a wallet that can take a comment, newest first: the latest of each position, and those listed with it. */
async function listSwaps(wallet: string, context: Context): Promise<Swap[]> {
  // A dry run of the comment still reads the swaps.
  const options = { ...context.options, preview: false };
  const reader = context.options.preview ? createContext({ ...context, options, say: context.note }) : context;
  const input = { identifier: wallet, chains: ['all' as const] };
  const { data } = await reader.client.call(feed, input).finally(() => reader !== context && reader.client.close());
  const family = isEvmAddress(wallet) ? 'evm' : 'solana';
  return data.items
    .filter(({ actor }) => normalizeAddress(actor.address) === normalizeAddress(wallet))
    .flatMap(readSwaps)
    .filter(({ chain }) => findFamily(chain) === family)
    .sort((a, b) => b.atSec - a.atSec);
}

function readSwaps({ transactionHash, timestamp, cardLatestTradeAt, metadata }: Card): Swap[] {
  const { tokenChain, tokenAddress, tokenSymbol, trades } = metadata;
  const about = { chain: tokenChain as Chain, tokenAddress, symbol: tokenSymbol ?? tokenAddress };
  const listed = trades
    .filter(({ comments = [], usdCost }) => comments.length === 0 && usdCost >= minUsd)
    .flatMap(({ transactionHash: hash, direction, usdCost: usd, timestamp }) =>
      hash ? [{ ...about, transactionHash: hash, direction, usd, atSec: toUnixSec(timestamp) }] : [],
    );
  const isListed = trades.some((trade) => trade.transactionHash === transactionHash);
  if (!transactionHash || isListed) return listed;
  const atSec = toUnixSec(cardLatestTradeAt ?? timestamp);
  return [...listed, { ...about, transactionHash, direction: 'swap', usd: undefined, atSec }];
}

function describeSwap({ direction, symbol, chain, usd, atSec, transactionHash }: Swap, { io }: Context): string {
  const worth = usd === undefined ? '' : ` for ${formatUsd(usd)}`;
  const nowSec = io.now() / 1000;
  // The clock of a sandbox may be ahead.
  const age = atSec > nowSec ? 'just now' : `${formatAge(atSec, nowSec)} ago`;
  return safeText(`${direction} of ${symbol} on ${chain}${worth}, ${age} (${shortAddress(transactionHash)})`);
}

/** Errors about one comment: the next one may be accepted. */
const refusals: readonly ErrorCode[] = ['bad-request', 'conflict', 'not-found', 'too-large', 'request-refused'];

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
  const needless = [...keySources(input), ...(input.signer === undefined ? [] : ['--signer'])];
  const [unused] = signing === undefined ? needless : [];
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
    const signers = new Set(lines.map(({ signed }) => signed?.signerAddress ?? signer.address));
    if (!signing?.way.browser) await confirmPosts(lines, form, [...signers].join(', '), context);
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
