import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import { normalizeAddress, plainAddress } from '../../model/address.ts';
import { visibleJson } from '../../output/json.ts';
import { type CommentAnswer, list, post } from './endpoints.ts';
import { normalizeSignature, signedToken, type TextFields } from './signing.ts';

export interface SendableComment extends TextFields {
  signature: string;
  signerAddress: string;
}

interface Posted {
  comment: CommentAnswer;
  /** The service's JSON, where the comment is its answer to the POST. */
  text?: string;
  /** How it is known that the comment was posted, where no answer said so. */
  notes?: readonly string[];
}

/** Waits before each look for a comment whose POST got no answer. */
const lookUpDelaysMs = [0, 500, 1500];

/** The body of the POST: the exact values that were signed. */
export function bodyOf({
  transactionHash,
  chain,
  tokenAddress,
  commentText,
  signature,
  signerAddress,
}: SendableComment) {
  return {
    transactionHash,
    chain,
    tokenAddress: signedToken(tokenAddress),
    commentText,
    signature: normalizeSignature(chain, signature),
    signerAddress,
  };
}

/**
 * Posts a comment once. Where no answer came back it is looked up, and never sent again. Errors: `verification` (12) where the service answers
 * with another comment than was signed; those of a call, saying what is known of the comment.
 */
export async function send(comment: SendableComment, context: Context): Promise<Posted> {
  if (context.world.signal.aborted) throw new SotraError('interrupted', 'interrupted: nothing was sent');
  try {
    const { data, text } = await context.call(post, bodyOf(comment));
    checkStored(comment, data);
    return { comment: data, text };
  } catch (thrown) {
    if (!(thrown instanceof SotraError) || thrown.outcome !== 'unknown') throw thrown;
    return findPosted(comment, thrown, context);
  }
}

/** Errors: `verification` where the service stored another comment than was signed. */
function checkStored(sent: SendableComment, answered: unknown): void {
  const body: Record<string, unknown> = bodyOf(sent);
  const answer = (typeof answered === 'object' && answered !== null ? answered : {}) as Record<string, unknown>;
  const fields = ['signerAddress', 'transactionHash', 'chain', 'tokenAddress', 'commentText'] as const;
  const wrong = fields.filter((field) => comparable(field, body[field]) !== comparable(field, answer[field]));
  if (wrong.length === 0) return;
  const shown = wrong.map(
    (field) => `${field}: signed ${shownJson(body[field])}, answered ${shownJson(answer[field])}`,
  );
  const message = `the service answered with another comment than was signed: ${shown.join('; ')}`;
  throw new SotraError('verification', message, {
    hint: `See what it holds: sotra comment list ${sent.transactionHash} --chain ${sent.chain}`,
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

/** EVM addresses and hashes may come back in another case; the text of a comment may not change. */
function comparable(field: string, value: unknown): unknown {
  if (typeof value !== 'string' || field === 'commentText') return value;
  return /^0x[0-9a-f]+$/i.test(value) ? value.toLowerCase() : normalizeAddress(plainAddress(value));
}

/** The comment of this signer on this swap, as the service has it; `undefined` where there is none. Errors: those of a call. */
export async function lookUp(comment: SendableComment, context: Context): Promise<CommentAnswer | undefined> {
  const { transactionHash, chain } = bodyOf(comment);
  const { data } = await context.call(list, { hashes: [transactionHash], chain });
  const signer = comparable('signerAddress', comment.signerAddress);
  const token = comparable('tokenAddress', comment.tokenAddress);
  const found = Object.values(data).flatMap((entry) => entry?.comments ?? []);
  return found.find(
    (each) =>
      comparable('signerAddress', each.signerAddress) === signer &&
      comparable('tokenAddress', each.tokenAddress) === token,
  );
}

async function findPosted(comment: SendableComment, lost: SotraError, context: Context): Promise<Posted> {
  const byHand = `sotra comment list ${comment.transactionHash} --chain ${comment.chain}`;
  const { signal } = context.world;
  const { code, status, requestId } = lost;
  const failed = (outcome: 'unknown' | 'unsent', why: string, hint: string) =>
    new SotraError(code, lost.message + why, { hint, status, requestId, cause: lost, outcome });
  const unknown = 'whether the comment was posted is not known';
  if (signal.aborted) throw failed('unknown', ` while posting: ${unknown}`, `Check: ${byHand}`);
  context.note(`${lost.message}. Checking whether the comment was posted.`);
  try {
    for (const delayMs of lookUpDelaysMs) {
      if (delayMs > 0) await context.world.sleep(delayMs, signal);
      const found = await lookUp(comment, context);
      if (found === undefined) continue;
      checkStored(comment, found);
      return { comment: found, notes: [`The answer was lost, but the comment was posted: ${found.uid}.`] };
    }
  } catch (thrown) {
    if (thrown instanceof SotraError && thrown.code === 'verification') throw thrown;
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw failed('unknown', `; ${unknown}, looking it up failed: ${why}`, `Check before you post again: ${byHand}`);
  }
  const hint = `Post it again. To be sure that it does not appear late: ${byHand}`;
  throw failed('unsent', '; it was looked up and is not there: the comment was not posted', hint);
}
