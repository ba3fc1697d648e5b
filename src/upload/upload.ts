import { rmSync } from 'node:fs';
import type { Context } from '../context.ts';
import { SotraError, toSotraError } from '../errors.ts';
import { sameDestination } from '../model/http-address.ts';
import { command } from '../model/shell.ts';
import { hidden, hideUrlSecrets } from '../model/url-secrets.ts';
import * as endpoints from '../resources/webhook/endpoints.ts';
import { checkedList, shownSecret } from '../resources/webhook/secrets.ts';
import { ClosedPipe } from '../world.ts';
import { type Chunk, type Job, readChunks } from './jobs.ts';
import { destinationFile, type Journal, openJournal, resentChunks } from './journal.ts';

/** What happens during an upload, for its display and for `--format ndjson`. */
export type UploadEvent =
  | { event: 'settling'; why: string }
  | { event: 'registered'; uid: string; destinationUrl: string; settled: boolean }
  | { event: 'chunk-retried'; chunk: number; why: string; delayMs: number }
  | { event: 'chunk-done'; chunk: number; addresses: number; done: number; chunks: number };

interface UploadOptions {
  context: Context;
  job: Job;
  concurrency: number;
  /** Makes a webhook also where the destination has one. */
  another: boolean;
  /** Webhooks that other uploads of this machine made. */
  others: () => ReadonlySet<string>;
  /** The secret that an earlier run put on disk before it could record the webhook. */
  keptSecret: () => string | undefined;
  /** Makes the secret safe; called before anything else is sent. */
  keepSecret: (uid: string, secret: string | undefined) => void;
  onEvent: (event: UploadEvent) => Promise<void>;
  /** Told of a chunk that was given up, by its index. */
  onFailure?: (chunk: number, error: unknown) => void;
}

interface Upload extends UploadOptions {
  journal: Journal;
  retry: RetryPolicy;
}

/**
 * Sends what a job has not confirmed yet; what is confirmed is on disk before its event. Errors: those of the call where nothing was
 * confirmed; `partial` (exit 10) once something was; `interrupted`. The job can be resumed after each.
 */
export async function runUpload(options: UploadOptions): Promise<void> {
  const journal = openJournal(options.job.folder, options.job.state);
  const upload = { ...options, journal, retry: createRetryPolicy(options.context) };
  try {
    if (journal.state.uid === undefined) await register(upload);
    await sendChunks(upload);
    await journal.write({ kind: 'finished', atMs: options.context.world.now() });
  } catch (thrown) {
    throw asPartial(thrown, upload);
  } finally {
    journal.close();
  }
}

type RetryPolicy = ReturnType<typeof createRetryPolicy>;

const firstDelayMs = 250;
const maxDelayMs = 15_000;
const maxTries = 8;

/** How an upload repeats what the HTTP client has given up on: eight tries, or as many requests as `--retries` allows. */
export function createRetryPolicy({ world, options }: Pick<Context, 'world' | 'options'>) {
  const { retries } = options;
  return {
    mayRepeat: (failures: number, sent: number) => (retries === undefined ? failures < maxTries : sent <= retries),
    /** How often the next call may repeat by itself; `undefined`: as often as any. */
    retriesAfter: (sent: number) => (retries === undefined ? undefined : retries - sent),
    /** Milliseconds after the n-th failure, from 1: full jitter, doubling; at least a second after a 429. */
    delay: (failures: number, error: SotraError) => {
      const jitter = Math.round((0.5 + world.random() / 2) * Math.min(maxDelayMs, firstDelayMs * 2 ** (failures - 1)));
      return error.code === 'rate-limited' ? Math.max(1000, jitter) : jitter;
    },
    /** Errors: `interrupted`. */
    wait: async (ms: number) => {
      try {
        await world.sleep(ms, world.signal);
      } catch (cause) {
        throw new SotraError('interrupted', 'interrupted', { cause });
      }
    },
  };
}

/** Repeats an idempotent act while its failure may be temporary (no answer, a broken one, 5xx, 429). Errors: the last one. */
export async function withRetries<T>(
  retry: RetryPolicy,
  act: (retries: number | undefined) => Promise<T>,
  onFailure: (error: SotraError, delayMs: number) => void | Promise<void> = () => undefined,
): Promise<T> {
  let sent = 0;
  for (let failures = 1; ; failures += 1) {
    try {
      return await act(retry.retriesAfter(sent));
    } catch (thrown) {
      if (!(thrown instanceof SotraError) || thrown.outcome === undefined || thrown.code === 'interrupted')
        throw thrown;
      sent += thrown.attempts ?? 1;
      if (!retry.mayRepeat(failures, sent)) throw thrown;
      const delayMs = retry.delay(failures, thrown);
      await onFailure(thrown, delayMs);
      await retry.wait(delayMs);
    }
  }
}

