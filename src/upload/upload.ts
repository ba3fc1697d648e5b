import { rmSync } from 'node:fs';
import { SotraError, toSotraError } from '../errors.ts';
import * as endpoints from '../resources/webhook/endpoints.ts';
import { ClosedPipe } from '../world.ts';
import { resentChunks } from './journal.ts';
import { continuing, makeWebhook, type Registration } from './make-webhook.ts';
import { withRetries } from './with-retries.ts';

/** What happens during an upload, for its display and for `--format ndjson`. */
export type UploadEvent =
  | { event: 'settling'; why: string }
  | { event: 'registered'; uid: string; destinationUrl: string; settled: boolean }
  | { event: 'chunk-retried'; chunk: number; why: string; delayMs: number }
  | { event: 'chunk-done'; chunk: number; addresses: number; done: number; chunks: number };

/** The journal is closed at the end. */
export interface Upload extends Pick<Registration, 'context' | 'journal' | 'secretFile' | 'others'> {
  addresses: Iterable<string>;
  concurrency?: number | undefined;
  /** Absent where the webhook is there already. */
  destinationUrl?: string | undefined;
  another?: boolean | undefined;
  onEvent: (event: UploadEvent) => Promise<void>;
}

/**
 * Sends what a job has not confirmed yet, the webhook first where there is none; what is confirmed is on disk before its event. A job that
 * replaces a webhook is not finished with that. Errors: those of the call where nothing was confirmed, and no job is left of a registration
 * that was refused; `partial` (exit 10) once something was; `interrupted`. The same command continues after each.
 */
export async function runUpload(upload: Upload): Promise<void> {
  const { journal, context } = upload;
  try {
    if (journal.state.uid === undefined) await sendFirst(upload);
    await sendChunks(upload);
    if (journal.state.plan.replaces === undefined) await journal.write({ kind: 'finished', atMs: context.world.now() });
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

/** Makes the webhook with the first chunk. */
async function sendFirst({ destinationUrl = '', another = false, secretFile, ...upload }: Upload): Promise<void> {
  const { context, journal, others, onEvent } = upload;
  const walletAddresses = splitChunks(upload.addresses).next().value?.addresses ?? [];
  const { uid, settled, ...made } = await makeWebhook({
    ...{ context, journal, destinationUrl, walletAddresses, another, secretFile, others },
    onSettling: (why) => onEvent({ event: 'settling', why }),
  });
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
      failure ??= context.world.signal.reason;
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
  const { data, attempts } = await withRetries(
    context,
    (retries) => context.call(endpoints.addAddresses, input, undefined, retries),
    (error, delayMs) => {
      sends += error.attempts ?? 1;
      return onEvent({ event: 'chunk-retried', chunk: index + 1, why: error.message, delayMs });
    },
  );
  state.destinationUrl ??= data?.destinationUrl;
  return sends + attempts;
}

/** The error of an upload that ended half-way, with what is confirmed. */
function asPartial(thrown: unknown, { context, journal }: Upload): unknown {
  const { plan, done, uid } = journal.state;
  if (context.world.signal.aborted)
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
