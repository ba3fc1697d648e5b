import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { normalizeDestination } from '../api/http-address.ts';
import * as endpoints from '../api/webhook.ts';
import { flagWords, serviceFlags, shellLine } from '../client/shell.ts';
import { hideUrlSecrets } from '../client/url-secrets.ts';
import type { Context } from '../context.ts';
import { SotraError, toSotraError } from '../errors.ts';
import { ClosedPipe } from '../lib/io.ts';
import type { Result } from '../lib/output/result.ts';
import { hashParts, readServiceId } from './jobs.ts';
import { type Job, type Journal, openJournal, type Plan, resentChunks } from './journal.ts';
import { continuing, makeWebhook, type Upload } from './make-webhook.ts';
import type { AddressInput, AddressList } from './read-addresses.ts';
import type { UploadDisplay } from './show-upload.ts';
import { callWithRetries } from './with-retries.ts';

export interface UploadInput extends AddressInput {
  task: Plan['task'];
  destinationUrl?: string | undefined;
  uid?: string | undefined;
  secretFile?: string | undefined;
  showSecrets?: boolean | undefined;
  concurrency?: number | undefined;
  another?: boolean | undefined;
  again?: boolean | undefined;
  check?: boolean | undefined;
  exact?: boolean | undefined;
  replace?: boolean | undefined;
}

/** A command line with its list, and what this machine did before with the same key. */
export interface UploadRun {
  input: UploadInput;
  list: AddressList;
  /** Where the folders of the jobs are. */
  folder: string;
  jobs: readonly Job[];
  show: UploadDisplay;
  context: Context;
}

type Target = Pick<Plan, 'uid' | 'replaces' | 'retires'>;

/** What a job does: it sends these addresses to a webhook, which it makes where there is no uid. The same command line gives the same job. */
export async function planJob(
  { input, list, context }: Pick<UploadRun, 'input' | 'list' | 'context'>,
  { uid, ...replacing }: Target,
  { size } = list.addresses,
): Promise<Plan> {
  const { task, destinationUrl } = input;
  const { duplicates, rejected, digest } = list;
  const service = await readServiceId(context);
  const destination = normalizeDestination(destinationUrl ?? '');
  const syncParts = uid === null ? [task, null, destination, replacing.replaces ?? null] : [task, uid];
  const parts = task === 'sync' ? syncParts : [task, uid, destination, digest];
  return {
    ...{ kind: 'plan', v: 2, job: hashParts([service, ...parts]).slice(0, 12), task, ...service },
    destinationUrl: destinationUrl === undefined ? null : hideUrlSecrets(destinationUrl),
    ...{ uid, addresses: size, chunks: Math.ceil(size / endpoints.chunkSize), duplicates, rejected, digest },
    ...{ atMs: context.io.now(), line: formatLine(input, context), ...replacing },
  };
}

/** The command line of an upload, as it continues one; typed addresses are left to the reader. */
function formatLine(input: UploadInput, { options }: Context): string {
  const { task, uid, destinationUrl, walletAddresses } = input;
  const texts = { '--url': destinationUrl && hideUrlSecrets(destinationUrl), '--file': input.file };
  const more = { '--column': input.column, '--secret-file': input.secretFile };
  const flags = Object.entries({ ...texts, ...more }).flatMap(([flag, text]) => (text ? flagWords(flag, text) : []));
  const given = { '--allow-bad-checksum': input.allowBadChecksum, '--skip-invalid': input.skipInvalid };
  const marks = Object.entries({ ...given, '--another': input.another }).flatMap(([flag, on]) => (on ? [flag] : []));
  const words = ['sotra', ...serviceFlags(options), 'webhook', task, ...(uid ? [uid] : []), ...flags, ...marks];
  return shellLine(words) + (walletAddresses === undefined ? '' : ' --wallet-addresses <the same>');
}

export function findOwnJob({ folder, jobs }: UploadRun, { job }: Pick<Plan, 'job'>): Job | undefined {
  return jobs.find((each) => each.folder === join(folder, job));
}

/**
 * Does what a job lacks, the webhook first where there is none, and gives its journal, closed; an unfinished one of the same list goes on as it
 * was planned. What is confirmed is on disk before its event. A job that replaces a webhook is not finished with that. Errors: those of the
 * call where nothing was confirmed, and no job is left of a registration that was refused; `partial` (exit 10) once something was;
 * `interrupted`. The same command continues after each.
 */
export async function runJob(run: UploadRun, plan: Plan, addresses: ReadonlySet<string>): Promise<Journal> {
  const { input, jobs, show, context } = run;
  const earlier = findOwnJob(run, plan);
  const isSame = plan.task !== 'sync' && earlier?.state.finishedMs === undefined;
  const journal = openJournal(join(run.folder, plan.job), earlier, (isSame && earlier?.state.plan) || plan);
  show.planned(plan);
  show.started(journal.state);
  const others = jobs.filter((each) => each !== earlier);
  const upload: Upload = { ...input, context, journal, addresses, others, onEvent: show.event };
  try {
    if (journal.state.uid === undefined) await sendFirst(upload);
    await sendChunks(upload);
    if (plan.replaces === undefined) await journal.write({ kind: 'finished', atMs: context.io.now() });
    return journal;
  } catch (thrown) {
    const { uid, posting, gap } = journal.state;
    const isRefused = thrown instanceof SotraError && thrown.outcome === undefined && thrown.code !== 'interrupted';
    if (isRefused && uid === undefined && posting === undefined && gap === undefined)
      rmSync(journal.folder, { recursive: true, force: true });
    throw asPartial(thrown, upload);
  } finally {
    journal.close();
  }
}

