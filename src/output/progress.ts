import type { Ora } from 'ora';
import { createPalette, type Palette } from './color.ts';
import { safeText } from './safe-text.ts';

/** Says on stderr what is going on; stdout is never touched. */
export interface Progress {
  /** What is being done now; on a terminal it takes the place of the step before. */
  step: (text: string) => void;
  /** The last step went well; the line stays. */
  done: (text: string) => void;
  /** The last step failed; the line stays. */
  fail: (text: string) => void;
  /** Nothing more to say; a running spinner disappears. */
  stop: () => void;
}

/** What progress needs of the outside world. Without a palette nothing is colored. */
export interface ProgressIo {
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
  quiet: boolean;
  palette?: Palette;
  unicode?: boolean;
  /** Milliseconds, to say how long a step has taken. */
  now?: () => number;
}

/**
 * Progress for the stream at hand: a spinner on a terminal, one line a step elsewhere, nothing when quiet. The spinner's
 * package is loaded for a terminal only.
 */
export async function createProgress(io: ProgressIo): Promise<Progress> {
  if (io.quiet) return { step: () => {}, done: () => {}, fail: () => {}, stop: () => {} };
  if (io.stderr.isTTY !== true) {
    const line = (text: string) => void io.stderr.write(`${safeText(text)}\n`);
    return { step: line, done: line, fail: line, stop: () => {} };
  }
  const { palette = createPalette(0), unicode = true, now = () => 0 } = io;
  const frames = unicode ? ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] : ['-', '\\', '|', '/'];
  let stepMs = now();
  const elapsed = () => {
    const seconds = Math.floor((now() - stepMs) / 1000);
    return seconds > 0 ? `(${seconds} s)` : '';
  };
  const { default: ora } = await import('ora');
  const spinner = ora({
    stream: io.stderr,
    // ora colors by its own reading of the environment, which overlooks NO_COLOR; the frames carry our color instead.
    color: false,
    spinner: { interval: 80, frames: frames.map((frame) => palette.dim(frame)) },
    isEnabled: true,
    // Raw mode on stdin would swallow Ctrl-C and the data of a pipe.
    discardStdin: false,
    suffixText: () => elapsed(),
  });
  const mark = { done: palette.success(unicode ? '✔' : '+'), fail: palette.error(unicode ? '✖' : 'x') };
  return {
    step: (text) => {
      stepMs = now();
      showStep(spinner, safeText(text));
    },
    done: (text) => void spinner.stopAndPersist({ symbol: mark.done, text: safeText(text), suffixText: '' }),
    fail: (text) => void spinner.stopAndPersist({ symbol: mark.fail, text: safeText(text), suffixText: '' }),
    stop: () => void spinner.stop(),
  };
}

function showStep(spinner: Ora, text: string): void {
  spinner.text = text;
  if (spinner.isSpinning)
    spinner.render(); // what comes next may take long without a turn for the spinner
  else spinner.start();
}
