import { chunkSize } from '../api/webhook.ts';
import type { Context } from '../context.ts';
import { counted, formatCount } from '../lib/output/format.ts';
import { showProgress } from '../lib/output/progress.ts';
import type { Result } from '../lib/output/result.ts';
import type { AnyView } from '../lib/output/view.ts';
import type { AddressList } from './read-addresses.ts';

/** What happens during an upload, as `--format ndjson` prints it. */
export type UploadEvent =
  | { event: 'settling'; why: string }
  | { event: 'registered'; uid: string; destinationUrl: string; settled: boolean }
  | { event: 'chunk-retried'; chunk: number; why: string; delayMs: number }
  | { event: 'chunk-done'; chunk: number; addresses: number; done: number; chunks: number };

export type UploadDisplay = Awaited<ReturnType<typeof showUpload>>;

/** In a log a line comes as soon as one of the two is reached, but not more often than people read. */
const [logEveryMs, logEveryPercent, minLogMs] = [10_000, 10, 1000];

/**
 * Progress on stderr: a bar on a terminal, now and then a line elsewhere; with `--format ndjson` events on stdout instead. `brief`: the result
 * says what was done, and only a terminal shows it as it happens.
 */
export async function showUpload(context: Context, { brief = false } = {}) {
  const { io, options } = context;
  const streams = options.format === 'ndjson';
  const progress = await showProgress(context);
  const write = (event: object) => io.out.write(`${JSON.stringify(event)}\n`);
  const stepLive = progress.live ? progress.step : () => undefined;
  const done = brief && !progress.live ? () => undefined : progress.done;
  const waiting = ({ ms, why }: { ms: number; why: string }) =>
    stepLive(`${why}; trying again after ${Math.max(1, Math.round(ms / 1000))} s`);
  context.client.onWait = waiting;
  let work = { total: 0, before: 0, confirmed: 0, startMs: 0 };
  let logged = { atMs: 0, percent: 0 };
  const showConfirmed = () => {
    const nowMs = io.now();
    const { percent, text } = describeProgress(work, nowMs);
    if (progress.live) return progress.step(`${drawBar(percent)} ${text}`);
    const sinceMs = nowMs - logged.atMs;
    const isDue = sinceMs >= logEveryMs || (sinceMs >= minLogMs && percent - logged.percent >= logEveryPercent);
    if (!isDue || percent === 100) return;
    logged = { atMs: nowMs, percent };
    progress.step(text);
  };
  return {
    reading: (addresses = 0) => stepLive(`reading addresses${addresses === 0 ? '' : `: ${formatCount(addresses)}`}`),
    started: ({ size, left: { count: left }, duplicates, rejected }: AddressList, makes: boolean) => {
      const skipped = [
        duplicates > 0 && counted(duplicates, 'duplicate'),
        rejected > 0 && counted(rejected, 'bad line'),
      ];
      const notes = skipped.filter((text) => text !== false).join(', ');
      const some = left < size ? `${formatCount(left)} of ` : '';
      const requests = counted(Math.ceil(left / chunkSize), 'request');
      done(`sending ${some}${counted(size, 'address')} in ${requests}${notes && ` (${notes})`}`);
      const startMs = io.now();
      work = { total: size, before: size - left, confirmed: size - left, startMs };
      const { percent, text } = describeProgress(work, startMs);
      logged = { atMs: startMs, percent };
      stepLive(makes ? 'registering the webhook' : text);
    },
    event: async (event: UploadEvent) => {
      if (streams) return write(event);
      switch (event.event) {
        case 'settling':
          return progress.step(`looking in the list for 10 s whether the webhook was made: ${event.why}`);
        case 'registered':
          return done(`webhook ${event.uid} ${event.settled ? 'found in the list' : 'registered'}`);
        case 'chunk-retried':
          return waiting({ ms: event.delayMs, why: `chunk ${event.chunk}: ${event.why}` });
        case 'chunk-done':
          work.confirmed += event.addresses;
          return showConfirmed();
      }
    },
    result: async (answer: object, view: AnyView, exitCode?: number): Promise<Result> => {
      progress.stop();
      const code = exitCode === undefined ? {} : { exitCode };
      if (!streams) return { kind: 'answer', answer, view, ...code };
      await write({ event: 'finished', ...answer });
      return { kind: 'none', ...code };
    },
    stop: progress.stop,
  };
}

type Work = Record<'total' | 'before' | 'confirmed' | 'startMs', number>;

function describeProgress({ total, before, confirmed, startMs }: Work, nowMs: number) {
  const percent = total === 0 ? 100 : Math.floor((confirmed * 100) / total);
  const perSec = ((confirmed - before) * 1000) / Math.max(1, nowMs - startMs);
  const leftSec = Math.ceil((total - confirmed) / perSec);
  const pace = confirmed === before ? '' : `, ${formatCount(Math.round(perSec))} a second, ${formatLeft(leftSec)} left`;
  return { percent, text: `${percent} %: ${formatCount(confirmed)} of ${counted(total, 'address')}${pace}` };
}

function formatLeft(seconds: number): string {
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

const barWidth = 20;

function drawBar(percent: number): string {
  const filled = Math.round((percent * barWidth) / 100);
  return `[${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}]`;
}
