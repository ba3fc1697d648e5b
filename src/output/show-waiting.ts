import type { CallEvent } from '../http/client.ts';
import type { Sink } from '../world.ts';
import type { Progress } from './progress.ts';

/** A shorter wait is not worth a line. */
const shownAfterMs = 300;

interface WaitingOptions {
  /** A terminal. */
  err: Sink;
  noColor: boolean;
  unicode: boolean;
  now: () => number;
}

/** Tells on a terminal what a call waits for, each second anew. `stop` ends it for good. */
export interface Waiting {
  observe: (event: CallEvent) => void;
  stop: () => void;
}

/** Nothing is loaded for it before something has to be shown. */
export function showWaiting(options: WaitingOptions): Waiting {
  const { now } = options;
  let line: (() => string) | undefined;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let progress: Promise<Progress> | undefined;
  const tell = async () => {
    progress ??= spinnerOf(options);
    const shown = await progress;
    if (line !== undefined) shown.step(line());
  };
  const hide = () => {
    line = undefined;
    clearInterval(timer);
    clearTimeout(timer);
    progress?.then((shown) => shown.stop()).catch(() => undefined);
  };
  const show = (text: () => string) => {
    hide();
    if (stopped) return;
    line = text;
    // A terminal that is gone ends the command elsewhere.
    const safely = () => {
      tell().catch(() => undefined);
    };
    timer = setTimeout(() => {
      safely();
      timer = setInterval(safely, 1000).unref();
    }, shownAfterMs).unref();
  };
  return {
    observe: (event) => {
      const startMs = now();
      const seconds = (ms: number) => `${Math.max(0, Math.round(ms / 1000))} s`;
      if (event.kind === 'request') {
        const { method, url } = event.request;
        show(() => `waiting for ${url.host}: ${seconds(now() - startMs)} (${method} ${url.pathname})`);
      } else if (event.kind === 'wait')
        show(() => `${event.why}; trying again in ${seconds(startMs + event.ms - now())}`);
      else hide();
    },
    stop: () => {
      stopped = true;
      hide();
    },
  };
}

async function spinnerOf({ err, noColor, unicode }: WaitingOptions): Promise<Progress> {
  const { createPalette } = await import('./color.ts');
  const { createProgress } = await import('./progress.ts');
  const { sinkStream } = await import('./sink-stream.ts');
  const stderr = Object.assign(sinkStream(err), { isTTY: true });
  return createProgress({ stderr, quiet: false, palette: createPalette(noColor ? 0 : err.colorLevel), unicode });
}
