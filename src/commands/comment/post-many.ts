import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { post } from '../../api/comment.ts';
import { isLoopback } from '../../api/http-address.ts';
import type { Context } from '../../context.ts';
import { SotraError, usageError, writeMessage } from '../../errors.ts';
import { keySources, withSigner } from '../../keys/open-key.ts';
import { dataDirectory } from '../../lib/config/directories.ts';
import { makeFolder } from '../../lib/files/durable-file.ts';
import { takeLock } from '../../lib/files/lock.ts';
import { damagedLine, openLog, otherVersion, readLog } from '../../lib/files/log-file.ts';
import { confirm } from '../../lib/output/confirm.ts';
import type { Result } from '../../lib/output/result.ts';
import { inSlices } from '../../lib/output/view.ts';
import type { BrowserWallet } from './browser-wallet.ts';
import { checkWays, type PostInput } from './post-one.ts';
import { describePreview, previewText, warnOfText } from './preview.ts';
import { type CommentLine, commonFamily, readCommentFile, readTextForm } from './read-comment.ts';
import { showPreviews } from './run-sign.ts';
import {
  type AuthoredComment,
  findSignedComment,
  makeBody,
  type SendableComment,
  sendComment,
} from './send-comment.ts';
import { chooseSigner, makeSignedComment, type SignedComment } from './signed.ts';
import { type PostResult, postMany as view } from './view.ts';

type PostManyInput = PostInput & { file: string };

interface SignedLine {
  line: number;
  comment: SignedComment;
}

/** What is posted, in order. */
interface Batch {
  lines: readonly {
    line: number;
    comment: AuthoredComment;
    /** Called before the comment is posted. */
    sign: () => Promise<SendableComment>;
  }[];
  /** If a browser wallet signs: its page shows the outcomes. */
  wallet?: BrowserWallet;
}

/** Errors about one comment: the next one may be accepted. */
const refusals = ['bad-request', 'conflict', 'not-found', 'too-large', 'request-refused'];
/** One or two screens; --dry-run shows all. */
const maxPreviews = 10;

/** Posts the comments of a file in order, none twice. Errors: `partial` if some were refused, or after some were posted. */
export async function postMany(input: PostManyInput, context: Context): Promise<Result> {
  checkWays(input);
  const lines = await readCommentFile(input.file, context);
  await context.client.requireKey();
  const signing = await chooseSigning(lines, input, context);
  const { curl, preview, yes } = context.options;
  const { baseUrl, kind } = await context.config.service();
  const { origin, hostname } = new URL(baseUrl);
  let open: () => Promise<Batch>;
  if (signing?.input.browser) {
    if (curl)
      throw usageError(
        '--curl shows one request, and --browser signs many',
        'Omit --curl, or give one comment with --text instead of the file.',
      );
    if (preview) return showPreviews(signing.lines, signing.form, context, true);
    for (const { line, fields } of lines) warnOfText(fields.commentText, context, `line ${line}: `);
    open = () => openInBrowser(lines, signing, context);
  } else {
    const ready = await signLines(lines, signing, context);
    for (const { line, comment } of ready) warnOfText(comment.commentText, context, `line ${line}: `);
    if (curl && ready[0] !== undefined) {
      if (ready.length > 1)
        context.note(`${ready.length} comments would be sent in as many requests; this is the first.`);
      return { kind: 'request', request: await context.client.previewCall(post, makeBody(ready[0].comment)) };
    }
    if (preview) {
      const results = ready.map((one) => makePostResult(one, { result: 'not sent' }));
      return { kind: 'items', batches: inSlices(results), view };
    }
    if (context.io.in.isTTY === true && !yes) await confirmAll(ready, origin, context);
    open = async () => ({ lines: ready.map((one) => ({ ...one, sign: async () => one.comment })) });
  }
  const journal = openPostJournal(dataDirectory(context.io), origin);
  // A service on this machine can be reset, so there the journal is checked against it.
  const mayBeReset = kind === 'sandbox' || isLoopback(hostname);
  return { kind: 'items', batches: postAll(open, { journal, mayBeReset, context }), view, live: true };
}

