import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError } from '../../errors.ts';
import { checkKeySource } from '../../keys/open-key.ts';
import { withSigner } from '../../keys/open-signer.ts';
import { isLoopback } from '../../model/http-address.ts';
import { confirm } from '../../output/confirm.ts';
import { post } from './endpoints.ts';
import { type Journal, openJournal } from './journal.ts';
import { manyView, type Posted } from './many-view.ts';
import { describePreview, oddities, previewOf } from './preview.ts';
import { readForm } from './read-comment.ts';
import { commonFamily, type ManyLine, readMany } from './read-many.ts';
import type { PostInput } from './run-post.ts';
import { bodyOf, lookUp, send, type ToSend } from './send.ts';
import { type SignedComment, signComment } from './signed.ts';

/** Answers that are about one comment: the next one may well be taken. */
const refusals = ['bad-request', 'conflict', 'not-found', 'too-large', 'request-refused'];

/**
 * Posts the comments of a file in order, one result each as it comes. What was accepted before, by the journal, is not posted again; what may
 * have been is looked up. Ends with `partial` (10) where some were refused, or where it had to stop after some were posted.
 */
export async function postMany(input: PostInput, file: string, context: Context): Promise<Result> {
  const lines = await readMany(file, context);
  await context.ready();
  const ready = await signAll(lines, input, file, context);
  for (const { line, comment } of ready)
    for (const warning of oddities(comment.commentText)) context.warn(`line ${line}: ${warning}`);
  const { curl, preview, yes } = context.options;
  if (curl && ready[0] !== undefined) {
    context.note(`${ready.length} comments would go in as many requests; this is the first.`);
    await context.call(post, bodyOf(ready[0].comment));
  }
  if (preview) return { kind: 'items', batches: once(ready.map(asShown)), view: manyView };
  const { baseUrl, kind } = await context.service();
  if (context.world.io.in.isTTY === true && !yes) {
    const signers = [...new Set(ready.map(({ comment }) => comment.signerAddress))].join(', ');
    const shown = ready.slice(0, maxPreviews).map(({ line, comment }) => {
      return `Line ${line}: ${describePreview(previewOf(comment, comment), context.world.io.err)}`;
    });
    if (ready.length > maxPreviews) shown.push(`${ready.length - maxPreviews} more: see them with --dry-run.\n`);
    const deed = `post ${ready.length} comments by ${signers} to ${new URL(baseUrl).origin}`;
    await confirm(deed, context, shown.join('\n'));
  }
  const journal = openJournal(await context.dataDirectory(), new URL(baseUrl).origin, context.world);
  // A service on this machine can be reset, so there the journal's word is checked.
  const mayForget = kind === 'sandbox' || isLoopback(new URL(baseUrl).hostname);
  const results = postAll(ready, { journal, mayForget, context });
  // A table a line would be all headers, so tables get some lines at a time.
  const { format } = context.options;
  const asTable = format === 'table' || (format === undefined && context.world.io.out.isTTY);
  return { kind: 'items', batches: asTable ? grouped(results) : results, view: manyView, live: true };
}

interface Ready {
  line: number;
  comment: SignedComment;
}

/** A screen or two; somebody who wants to read more of them does so before posting. */
const maxPreviews = 10;

async function* once<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield items;
}

const tableLines = 20;

/** The same results in fewer, larger batches; those before an error come before it. */
async function* grouped(results: AsyncGenerator<readonly Posted[]>): AsyncGenerator<readonly Posted[]> {
  let waiting: Posted[] = [];
  try {
    for await (const batch of results) {
      waiting = waiting.concat(batch);
      if (waiting.length < tableLines) continue;
      yield waiting;
      waiting = [];
    }
  } catch (thrown) {
    if (waiting.length > 0) yield waiting;
    throw thrown;
  }
  if (waiting.length > 0) yield waiting;
}

function asShown({ line, comment }: Ready): Posted {
  return { line, result: 'not sent', ...shownFields(comment) };
}

function shownFields({ chain, transactionHash, signerAddress, commentText }: ToSend) {
  return { chain, transactionHash, signerAddress, commentText };
}