/** The request of a chunk, as it would be sent. */
export async function previewChunk(
  uid: string | undefined,
  { addresses: walletAddresses }: Chunk,
  { input, context }: UploadRun,
): Promise<Result> {
  const { destinationUrl = '' } = input;
  const request =
    uid === undefined
      ? await context.previewCall(endpoints.register, { walletAddresses, destinationUrl })
      : await context.previewCall(endpoints.addAddresses, { uid, walletAddresses });
  return { kind: 'request', request };
}

/** Makes the webhook with the first chunk. */
async function sendFirst({ destinationUrl = '', ...upload }: Upload): Promise<void> {
  const { journal, onEvent } = upload;
  const walletAddresses = splitChunks(upload.addresses).next().value?.addresses ?? [];
  const { uid, settled, ...made } = await makeWebhook({ ...upload, destinationUrl, walletAddresses });
  await onEvent({ event: 'registered', uid, destinationUrl: made.destinationUrl, settled });
  const done = { chunk: 1, addresses: walletAddresses.length, done: 1, chunks: journal.state.plan.chunks };
  if (!settled) await onEvent({ event: 'chunk-done', ...done });
}

export interface Chunk {
  index: number;
  addresses: string[];
}

/** Addresses in pieces of what one request may carry. */
export function* splitChunks(addresses: Iterable<string>): Generator<Chunk, undefined> {
  let chunk: Chunk = { index: 0, addresses: [] };
  for (const address of addresses) {
    if (chunk.addresses.push(address) < endpoints.chunkSize) continue;
    yield chunk;
    chunk = { index: chunk.index + 1, addresses: [] };
  }
  if (chunk.addresses.length > 0) yield chunk;
  return undefined;
}

/** Sends the chunks that are not confirmed, a few at a time. Errors: the first one, once those on their way have ended. */
async function sendChunks(upload: Upload): Promise<void> {
  const { context, journal, addresses, concurrency = 4 } = upload;
  const { state } = journal;
  const chunks = splitChunks(addresses);
  const saving: Promise<void>[] = [];
  let failure: unknown;
  let done = state.done.size;
  const fail = (error: unknown) => {
    failure ??= error;
  };
  const confirm = async (chunk: number, sent: readonly string[], sends: number) => {
    await journal.writeSoon({ kind: 'done', chunk, sends, addresses: [...sent] });
    done += 1;
    const counts = { addresses: sent.length, done, chunks: state.plan.chunks };
    await upload.onEvent({ event: 'chunk-done', chunk: chunk + 1, ...counts });
  };
  const work = async () => {
    for (const chunk of chunks) {
      if (state.done.has(chunk.index)) continue;
      // Nothing until somebody stops the upload.
      failure ??= context.io.signal.reason;
      if (failure !== undefined) return;
      const sends = await sendChunk(upload, chunk);
      // The next chunk need not wait for the disk.
      saving.push(confirm(chunk.index, chunk.addresses, sends).catch(fail));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, () => work().catch(fail)));
  await Promise.all(saving);
  if (failure !== undefined) throw failure;
}

/** Gives back how often the chunk was sent. */
async function sendChunk({ context, journal, onEvent }: Upload, { index, addresses }: Chunk): Promise<number> {
  const { state } = journal;
  const input = { uid: state.uid ?? '', walletAddresses: addresses };
  let sends = 0;
  journal.append({ kind: 'sending', chunk: index });
  const { data, attempts } = await callWithRetries(context, endpoints.addAddresses, input, (error, delayMs) => {
    sends = error.attempts ?? 1;
    return onEvent({ event: 'chunk-retried', chunk: index + 1, why: error.message, delayMs });
  });
  state.destinationUrl ??= data?.destinationUrl;
  return sends + attempts;
}

/** The error of an upload that ended half-way, with what is confirmed. */
function asPartial(thrown: unknown, { context, journal }: Upload): unknown {
  const { plan, done, uid } = journal.state;
  if (context.io.signal.aborted)
    return new SotraError('interrupted', `interrupted with ${done.size} of ${plan.chunks} chunks confirmed`, {
      hint: continuing,
      cause: thrown,
    });
  if (thrown instanceof ClosedPipe) return thrown;
  const error = toSotraError(thrown);
  const hasStarted = plan.uid === null ? uid !== undefined : done.size > 0;
  if (error.code === 'internal' || error.code === 'partial' || !hasStarted) return error;
  return new SotraError('partial', `${done.size} of ${plan.chunks} chunks are confirmed, then: ${error.message}`, {
    hint: error.hint === undefined ? continuing : `${continuing} ${error.hint}`,
    cause: thrown,
    status: error.status,
    requestId: error.requestId,
    details: {
      job: plan.job,
      uid: uid ?? null,
      chunks: plan.chunks,
      confirmed: done.size,
      resentChunks: resentChunks(journal.state),
    },
  });
}
