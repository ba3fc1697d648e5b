import { Writable } from 'node:stream';
import type { Ora } from 'ora';
import { safeText } from '../../api/safe-text.ts';
import type { CallEvent } from '../../client/client.ts';
import { type Io, lazy, type Sink } from '../io.ts';
import type { Format } from './view.ts';

export interface Progress {
  /** The current step; on a terminal it replaces the one before. */
  step: (text: string) => void;
  /** The last step succeeded; the line stays. */
  done: (text: string) => void;
  stop: () => void;
  /** Steps replace each other, so that there may be many. */
  live: boolean;
}

interface ProgressOptions {
  err: Sink;
  quiet: boolean;
  now: () => number;
}

/** The part of a Context that progress needs: context.ts leads to this file. */
interface CommandContext {
  io: Io;
  options: { format: Format | undefined; quiet: boolean; preview: boolean };
  client: { stopSpinner: () => void };
}

/** Progress of a long command: a spinner on a terminal, else lines; nothing with `--quiet`, for JSON and for previews. */
export async function showProgress(
  { io, options, client }: CommandContext,
  { silent = false } = {},
): Promise<Progress> {
  if (!silent) client.stopSpinner();
  const { format, preview } = options;
  const quiet = silent || options.quiet || preview || format === 'json' || format === 'ndjson';
  return createProgress({ err: io.err, quiet, now: io.now });
}

/** Progress on stderr; the spinner's package is loaded for a terminal only. */
export async function createProgress(options: ProgressOptions): Promise<Progress> {
  const { err, quiet, now } = options;
  const live = err.isTTY;
  const silence = () => {};
  if (quiet) return { step: silence, done: silence, stop: silence, live };
  if (!live) {
    const sayLine = (text: string) => void err.write(`${safeText(text)}\n`).catch(() => undefined);
    return { step: sayLine, done: sayLine, stop: silence, live };
  }
  const { default: ora } = await import('ora');
  let stepMs = now();
  const elapsed = () => {
    const seconds = Math.floor((now() - stepMs) / 1000);
    return seconds > 0 ? `(${seconds} s)` : '';
  };
  const spinner = ora({
    stream: sinkStream(err),
    // ora's own colors ignore NO_COLOR.
    color: false,
    isEnabled: true,
    // Raw mode on stdin would swallow Ctrl-C and the data of a pipe.
    discardStdin: false,
    suffixText: elapsed,
  });
  return {
    step: (text) => {
      stepMs = now();
      showStep(spinner, safeText(text));
    },
    done: (text) => void spinner.stopAndPersist({ symbol: '✔', text: safeText(text), suffixText: '' }),
    stop: () => void spinner.stop(),
    live,
  };
}

function showStep(spinner: Ora, text: string): void {
  spinner.text = text;
  if (spinner.isSpinning)
    spinner.render(); // the next step may block the event loop
  else spinner.start();
}

/**
 * The sink as a Node stream; writes fail silently once the reader is gone. Text is passed on in the same turn, never queued: ora hooks the
 * process's own streams while it spins and would take late text for somebody else's, and draw again, forever.
 */
export function sinkStream(sink: Sink) {
  const drawNow = (text: unknown): boolean => {
    sink.draw(String(text)).catch(() => undefined);
    return true;
  };
  return Object.assign(new Writable(), {
    write: drawNow,
    isTTY: sink.isTTY,
    columns: sink.width,
    cursorTo: (column: number) => drawNow(`\u001b[${column + 1}G`),
    clearLine: () => drawNow('\u001b[2K'),
    moveCursor: (_columns: number, rows: number) =>
      rows === 0 || drawNow(`\u001b[${Math.abs(rows)}${rows < 0 ? 'A' : 'B'}`),
  });
}

interface WaitingOptions extends Omit<ProgressOptions, 'quiet'> {
  /** Shorter waits are not shown. */
  shownMs?: number | undefined;
}

/** Shows on a terminal what a call is waiting for, and for how long; `stop` ends it for good. */
export function showWaiting({ err, now, shownMs = 300 }: WaitingOptions) {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const progress = lazy(() => createProgress({ err, quiet: false, now }));
  const hide = () => {
    clearTimeout(timer);
    if (progress.started()) void progress().then(({ stop }) => stop());
  };
  const show = (text: string) => {
    hide();
    if (!stopped) timer = setTimeout(() => void progress().then(({ step }) => step(text)), shownMs).unref();
  };
  return {
    observe: (event: CallEvent): void => {
      if (event.kind === 'request')
        show(`waiting for ${event.request.url.host} (${event.request.method} ${event.request.url.pathname})`);
      else if (event.kind === 'wait') show(`${event.why}; trying again in ${Math.round(event.ms / 1000)} s`);
      else hide();
    },
    stop: (): void => {
      stopped = true;
      hide();
    },
  };
}