async function confirmAll(ready: readonly SignedLine[], origin: string, context: Context): Promise<void> {
  const signers = [...new Set(ready.map(({ comment }) => comment.signerAddress))].join(', ');
  const shown = ready
    .slice(0, maxPreviews)
    .map(({ line, comment }) => `Line ${line}: ${describePreview(previewText(comment, comment), context.io.err)}`);
  if (ready.length > maxPreviews) shown.push(`${ready.length - maxPreviews} more: see them with --dry-run.\n`);
  await confirm(`post ${ready.length} comments by ${signers} to ${origin}`, context, shown.join('\n'));
}

function makePostResult({ line, comment }: { line: number; comment: AuthoredComment }, outcome: Outcome): PostResult {
  const { chain, transactionHash, signerAddress, commentText } = comment;
  return { line, ...outcome, chain, transactionHash, signerAddress, commentText };
}

/** How to sign the lines that are not signed; `undefined` if all are. */
async function chooseSigning(lines: readonly CommentLine[], input: PostManyInput, context: Context) {
  const unsigned = lines.filter(({ signed }) => signed === undefined);
  const { serviceName } = await context.config.service();
  const other = lines.find(({ signed }) => signed && serviceName !== undefined && signed.serviceName !== serviceName);
  if (other !== undefined)
    throw usageError(`line ${other.line} is signed for service ${other.signed?.serviceName}, not for ${serviceName}`);
  if (unsigned.length === 0) {
    const [source] = keySources(input);
    if (source !== undefined) throw usageError(`${source} is not needed: every line is already signed`, 'Omit it.');
    return undefined;
  }
  const form = await readTextForm(input, context);
  const family = commonFamily(unsigned);
  const way = await chooseSigner(input, { family, stdinUse: input.file === '-' ? '--file -' : undefined }, context);
  return { lines: unsigned, form, family, purpose: 'post' as const, input: way };
}

type ChosenSigning = NonNullable<Awaited<ReturnType<typeof chooseSigning>>>;

async function openInBrowser(lines: readonly CommentLine[], signing: ChosenSigning, context: Context): Promise<Batch> {
  const { openBrowserWallet } = await import('./browser-wallet.ts');
  const wallet = await openBrowserWallet(signing, context);
  const { address: signerAddress } = wallet;
  return {
    lines: lines.map(({ line, fields, signed }) => ({
      line,
      comment: signed ?? { ...fields, signerAddress },
      sign: async () => signed ?? makeSignedComment(fields, signing.form, wallet),
    })),
    wallet,
  };
}

async function signLines(
  lines: readonly CommentLine[],
  signing: ChosenSigning | undefined,
  context: Context,
): Promise<SignedLine[]> {
  const made = new Map<number, SignedComment>();
  if (signing !== undefined) {
    const { input, family, form } = signing;
    await withSigner(input, { family, expected: input.signer }, context, async (signer) => {
      for (const { line, fields } of signing.lines) made.set(line, await makeSignedComment(fields, form, signer));
    });
  }
  return lines.flatMap(({ line, signed }) => {
    const comment = signed ?? made.get(line);
    return comment === undefined ? [] : [{ line, comment }];
  });
}

type Outcome = Pick<PostResult, 'result' | 'uid' | 'reason'>;

interface PostOptions {
  journal: Journal;
  /** The service may have lost what the journal knows. */
  mayBeReset: boolean;
  context: Context;
}

async function* postAll(open: () => Promise<Batch>, posting: PostOptions): AsyncGenerator<readonly PostResult[]> {
  const done: PostResult[] = [];
  let wallet: BrowserWallet | undefined;
  let ended: unknown = new SotraError('interrupted', 'stopped: the output was closed');
  try {
    const batch = await open();
    wallet = batch.wallet;
    for (const one of batch.lines) {
      const outcome = await postLine(one, posting).catch((thrown: unknown) => {
        throw stoppedError(thrown, one.line, done, batch.lines.length);
      });
      wallet?.show(one.line, outcome.reason === undefined ? outcome.result : `refused: ${outcome.reason}`);
      const result = makePostResult(one, outcome);
      done.push(result);
      yield [result];
    }
    ended = refusedError(done);
  } catch (thrown) {
    ended = thrown;
  } finally {
    posting.journal.close();
    await wallet?.close(ended);
  }
  if (ended !== undefined) throw ended;
}

