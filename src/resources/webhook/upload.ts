import type { Context } from '../../context.ts';
import { SotraError, toSotraError } from '../../errors.ts';
import * as endpoints from './endpoints.ts';
import { type Chunk, type Job, readChunks } from './jobs.ts';
import { type Journal, openJournal, resentChunks } from './journal.ts';
import { createPatience, type Patience, patiently } from './patience.ts';
import { registerWebhook } from './register.ts';

/** What happens during an upload, for whoever shows it. */
export type UploadEvent =
  | { event: 'settling'; why: string }
  | { event: 'registered'; uid: string; destinationUrl: string; settled: boolean }
  | { event: 'chunk-retried'; chunk: number; why: string }
  | { event: 'chunk-done'; chunk: number; addresses: number; done: number; chunks: number };

export interface Uploading {
  context: Context;
  job: Job;
  concurrency: number;
  /** Makes a webhook also where the destination has one. */
  another: boolean;
  /** Makes the secret safe; called before anything else is sent. */
  keepSecret: (uid: string, secret: string | undefined) => void;
}

/**
 * Sends what a job has not confirmed yet and tells what happens; everything confirmed is on disk before it is told. Errors: those of
 * the call where nothing was confirmed; `partial` (exit 10) once something was; `interrupted`. The job can be resumed after each.
 */
export async function* runUpload(options: Uploading): AsyncGenerator<UploadEvent> {
  const journal = openJournal(options.job.folder, options.job.state);
  const patience = createPatience(options.context.world);
  try {
    if (journal.state.uid === undefined) yield* registering(options, journal, patience);
    yield* sendChunks(options, journal, patience);
    await journal.note({ kind: 'finished', atMs: options.context.world.now() });
  } catch (thrown) {
    throw asPartial(thrown, options.job, journal);
  } finally {
    journal.close();
  }
}

async function* registering(options: Uploading, journal: Journal, patience: Patience): AsyncGenerator<UploadEvent> {
  const { context, job } = options;
  const told: UploadEvent[] = [];
  const registered = await registerWebhook({
    context,
    journal,
    patience,
    destinationUrl: job.state.plan.destinationUrl ?? '',
    addresses: firstChunk(job.folder),
    another: options.another,
    onSettling: (why) => told.push({ event: 'settling', why }),
  });
  const { uid, destinationUrl, secret, settled } = registered;
  options.keepSecret(uid, secret);
  await journal.note({ kind: 'registered', uid, destinationUrl, settled });
  yield* told;
  yield { event: 'registered', uid, destinationUrl, settled };
}

function firstChunk(folder: string): string[] {
  for (const { addresses } of readChunks(folder)) return addresses;
  return [];
}

async function* sendChunks(options: Uploading, journal: Journal, patience: Patience): AsyncGenerator<UploadEvent> {
  const { state } = journal;
  const told: UploadEvent[] = [];
  const running = new Map<number, Promise<Sent>>();
  const saving: Promise<void>[] = [];
  const chunks = readChunks(options.job.folder);
  let failure: unknown;
  let confirmed = state.done.size;
  const confirm = (chunk: number, addresses: number) => {
    confirmed += 1;
    told.push({ event: 'chunk-done', chunk: chunk + 1, addresses, done: confirmed, chunks: state.plan.chunks });
  };
  for (let more = true; more || running.size > 0; ) {
    if (options.context.world.signal.aborted) failure ??= new SotraError('interrupted', 'interrupted');
    while (more && failure === undefined && running.size < options.concurrency) {
      const next = chunks.next();
      if (next.done) more = false;
      else if (!state.done.has(next.value.index))
        running.set(next.value.index, sendChunk(options, journal, patience, next.value, told));
    }
    if (failure !== undefined) more = false;
    if (running.size === 0) break;
    const sent = await Promise.race(running.values());
    running.delete(sent.chunk);
    if ('error' in sent) failure ??= sent.error;
    // The next chunk need not wait for the disk; only what is told does.
    else {
      const saved = journal
        .noteSoon({ kind: 'done', chunk: sent.chunk, sends: sent.sends })
        .then(() => confirm(sent.chunk, sent.addresses));
      saved.catch((error: unknown) => {
        failure ??= error;
      });
      saving.push(saved);
    }
    yield* told.splice(0);
  }
  chunks.return(undefined);
  journal.hurry();
  await Promise.all(saving);
  yield* told.splice(0);
  if (failure !== undefined) throw failure;
}

type Sent = { chunk: number; addresses: number; sends: number } | { chunk: number; error: unknown };

async function sendChunk(
  { context }: Uploading,
  journal: Journal,
  patience: Patience,
  { index, addresses: walletAddresses }: Chunk,
  told: UploadEvent[],
): Promise<Sent> {
  const { state } = journal;
  const uid = state.uid ?? '';
  // The POST carried the first chunk: where its answer came, that is confirmed; where it was lost, the chunk is sent once more.
  const wasPosted = index === 0 && state.plan.task === 'register';
  try {
    let sends = wasPosted ? 1 : 0;
    if (!wasPosted || state.settled) {
      journal.mark({ kind: 'sending', chunk: index });
      const { data, attempts } = await patiently(
        patience,
        () => context.call(endpoints.addAddresses, { uid, walletAddresses }),
        (error) => {
          sends += error.attempts ?? 1;
          told.push({ event: 'chunk-retried', chunk: index + 1, why: error.message });
        },
      );
      sends += attempts;
      state.destinationUrl ??= data?.destinationUrl;
    }
    return { chunk: index, addresses: walletAddresses.length, sends };
  } catch (error) {
    return { chunk: index, error };
  }
}

function asPartial(thrown: unknown, { state }: Job, journal: Journal): SotraError {
  const error = toSotraError(thrown);
  const { plan } = state;
  const resume = `sotra webhook resume ${plan.job} goes on; so does the same command again.`;
  const { done } = journal.state;
  if (error.code === 'interrupted')
    return new SotraError('interrupted', `interrupted with ${done.size} of ${plan.chunks} chunks confirmed`, {
      hint: resume,
      cause: thrown,
    });
  const isBegun = plan.task === 'register' ? journal.state.uid !== undefined : done.size > 0;
  if (error.code === 'internal' || !isBegun) return error;
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