async function register(upload: Upload): Promise<void> {
  const { job, journal } = upload;
  const { uid, destinationUrl, secret, settled, requestId } = await makeWebhook(upload);
  try {
    upload.keepSecret(uid, secret);
    const shown = hideUrlSecrets(destinationUrl);
    await journal.write({ kind: 'registered', uid, destinationUrl: shown, settled, requestId });
    rmSync(destinationFile(job.folder), { force: true });
  } catch (cause) {
    throw new SotraError('partial', `webhook ${uid} was made, then: ${toSotraError(cause).message}`, {
      hint: `${resumeHint(job)} It finds the webhook again.`,
      cause,
      details: { job: job.state.plan.job, uid },
    });
  }
  await upload.onEvent({ event: 'registered', uid, destinationUrl, settled });
}

/** Looks, a second apart, after which a POST of unknown outcome made no webhook; not timed, since a slow service lists slowly. Assumed. */
const maxLooks = 10;
const lookEveryMs = 1000;
const maxPosts = 5;

interface NewWebhook {
  uid: string;
  destinationUrl: string;
  secret: string | undefined;
  requestId?: string | undefined;
  /** Found in the list, because the POST's answer was lost. */
  settled: boolean;
}

/**
 * Makes exactly one webhook: the intention is on disk before the POST, the list settles a POST of unknown outcome, and it is sent again
 * only where it surely made none. Errors: those of the call; `partial` where a webhook was made whose secret is lost.
 */
async function makeWebhook(upload: Upload): Promise<NewWebhook> {
  const { context, job, journal, retry } = upload;
  const input = { walletAddresses: firstChunk(job.folder), destinationUrl: job.state.plan.destinationUrl ?? '' };
  let failed: SotraError | undefined;
  let sent = 0;
  for (let posts = 0; ; posts += 1) {
    const lost = journal.state.posting;
    if (lost !== undefined) {
      await upload.onEvent({ event: 'settling', why: failed?.message ?? 'an earlier run ended before the answer' });
      const found = await settle(upload, lost.before);
      if (found !== undefined) return found;
    }
    if (failed !== undefined) {
      if (posts >= maxPosts || !retry.mayRepeat(posts, sent)) throw failed;
      await retry.wait(retry.delay(posts, failed));
    }
    // From before the first POST: a webhook of ours that shows late is not among them.
    let before = lost?.before;
    if (before === undefined || posts === 0) {
      const existing = await webhooksOf(upload);
      if (posts === 0 && !upload.another) refuseSecond(existing);
      before ??= existing.map(({ uid }) => uid);
    }
    await journal.write({ kind: 'posting', before });
    try {
      const { data, requestId } = await context.call(endpoints.register, input, undefined, retry.retriesAfter(sent));
      if (typeof data?.uid !== 'string')
        throw new SotraError('contract', 'the service registered a webhook and did not say its uid', {
          hint: 'sotra webhook list shows it.',
        });
      const { uid, destinationUrl, secret } = data;
      // A recording has the mask in its place.
      const shown = secret === null || secret === hidden ? undefined : secret;
      return { uid, destinationUrl, secret: shown, settled: false, requestId };
    } catch (thrown) {
      if (!(thrown instanceof SotraError) || thrown.code === 'contract' || thrown.code === 'interrupted') throw thrown;
      if (thrown.outcome !== 'unknown' && lost === undefined) await journal.write({ kind: 'not-created' });
      if (thrown.outcome === undefined) throw thrown;
      failed = thrown;
      sent += thrown.attempts ?? 1;
    }
  }
}

function firstChunk(folder: string): string[] {
  for (const { addresses } of readChunks(folder)) return addresses;
  return [];
}

function refuseSecond([existing]: endpoints.WebhookList): void {
  if (existing === undefined) return;
  throw new SotraError(
    'conflict',
    `webhook ${existing.uid} sends to ${hideUrlSecrets(existing.destinationUrl)} already`,
    {
      hint: command`sotra webhook add-addresses ${existing.uid} adds to it; --another makes a second one all the same.`,
    },
  );
}

/** The webhooks of the destination. Errors: `contract` for no list: counted as none, it would make a second webhook. */
function webhooksOf({ context, job, retry }: Upload): Promise<endpoints.WebhookList> {
  const destinationUrl = job.state.plan.destinationUrl ?? '';
  return withRetries(retry, async (retries) => {
    const { data } = await context.call(endpoints.list, {}, undefined, retries);
    return checkedList(data).filter((webhook) => sameDestination(webhook.destinationUrl, destinationUrl));
  });
}