async function signAll(lines: readonly ManyLine[], input: PostInput, file: string, context: Context): Promise<Ready[]> {
  const unsigned = lines.filter(({ signed }) => signed === undefined);
  const { serviceName } = await context.service();
  const other = lines.find(({ signed }) => signed && serviceName !== undefined && signed.serviceName !== serviceName);
  if (other !== undefined)
    throw usageError(`line ${other.line} is signed for service ${other.signed?.serviceName}, not for ${serviceName}`);
  const made = new Map<number, SignedComment>();
  if (unsigned.length > 0) {
    const form = await readForm(input, context);
    const family = commonFamily(unsigned);
    checkKeySource(input, context, file === '-' ? '--file -' : undefined);
    await withSigner(input, { family, expected: input.signer }, context, async (signer) => {
      for (const { line, fields } of unsigned) made.set(line, await signComment(fields, form, { signer }));
    });
  }
  return lines.flatMap(({ line, signed }) => {
    const comment = signed ?? made.get(line);
    return comment === undefined ? [] : [{ line, comment }];
  });
}

interface Posting {
  journal: Journal;
  mayForget: boolean;
  context: Context;
}

async function* postAll(ready: readonly Ready[], posting: Posting): AsyncGenerator<readonly Posted[]> {
  const { journal } = posting;
  const done: Posted[] = [];
  try {
    for (const { line, comment } of ready) {
      const result = await postOne(comment, posting).catch((thrown: unknown) => {
        throw stopped(thrown, { line, done, left: ready.length - done.length });
      });
      const posted = { line, ...result, ...shownFields(comment) };
      done.push(posted);
      yield [posted];
    }
  } finally {
    journal.close();
  }
  const refused = done.filter(({ result }) => result === 'refused');
  if (refused.length > 0)
    throw new SotraError('partial', `${refused.length} of ${done.length} comments were refused`, {
      hint: 'Correct those lines and run the same command again: what was posted is not posted twice.',
      details: { results: done },
    });
}

async function postOne(
  comment: ToSend,
  { journal, mayForget, context }: Posting,
): Promise<Pick<Posted, 'result' | 'uid' | 'reason'>> {
  const before = journal.stateOf(comment);
  if (before?.state === 'posted' && !mayForget) return { result: 'posted before', uid: before.uid };
  if (before?.state === 'posted' || before?.state === 'sending') {
    const found = await lookUp(comment, context);
    if (found !== undefined && found.commentText === comment.commentText) {
      if (before.state === 'sending') await journal.note(comment, 'posted', found.uid);
      return { result: 'posted before', uid: found.uid };
    }
  }
  await journal.note(comment, 'sending');
  try {
    const { comment: answer } = await send(comment, context);
    await journal.note(comment, 'posted', answer.uid);
    return { result: 'posted', uid: answer.uid };
  } catch (thrown) {
    if (!(thrown instanceof SotraError)) throw thrown;
    if (refusals.includes(thrown.code)) {
      await journal.note(comment, 'refused');
      return { result: 'refused', reason: thrown.message };
    }
    if (thrown.code === 'verification') await journal.note(comment, 'posted');
    else if (thrown.outcome !== 'unknown') await journal.note(comment, 'unsent');
    throw thrown;
  }
}

interface Progress {
  line: number;
  done: readonly Posted[];
  left: number;
}

function stopped(thrown: unknown, { line, done, left }: Progress): unknown {
  if (!(thrown instanceof SotraError)) return thrown;
  const { code, message, hint, status, requestId } = thrown;
  const at = `line ${line}: ${message}`;
  const again = 'Run the same command again: it goes on after what was posted.';
  const more = { status, requestId, cause: thrown, details: { results: done } };
  if (done.length === 0 || code === 'interrupted' || code === 'verification')
    return new SotraError(code, at, { ...more, hint: hint ?? again });
  return new SotraError('partial', `stopped with ${left} of ${done.length + left} comments left; ${at}`, {
    ...more,
    hint: again,
  });
}
