import type { FileHandle } from 'node:fs/promises';
import type { Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { type SotraError, toSotraError } from '../errors.ts';
import { counted, formatCount, formatTime } from '../output/format.ts';
import { showProgress } from '../output/progress.ts';
import type { AnyView } from '../output/view.ts';
import { type Job, readChunks } from './jobs.ts';
import type { JobState, Plan } from './journal.ts';
import type { UploadEvent } from './upload.ts';

export type UploadDisplay = Awaited<ReturnType<typeof showUpload>>;

/** Lines about chunks in a log, however many chunks there are. */
const maxSteps = 20;

/** Progress on stderr: a spinner on a terminal, lines elsewhere; with `--format ndjson` events on stdout instead. */
export async function showUpload(context: Context) {
  const { out } = context.world.io;
  const streams = context.options.format === 'ndjson';
  const progress = await showProgress(context);
  const write = (event: object) => out.write(`${JSON.stringify(event)}\n`);
  // On a terminal each step replaces the one before; in a log these would be too many lines.
  const stepLive = progress.live ? progress.step : () => undefined;
  const waiting = ({ ms, why }: { ms: number; why: string }) =>
    stepLive(`${why}; trying again after ${Math.max(1, Math.round(ms / 1000))} s`);
  context.onWait(waiting);
  let shown = -1;
  return {
    reading: () => stepLive('reading addresses'),
    read: (addresses: number) => stepLive(`reading addresses: ${formatCount(addresses)}`),
    planned: ({ job, addresses, chunks, duplicates, rejected }: Plan) => {
      const extra: string[] = [];
      if (duplicates > 0) extra.push(`${formatCount(duplicates)} repeated`);
      if (rejected > 0) extra.push(`${formatCount(rejected)} bad`);
      const list = `${counted(addresses, 'address', 'es')} in ${counted(chunks, 'chunk')}`;
      progress.done(`upload ${job}: ${list}${extra.length === 0 ? '' : ` (${extra.join(', ')})`}`);
    },
    started: ({ uid, done, plan: { chunks } }: JobState) =>
      stepLive(uid === undefined ? 'registering the webhook' : `${done.size} of ${counted(chunks, 'chunk')} confirmed`),
    event: async (event: UploadEvent) => {
      if (streams) return write(event);
      switch (event.event) {
        case 'settling':
          return progress.step(`looking in the list for 10 s whether the webhook was made: ${event.why}`);
        case 'registered':
          return progress.done(`webhook ${event.uid} ${event.settled ? 'found in the list' : 'registered'}`);
        case 'chunk-retried':
          return waiting({ ms: event.delayMs, why: `chunk ${event.chunk}: ${event.why}` });
        case 'chunk-done': {
          const step = progress.live ? event.done : Math.floor((event.done * maxSteps) / event.chunks);
          if (step === shown) return;
          shown = step;
          return progress.step(`${formatCount(event.done)} of ${counted(event.chunks, 'chunk')} confirmed`);
        }
      }
    },
    finished: ({ job }: Plan, atMs: number) =>
      context.note(`upload ${job} was finished at ${formatTime(atMs / 1000)}: nothing was sent.`),
    result: async (answer: object, view: AnyView): Promise<Result> => {
      progress.stop();
      if (!streams) return { kind: 'answer', answer, view };
      await write({ event: 'finished', ...answer });
      return { kind: 'none' };
    },
    stop: progress.stop,
  };
}

/** Writes what became of each address of a job, one JSON object a line; `failures` by the index of their chunk. */
export async function writeReport(
  file: FileHandle | undefined,
  { folder, state }: Job,
  failures: ReadonlyMap<number, unknown>,
): Promise<void> {
  if (file === undefined) return;
  for (const { index, addresses } of readChunks(folder)) {
    const error = failures.has(index) ? toSotraError(failures.get(index)) : undefined;
    const status = state.done.has(index) ? 'confirmed' : statusOf(error);
    const requestId = state.requestIds.get(index) ?? error?.requestId ?? null;
    const fate = { chunk: index + 1, status, requestId, ...(error !== undefined && { error: error.code }) };
    await file.appendFile(addresses.map((address) => `${JSON.stringify({ address, ...fate })}\n`).join(''));
  }
  await file.close();
}

function statusOf(error: SotraError | undefined): 'not-sent' | 'unknown' | 'failed' {
  if (error === undefined || error.outcome === 'unsent') return 'not-sent';
  return error.outcome === 'unknown' || error.code === 'interrupted' ? 'unknown' : 'failed';
}