async function settle(upload: Upload, before: readonly string[]): Promise<NewWebhook | undefined> {
  const { world } = upload.context;
  const others = upload.others();
  for (let looks = 0; ; looks += 1) {
    const webhooks = await webhooksOf(upload);
    const [found, other] = webhooks.filter(({ uid }) => !before.includes(uid) && !others.has(uid));
    if (found !== undefined && other !== undefined)
      throw new SotraError('conflict', `${found.uid} and ${other.uid} were both made for this destination meanwhile`, {
        hint: 'Delete the one that is not yours with sotra webhook delete, then run this again.',
      });
    if (found !== undefined) {
      const { uid, destinationUrl } = found;
      const secret = upload.keptSecret() ?? shownSecret(found);
      if (secret !== undefined) return { uid, destinationUrl, secret, settled: true };
      throw new SotraError('partial', `webhook ${uid} was made, but its secret was in an answer that got lost`, {
        hint: command`The service does not show it again: sotra webhook delete ${uid} --yes, then run this again.`,
      });
    }
    if (looks >= maxLooks) return undefined;
    await world.sleep(lookEveryMs, world.signal);
  }
}

async function sendChunks(upload: Upload): Promise<void> {
  const { context, journal } = upload;
  const { state } = journal;
  const running = new Map<number, Promise<ChunkResult>>();
  const saving: Promise<void>[] = [];
  const chunks = readChunks(upload.job.folder);
  let failure: unknown;
  let done = state.done.size;
  const confirm = ({ chunk, addresses, sends, requestId }: SentChunk): Promise<void> =>
    journal.writeBatched({ kind: 'done', chunk, sends, requestId }).then(() => {
      done += 1;
      return upload.onEvent({ event: 'chunk-done', chunk: chunk + 1, addresses, done, chunks: state.plan.chunks });
    });
  for (let more = true; more || running.size > 0; ) {
    // Nothing until somebody stops the upload.
    failure ??= context.world.signal.reason;
    while (more && failure === undefined && running.size < upload.concurrency) {
      const next = chunks.next();
      if (next.done) more = false;
      else if (!state.done.has(next.value.index)) running.set(next.value.index, sendChunk(upload, next.value));
    }
    if (running.size === 0) break;
    const result = await Promise.race(running.values());
    running.delete(result.chunk);
    if ('error' in result) {
      failure ??= result.error;
      upload.onFailure?.(result.chunk, result.error);
    }
    // The next chunk need not wait for the disk.
    else {
      const saved = confirm(result);
      saved.catch((error: unknown) => {
        failure ??= error;
      });
      saving.push(saved);
    }
  }
  chunks.return(undefined);
  journal.flushBatch();
  await Promise.all(saving);
  if (failure !== undefined) throw failure;
}

interface SentChunk {
  chunk: number;
  addresses: number;
  sends: number;
  requestId: string | undefined;
}

type ChunkResult = SentChunk | { chunk: number; error: unknown };

async function sendChunk(upload: Upload, { index, addresses: walletAddresses }: Chunk): Promise<ChunkResult> {
  const { context, journal } = upload;
  const { state } = journal;
  const uid = state.uid ?? '';
  // The POST carried the first chunk, which is sent once more where its answer was lost.
  const wasPosted = index === 0 && state.plan.task === 'register';
  try {
    let sends = wasPosted ? 1 : 0;
    let requestId: string | undefined;
    if (!wasPosted || state.settled) {
      journal.append({ kind: 'sending', chunk: index });
      const answer = await withRetries(
        upload.retry,
        (retries) => context.call(endpoints.addAddresses, { uid, walletAddresses }, undefined, retries),
        (error, delayMs) => {
          sends += error.attempts ?? 1;
          return upload.onEvent({ event: 'chunk-retried', chunk: index + 1, why: error.message, delayMs });
        },
      );
      sends += answer.attempts;
      state.destinationUrl ??= answer.data?.destinationUrl;
      requestId = answer.requestId;
    }
    return { chunk: index, addresses: walletAddresses.length, sends, requestId };
  } catch (error) {
    return { chunk: index, error };
  }
}

function asPartial(thrown: unknown, { job, context, journal }: Upload): unknown {
  const { plan } = job.state;
  const resume = resumeHint(job);
  const { done } = journal.state;
  if (context.world.signal.aborted)
    return new SotraError('interrupted', `interrupted with ${done.size} of ${plan.chunks} chunks confirmed`, {
      hint: resume,
      cause: thrown,
    });
  if (thrown instanceof ClosedPipe) return thrown;
  const error = toSotraError(thrown);
  const hasStarted = plan.task === 'register' ? journal.state.uid !== undefined : done.size > 0;
  if (error.code === 'internal' || !hasStarted) return error;
  return new SotraError('partial', `${done.size} of ${plan.chunks} chunks are confirmed, then: ${error.message}`, {
    hint: error.hint === undefined ? resume : `${resume} ${error.hint}`,
    cause: thrown,
    status: error.status,
    requestId: error.requestId,
    details: {
      job: plan.job,
      uid: journal.state.uid ?? null,
      chunks: plan.chunks,
      confirmed: done.size,
      resentChunks: resentChunks(journal.state),
    },
  });
}

function resumeHint({ state }: Job): string {
  return command`sotra webhook resume ${state.plan.job} continues; so does the same command again.`;
}
