import { statSync } from 'node:fs';
import { safeText } from '../../api/safe-text.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { Io } from '../io.ts';
import { column } from './columns.ts';
import type { Result } from './result.ts';
import type { View } from './view.ts';

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
    throw usageError(`cannot ask whether to ${asked}: ${why}`, 'Add --yes to do it without a question.');
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

/** The same before a regular file is replaced. Errors: `usage`. */
export async function confirmReplace(flag: string, file: string, context: Context): Promise<void> {
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
    await io.err.write(`There is no number ${safeText(answer)}.\n`);
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

export function showPlan(changes: readonly PlannedChange[]): Result {
  return { kind: 'answer', answer: { dryRun: true, changes }, view };
}
