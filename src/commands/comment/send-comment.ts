import { normalizeAddress, plainAddress } from '../../api/address.ts';
import type { Comment } from '../../api/answers.ts';
import { list, post } from '../../api/comment.ts';
import { isObject } from '../../api/json.ts';
import type { TextFields } from '../../api/signed-text.ts';
import { normalizeSignature } from '../../api/verify-signature.ts';
import { computeBackoff, policies } from '../../client/retry.ts';
import { command } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { readMessage, SotraError, writeMessage } from '../../errors.ts';
import type { Service } from '../../lib/config/config.ts';
import { visibleJson } from '../../lib/output/json.ts';

/** A comment and its signer. */
export interface AuthoredComment extends TextFields {
  signerAddress: string;
}

export interface SendableComment extends AuthoredComment {
  signature: string;
}

interface PostedComment {
  comment: Comment;
  /** The service's JSON, if the comment is its answer to the POST. */
  text?: string;
  /** How it is known that the comment was posted, if there was no answer. */
  notes?: readonly string[];
}

/** Where comments are posted to. */
export function nameDestination({ kind, baseUrl }: Service): string {
  return kind === 'sandbox' ? 'the sandbox' : new URL(baseUrl).origin;
}

/** The body of the POST: the exact values that were signed. */
export function makeBody(comment: SendableComment) {
  const { transactionHash, chain, commentText, signerAddress } = comment;
  const tokenAddress = normalizeAddress(comment.tokenAddress);
  const signature = normalizeSignature(chain, comment.signature);
  return { transactionHash, chain, tokenAddress, commentText, signature, signerAddress };
}

/**
 * Posts a comment once: without an answer it is looked up, and never sent again. Errors: `verification` if a different comment was stored;
 * those of a call.
 */
export async function sendComment(comment: SendableComment, context: Context): Promise<PostedComment> {
  if (context.io.signal.aborted) throw new SotraError('interrupted', 'interrupted: nothing was sent');
  try {
    const { data, text } = await context.client.call(post, makeBody(comment));
    checkSameComment(comment, data);
    return { comment: data, text };
  } catch (thrown) {
    if (!(thrown instanceof SotraError) || thrown.outcome !== 'unknown') throw thrown;
    return findPosted(comment, thrown, context);
  }
}

/** Errors: `verification` if the service stored another comment than the signed one. */
function checkSameComment(sent: SendableComment, answered: unknown): void {
  const body: Record<string, unknown> = makeBody(sent);
  const answer = isObject(answered) ? answered : {};
  const fields = ['signerAddress', 'transactionHash', 'chain', 'tokenAddress', 'commentText'] as const;
  const normalizeField = (value: unknown, field: string) => (field === 'commentText' ? value : comparable(value));
  const wrong = fields.filter((field) => normalizeField(body[field], field) !== normalizeField(answer[field], field));
  if (wrong.length === 0) return;
  const shown = wrong.map(
    (field) => `${field}: signed ${shownJson(body[field])}, returned ${shownJson(answer[field])}`,
  );
  const message = `the service returned a different comment than was signed: ${shown.join('; ')}`;
  throw new SotraError('verification', message, {
    hint: command`See what it stored: sotra comment list ${sent.transactionHash} --chain ${sent.chain}`,
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

/** The stored comment of this signer on this swap, of several the one with this text; `undefined` if there is none. Errors: those of a call. */
export async function findSignedComment(comment: AuthoredComment, context: Context): Promise<Comment | undefined> {
  const { transactionHash, chain } = comment;
  const { data } = await context.client.call(list, { hashes: [transactionHash], chain });
  const signer = comparable(comment.signerAddress);
  const token = comparable(comment.tokenAddress);
  const found = Object.values(data)
    .flatMap((entry) => entry?.comments ?? [])
    .filter((each) => comparable(each.signerAddress) === signer && comparable(each.tokenAddress) === token);
  return found.find((each) => each.commentText === comment.commentText) ?? found[0];
}

async function findPosted(comment: SendableComment, lost: SotraError, context: Context): Promise<PostedComment> {
  const byHand = command`sotra comment list ${comment.transactionHash} --chain ${comment.chain}`;
  const { signal } = context.io;
  const { code, status, requestId } = lost;
  const makeFailure = (why: string, hint: string) =>
    new SotraError(code, writeMessage(lost) + why, { hint, status, requestId, cause: lost });
  const unknown = 'it is unknown whether the comment was posted';
  if (signal.aborted) throw makeFailure(` while posting: ${unknown}`, `Check: ${byHand}`);
  context.note(`${writeMessage(lost)}. Checking whether the comment was posted.`);
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
    const why = `; ${unknown}, and the lookup failed: ${readMessage(thrown)}`;
    throw makeFailure(why, `Check before you post again: ${byHand}`);
  }
  const hint = `Post it again. To make sure that it does not appear late: ${byHand}`;
  throw makeFailure('; a lookup did not find the comment: it was not posted', hint);
}
