import { statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { safeText, terminalText } from '../../api/safe-text.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { column } from './columns.ts';
import type { Result } from './result.ts';
import type { View } from './view.ts';

export function mayAsk({ io, options }: Pick<Context, 'io' | 'options'>): boolean {
  return io.in.isTTY === true && !options.noInput;
}

/**
 * Asks on a terminal before a change that cannot be undone; elsewhere `--yes` is needed. `change` is what is asked about, such as `remove key trader`;
 * `shown` is written first. Errors: `usage` for a no, and when there is no terminal.
 */
export async function confirm(change: string, context: Context, shown = ''): Promise<void> {
  const { io, options } = context;
  if (options.yes || options.preview) return;
  const asked = shorten(safeText(change));
  if (!mayAsk(context)) {
    const why = options.noInput ? '--no-input is set' : 'stdin is not a terminal';
    throw usageError(`cannot ask whether to ${asked}: ${why}`, 'Add --yes to do it without a question.');
  }
  if (shown !== '') await io.err.write(shown);
  const question = `${asked.charAt(0).toUpperCase()}${asked.slice(1)}? [y/N] `;
  const answer = await io.ask(question, { hidden: false });
  if (!/^y(es)?$/i.test(answer.trim())) throw usageError(`did not ${asked}: the answer was not yes`);
}

/** Of a long name both ends: what is asked and what it does stay on the screen. */
function shorten(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 100)}…${text.slice(-99)}`;
}

/** The same before a regular file is replaced. Errors: `usage`. */
export async function confirmReplace(flag: string, file: string, context: Context): Promise<void> {
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) await confirm(`replace ${file} (${flag})`, context);
}

interface Question {
  question: string;
  hidden: boolean;
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  stop: AbortController;
}

/** One line typed by the user; a hidden one is not shown. Rejects and aborts `stop` on Ctrl-C and Ctrl-D, or when `stop` is aborted. */
export function askLine({ question, hidden, input, output, stop }: Question): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  // Before the question: from here on the terminal does not show what is typed.
  const lines = createInterface({ input, output: hidden ? silent : output, terminal: true, historySize: 0 });
  const asked = terminalText(question);
  if (hidden) output.write(asked);
  return new Promise<string>((resolve, reject) => {
    const closeLines = () => lines.close();
    stop.signal.addEventListener('abort', closeLines, { once: true });
    lines.on('SIGINT', closeLines);
    // Readline would let the terminal echo again and stop; where nothing can stop (docker run -it), a secret would show.
    if (hidden) lines.on('SIGTSTP', () => undefined);
    const endUnanswered = () => {
      output.write(hidden ? '\n' : '');
      stop.signal.removeEventListener('abort', closeLines);
      reject(new Error('nothing was answered'));
      stop.abort();
    };
    lines.on('close', endUnanswered);
    lines.question(hidden ? '' : asked, (answer) => {
      resolve(answer);
      // The others are readline's: they stop it reading keys, and a line left reading echoes each later one.
      lines.off('close', endUnanswered);
      stop.signal.removeEventListener('abort', closeLines);
      if (hidden) output.write('\n');
      lines.close();
    });
  });
}

export interface PlannedChange {
  action: string;
  /** What it would be done to, such as `context staging`. */
  what: string;
  detail: string | null;
}

interface Plan {
  dryRun: true;
  changes: readonly PlannedChange[];
}

const view: View<Plan, PlannedChange> = {
  layout: 'table',
  rows: ({ changes }) => changes,
  columns: [
    column.text('action', 'Would', 'what would be done'),
    column.text('what', 'What', 'to what', { cut: true }),
    column.text('detail', 'To or in', 'new value, file or address', { cut: true }),
  ],
  empty: 'Nothing would be changed.',
};

export function showPlan(changes: readonly PlannedChange[]): Result {
  return { kind: 'answer', answer: { dryRun: true, changes } satisfies Plan, view };
}