function refusedError(done: readonly PostResult[]): SotraError | undefined {
  const refused = done.filter(({ result }) => result === 'refused');
  if (refused.length === 0) return undefined;
  return new SotraError('partial', `${refused.length} of ${done.length} comments were refused`, {
    hint: 'Fix those lines and run the same command again: posted comments are not posted twice.',
    details: { results: done },
  });
}

async function postLine(
  { comment, sign }: Batch['lines'][number],
  { journal, mayBeReset, context }: PostOptions,
): Promise<Outcome> {
  const before = journal.findState(comment);
  if (before?.state === 'posted' && !mayBeReset) return { result: 'posted before', uid: before.uid };
  if (before?.state === 'posted' || before?.state === 'sending') {
    const found = await findSignedComment(comment, context);
    if (found !== undefined && found.commentText === comment.commentText) {
      if (before.state === 'sending') await journal.record(comment, 'posted', found.uid);
      return { result: 'posted before', uid: found.uid };
    }
  }
  const signed = await sign();
  await journal.record(comment, 'sending');
  try {
    const { comment: answer } = await sendComment(signed, context);
    await journal.record(comment, 'posted', answer.uid);
    return { result: 'posted', uid: answer.uid };
  } catch (thrown) {
    if (!(thrown instanceof SotraError)) throw thrown;
    if (refusals.includes(thrown.code)) {
      await journal.record(comment, 'refused');
      return { result: 'refused', reason: thrown.message };
    }
    if (thrown.code === 'verification') await journal.record(comment, 'posted');
    else if (thrown.outcome !== 'unknown') await journal.record(comment, 'unsent');
    throw thrown;
  }
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

type Journal = ReturnType<typeof openPostJournal>;

const entrySchema = z.object({
  comment: z.string(),
  /** `sending`: about to be sent; `unsent`: certainly not sent. */
  state: z.enum(['sending', 'posted', 'refused', 'unsent']),
  uid: z.string().optional(),
});
type Entry = z.output<typeof entrySchema>;

/**
 * The journal of a service: an append-only file in the data folder, named after the service's address, one JSON object a line, the first
 * with the version. Comments are identified by their content, not by file or line, so that an edited or renamed input continues where it
 * stopped. Only one process at a time has it. Errors: `locked`; `local-file`.
 */
function openPostJournal(folder: string, origin: string) {
  const file = join(folder, `posted-comments-${createHash('sha256').update(origin).digest('hex').slice(0, 16)}.ndjson`);
  makeFolder(folder);
  const release = takeLock(`${file}.lock`, `the journal of comments posted to ${origin}`);
  try {
    const [head, ...lines] = readLog<{ version?: unknown }>(file);
    if (head !== undefined && head.version !== 1) throw otherVersion(file);
    const known = new Map<string, Entry>();
    for (const [index, line] of lines.entries()) {
      const { success, data } = entrySchema.safeParse(line);
      if (!success) throw damagedLine(file, index + 2);
      known.set(data.comment, data);
    }
    const log = openLog(file);
    if (head === undefined) log.append({ version: 1, holds: 'posted comments', service: origin });
    return {
      findState: (comment: AuthoredComment) => known.get(hashComment(comment)),
      /** Resolves when it is on disk. */
      record: async (comment: AuthoredComment, state: Entry['state'], uid?: string) => {
        const entry: Entry = { comment: hashComment(comment), state, ...(uid === undefined ? {} : { uid }) };
        log.append({ ...entry, chain: comment.chain, transactionHash: comment.transactionHash });
        known.set(entry.comment, entry);
        await log.flush();
      },
      close: () => {
        log.close();
        release();
      },
    };
  } catch (thrown) {
    release();
    throw thrown;
  }
}

/** Identifies a comment: everything that is signed, and the signer. */
function hashComment({ chain, tokenAddress, transactionHash, commentText, signerAddress }: AuthoredComment): string {
  const parts = [chain, tokenAddress.toLowerCase(), transactionHash, commentText, signerAddress.toLowerCase()];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
