import { statSync } from 'node:fs';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';

/** True where somebody sits at a terminal and may be asked. */
export function mayAsk({ world, options }: Pick<Context, 'world' | 'options'>): boolean {
  return world.io.in.isTTY === true && !options.noInput;
}

/**
 * A yes before something that cannot be undone: asked for on a terminal, `--yes` elsewhere. `deed` is what would be done, such as
 * `remove key trader`; `shown` is written before the question. Errors: `usage` for a no, and where nobody can be asked.
 */
export async function confirm(deed: string, context: Context, shown = ''): Promise<void> {
  const { world, options } = context;
  if (options.yes || options.preview) return;
  if (!mayAsk(context)) {
    const why = options.noInput ? '--no-input is set' : 'stdin is not a terminal';
    throw usageError(`cannot ask whether to ${deed}: ${why}`, 'Add --yes to do it without a question.');
  }
  if (shown !== '') await world.io.err.write(shown);
  const question = `${deed.charAt(0).toUpperCase()}${deed.slice(1)}? [y/N] `;
  const answer = await world.io.ask(question, { hidden: false });
  if (!/^y(es)?$/i.test(answer.trim())) throw usageError(`did not ${deed}: the answer was not yes`);
}

/** The same before a file that exists is replaced; pipes and devices are written to and not replaced. Errors as in `confirm`. */
export async function confirmReplace(flag: string, file: string, context: Context): Promise<void> {
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) await confirm(`replace ${file} (${flag})`, context);
}
