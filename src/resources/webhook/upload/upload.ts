import { SotraError, toSotraError } from '../../../errors.ts';
import { ClosedPipe } from '../../../output/io.ts';
import * as endpoints from '../endpoints.ts';
import { type Chunk, type Job, readChunks } from './jobs.ts';
import { type Journal, openJournal, resentChunks } from './journal.ts';
import { createPatience, type Patience, patiently } from './patience.ts';
import { type Registering, registerWebhook } from './register.ts';

/** What happens during an upload, for whoever shows it. */
export type UploadEvent =
  | { event: 'settling'; why: string }
  | { event: 'registered'; uid: string; destinationUrl: string; settled: boolean }
  | { event: 'chunk-retried'; chunk: number; why: string; delayMs: number }
  | { event: 'chunk-done'; chunk: number; addresses: number; done: number; chunks: number };

export interface Uploading extends Pick<Registering, 'context' | 'another' | 'others' | 'keptSecret'> {
  job: Job;
  concurrency: number;
  /** Makes the secret safe; called before anything else is sent. */
  keepSecret: (uid: string, secret: string | undefined) => void;
  /** Told of each event as it happens. */
  tell: (event: UploadEvent) => Promise<void>;
}

/**
 * Sends what a job has not confirmed yet and tells what happens; everything confirmed is on disk before it is told. Errors: those of
 * the call where nothing was confirmed; `partial` (exit 10) once something was; `interrupted`. The job can be resumed after each.
 */
export async function runUpload(options: Uploading): Promise<void> {
  const journal = openJournal(options.job.folder, options.job.state);
  const patience = createPatience(options.context);
  try {
    if (journal.state.uid === undefined) await registering(options, journal, patience);
    await sendChunks(options, journal, patience);
    await journal.note({ kind: 'finished', atMs: options.context.world.now() });
  } catch (thrown) {
    throw asPartial(thrown, options, journal);
  } finally {
    journal.close();
  }
}

async function registering(options: Uploading, journal: Journal, patience: Patience): Promise<void> {
  const { job, tell } = options;
  const registered = await registerWebhook({
    ...options,
    journal,
    patience,
    destinationUrl: job.state.plan.destinationUrl ?? '',
    addresses: firstChunk(job.folder),
    onSettling: (why) => tell({ event: 'settling', why }),
  });
  const { uid, destinationUrl, secret, settled } = registered;
  try {
    options.keepSecret(uid, secret);
    await journal.note({ kind: 'registered', uid, destinationUrl, settled });
  } catch (cause) {
    throw new SotraError('partial', `webhook ${uid} was made, then: ${toSotraError(cause).message}`, {
      hint: `${resumeHint(job)} It finds the webhook again.`,
      cause,
      details: { job: job.state.plan.job, uid },
    });
  }
  await tell({ event: 'registered', uid, destinationUrl, settled });
}

function firstChunk(folder: string): string[] {
  for (const { addresses } of readChunks(folder)) return addresses;
  return [];
}

async function sendChunks(options: Uploading, journal: Journal, patience: Patience): Promise<void> {
  const { state } = journal;
  const running = new Map<number, Promise<Sent>>();
  const saving: Promise<void>[] = [];
  const chunks = readChunks(options.job.folder);
  let failure: unknown;
  let confirmed = state.done.size;
  const confirm = (chunk: number, addresses: number) => {
    confirmed += 1;
    return options.tell({
      event: 'chunk-done',
      chunk: chunk + 1,
      addresses,
      done: confirmed,
      chunks: state.plan.chunks,
    });
  };
  for (let more = true; more || running.size > 0; ) {
    if (options.context.world.signal.aborted) failure ??= new SotraError('interrupted', 'interrupted');
    while (more && failure === undefined && running.size < options.concurrency) {
      const next = chunks.next();
      if (next.done) more = false;
      else if (!state.done.has(next.value.index))
        running.set(next.value.index, sendChunk(options, journal, patience, next.value));
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
  }
  chunks.return(undefined);
  journal.hurry();
  await Promise.all(saving);
  if (failure !== undefined) throw failure;
}

type Sent = { chunk: number; addresses: number; sends: number } | { chunk: number; error: unknown };

async function sendChunk(
  { context, tell }: Uploading,
  journal: Journal,
  patience: Patience,
  { index, addresses: walletAddresses }: Chunk,
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
        (retries) => context.call(endpoints.addAddresses, { uid, walletAddresses }, undefined, retries),
        (error, delayMs) => {
          sends += error.attempts ?? 1;
          return tell({ event: 'chunk-retried', chunk: index + 1, why: error.message, delayMs });
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

function asPartial(thrown: unknown, { job, context }: Uploading, journal: Journal): unknown {
  const error = toSotraError(thrown);
  const { plan } = job.state;
  const resume = resumeHint(job);
  const { done } = journal.state;
  if (error.code === 'interrupted' || context.world.signal.aborted)
    return new SotraError('interrupted', `interrupted with ${done.size} of ${plan.chunks} chunks confirmed`, {
      hint: resume,
      cause: thrown,
    });
  const isBegun = plan.task === 'register' ? journal.state.uid !== undefined : done.size > 0;
  if (thrown instanceof ClosedPipe) return thrown;
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

function resumeHint({ state }: Job): string {
  return `sotra webhook resume ${state.plan.job} goes on; so does the same command again.`;
}
