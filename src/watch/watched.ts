import type { Command, Result } from '../cli/command.ts';
import { option } from '../cli/params.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { parseDuration } from '../model/duration.ts';
import type { RowKey } from './changes.ts';

const [minEveryMs, maxEveryMs] = [100, 3_600_000];

/** A flag that takes an interval; `bare` is the one where none is typed. */
export const intervalParam = (help: string, bare?: string) =>
  option.checked(help, isInterval, 'must be a time from 100ms to 1h, such as 5s', bare === undefined ? {} : { bare });

function isInterval(text: string): boolean {
  const ms = parseDuration(text);
  return ms !== undefined && ms >= minEveryMs && ms <= maxEveryMs;
}

export const everyMsOf = (watch: string): number => parseDuration(watch) ?? minEveryMs;

/** The command with `--watch`: its table drawn again in place with what changed marked, or elsewhere what changed, one object a line. */
export function watched(command: Command, key: RowKey): Command {
  return {
    ...command,
    params: {
      ...command.params,
      watch: intervalParam('run it again this often, marking what changed; in a pipe print changes', '10s'),
    },
    run: async ({ watch, ...typed }: Record<string, unknown>, context: Context): Promise<Result> => {
      if (typeof watch !== 'string') return command.run(typed as never, context);
      checkWatch(typed, context);
      if (context.options.preview) return command.run(typed as never, context);
      const { watchCommand } = await import('./watch.ts');
      return watchCommand({ command, typed, everyMs: everyMsOf(watch), key, context });
    },
  };
}

/** Errors: `usage`. */
function checkWatch(typed: Readonly<Record<string, unknown>>, { options }: Context): void {
  const rival = ['all', 'max', 'save', 'chart'].find((flag) => typed[flag] !== undefined && typed[flag] !== false);
  if (rival !== undefined) throw usageError(`--watch and --${rival} cannot be used together`, 'Omit one of them.');
  if (options.format === 'md') throw usageError('--format md needs the end of the list, which --watch does not have');
}
