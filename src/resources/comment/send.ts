import type { Context } from '../../context.ts';
import { SotraError } from '../../errors.ts';
import { normalizeAddress } from '../../model/address.ts';
import { type Chain, chains } from '../../model/chain.ts';
import { visibleJson } from '../../output/json.ts';
import { type CommentAnswer, list, post } from './endpoints.ts';
import { signedToken, type TextFields } from './signing.ts';
import { normalizeSignature, plainAddress } from './verify.ts';

/** A comment with its signature, as it is sent. */
export interface ToSend extends TextFields {
  signature: string;
  signerAddress: string;
}

export interface Sent {
  comment: CommentAnswer;
  /** The service's JSON, where the comment is its answer to the POST. */
  text?: string;
  /** Says how it is known that the comment was posted, where no answer said so. */
  note?: string;
}

/** When a comment is looked up whose POST got no answer. */
const lookUpAfterMs = [0, 500, 1500];

/** The body of the POST: the exact values that were signed. */
export function bodyOf({ transactionHash, chain, tokenAddress, commentText, signature, signerAddress }: ToSend) {
  const known = chains.find((each) => each === chain) as Chain;
  return {
    transactionHash,
    chain: known,
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
export async function send(comment: ToSend, context: Context): Promise<Sent> {
  if (context.world.signal.aborted) throw new SotraError('interrupted', 'interrupted: nothing was sent');
  try {
    const { data, text } = await context.call(post, bodyOf(comment));
    checkEcho(comment, data);
    return { comment: data, text };
  } catch (thrown) {
    if (!(thrown instanceof SotraError) || thrown.outcome !== 'unknown') throw thrown;
    return settle(comment, thrown, context);
  }
}

/** Compares what the service stored with what was signed. Errors: `verification`, with both. */
function checkEcho(sent: ToSend, answered: unknown): void {
  const body: Record<string, unknown> = bodyOf(sent);
  const answer = (typeof answered === 'object' && answered !== null ? answered : {}) as Record<string, unknown>;
  const fields = ['signerAddress', 'transactionHash', 'chain', 'tokenAddress', 'commentText'] as const;
  const wrong = fields.filter((field) => comparable(field, body[field]) !== comparable(field, answer[field]));
  if (wrong.length === 0) return;
  const shown = wrong.map(
    (field) => `${field}: signed ${shownJson(body[field])}, answered ${shownJson(answer[field])}`,
  );
  throw new SotraError(
    'verification',
    `the service answered with another comment than was signed: ${shown.join('; ')}`,
    {
      hint: `See what it holds: sotra comment list ${sent.transactionHash} --chain ${sent.chain}`,
      details: {
        signed: Object.fromEntries(wrong.map((field) => [field, body[field]])),
        answered: Object.fromEntries(wrong.map((field) => [field, answer[field] ?? null])),
      },
    },
  );
}

/** Also what differs in nothing that can be seen. */
function shownJson(value: unknown): string {
  return visibleJson(JSON.stringify(value) ?? 'nothing');
}

/** EVM addresses and hashes may come back in another case; the text of a comment may not change. */
function comparable(field: string, value: unknown): unknown {
  if (typeof value !== 'string' || field === 'commentText') return value;
  return /^0x[0-9a-f]+$/i.test(value) ? value.toLowerCase() : normalizeAddress(plainAddress(value));
}

/** The comment of this signer on this swap, as the service has it; `undefined` where there is none. Errors: those of a call. */
export async function lookUp(comment: ToSend, context: Context): Promise<CommentAnswer | undefined> {
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

async function settle(comment: ToSend, lost: SotraError, context: Context): Promise<Sent> {
  const byHand = `sotra comment list ${comment.transactionHash} --chain ${comment.chain}`;
  const { signal } = context.world;
  if (signal.aborted)
    throw follow(lost, `${lost.message} while posting: whether the comment was posted is not known`, `Look: ${byHand}`);
  context.note(`${lost.message}. Looking whether the comment was posted.`);
  try {
    for (const delayMs of lookUpAfterMs) {
      if (delayMs > 0) await context.world.sleep(delayMs, signal);
      const found = await lookUp(comment, context);
      if (found === undefined) continue;
      checkEcho(comment, found);
      return { comment: found, note: `The answer was lost, but the comment was posted: ${found.uid}.` };
    }
  } catch (thrown) {
    if (thrown instanceof SotraError && thrown.code === 'verification') throw thrown;
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    const message = `${lost.message}; whether the comment was posted is not known, looking it up failed: ${why}`;
    throw follow(lost, message, `Look before you post again: ${byHand}`);
  }
  throw new SotraError(lost.code, `${lost.message}; it was looked up and is not there: the comment was not posted`, {
    hint: `Post it again. To be sure that it does not appear late: ${byHand}`,
    status: lost.status,
    requestId: lost.requestId,
    cause: lost,
    outcome: 'unsent',
  });
}

function follow(lost: SotraError, message: string, hint: string): SotraError {
  const { code, status, requestId } = lost;
  return new SotraError(code, message, { hint, status, requestId, cause: lost, outcome: 'unknown' });
}
