import { statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { safeText, terminalText } from '../../api/safe-text.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { requireFolder } from '../files/durable-file.ts';
import type { Io } from '../io.ts';
import { column } from './columns.ts';
import type { Result, View } from './view.ts';

export function mayAsk({ io, options }: Pick<Context, 'io' | 'options'>): boolean {
  return io.in.isTTY === true && !options.noInput;
}

/**
 * Asks on a terminal before a change that cannot be undone; elsewhere `--yes` is needed. `change` names it, such as `remove key trader`;
 * `shown` is written first. Errors: `usage` for a no, and when there is no terminal.
 */
export async function confirm(change: string, context: Context, shown = ''): Promise<void> {
  const { io, options } = context;
  if (options.yes || options.preview) return;
  const asked = shorten(safeText(change));
  if (!mayAsk(context)) {
    const why = options.noInput ? '--no-input is set' : 'stdin is not a terminal';
    throw usageError(`cannot ask whether to ${asked}: ${why}`, 'Add --yes to do it without asking.');
  }
  if (shown !== '') await io.err.write(shown);
  const question = `${asked.charAt(0).toUpperCase()}${asked.slice(1)}? [y/N] `;
  const answer = await io.ask(question, { hidden: false });
  if (!/^y(es)?$/i.test(answer.trim())) throw usageError(`did not ${asked}: the answer was not yes`);
}

/** Both ends of a long text, so that verb and place stay on the screen. */
function shorten(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 100)}…${text.slice(-99)}`;
}

/** The same before a regular file is replaced. Errors: `usage`; those of `requireFolder`. */
export async function confirmReplace(flag: string, file: string, context: Context): Promise<void> {
  requireFolder(flag, file);
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) await confirm(`replace ${file} (${flag})`, context);
}

/** A value to pick, and its line. */
export interface Choice<T> {
  value: T;
  line: string;
}

/** Asks on the terminal for one of the choices by its number; `undefined` for an empty answer. */
export async function pick<T>(title: string, choices: readonly Choice<T>[], io: Io): Promise<T | undefined> {
  const lines = choices.map(({ line }, index) => `${String(index + 1).padStart(4)}  ${safeText(line)}`);
  await io.err.write(`${[title, ...lines].join('\n')}\n`);
  for (;;) {
    const answer = (await io.ask('Number: ', { hidden: false })).trim();
    if (answer === '') return undefined;
    const picked = choices[Number(answer) - 1];
    if (picked !== undefined) return picked.value;
    await io.err.write(`Enter a number from 1 to ${choices.length}, not ${safeText(answer)}.\n`);
  }
}

export interface PlannedChange {
  action: string;
  /** The object of the action, such as `context staging`. */
  what: string;
  detail: string | null;
}

const view: View<{ changes: readonly PlannedChange[] }, PlannedChange> = {
  layout: 'table',
  rows: ({ changes }) => changes,
  columns: [
    column.text('action', 'Would', 'what would be done'),
    column.text('what', 'What', 'to what', { cut: true }),
    column.text('detail', 'To or in', 'new value, file or address', { cut: true }),
  ],
  empty: 'Nothing would be changed.',
};

/** Where a server would listen; port 0: a free one. */
export function plannedAddress(port = 0, host = '127.0.0.1'): string {
  return `http://${host.includes(':') ? `[${host}]` : host}${port === 0 ? ', a free port' : `:${port}`}`;
}

export function showPlan(changes: readonly PlannedChange[]): Result {
  return { kind: 'answer', answer: { dryRun: true, changes }, view };
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
  // Before the question: from here on the terminal does not echo.
  const lines = createInterface({ input, output: hidden ? silent : output, terminal: true, historySize: 0 });
  const asked = terminalText(question);
  if (hidden) output.write(asked);
  return new Promise<string>((resolve, reject) => {
    const closeLines = () => lines.close();
    stop.signal.addEventListener('abort', closeLines, { once: true });
    lines.on('SIGINT', closeLines);
    // Readline would let the terminal echo again and stop; if it cannot stop (docker run -it), a secret would show.
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
