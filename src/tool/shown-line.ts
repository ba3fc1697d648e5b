import { writeFlags } from '../cli/globals.ts';
import { wrapCommand } from '../cli/help.ts';
import type { Context } from '../context.ts';
import { safeText } from '../model/safe-text.ts';
import { shellLine } from '../model/shell.ts';

export function typedLine(argv: readonly string[]): string {
  return shellLine(['sotra', ...argv]);
}

/** Shows a command line, as wide as the terminal. */
export async function showLine(argv: readonly string[], { world, options }: Context): Promise<void> {
  if (options.format === 'json') return;
  const [first = '', ...others] = wrapCommand(safeText(typedLine(argv)), world.io.out.width - 2);
  await world.io.out.write(`${[`$ ${first.trimStart()}`, ...others].join('\n')}\n`);
}

/** Runs a command line, and returns its exit code and what it printed, which is shown unless JSON is asked for. */
export async function runShown(
  argv: readonly string[],
  { options, runLine, world }: Context,
): Promise<{ code: number; printed: string }> {
  let printed = '';
  const write = async (text: string) => {
    printed += text;
    if (options.format !== 'json') await world.io.out.write(text);
  };
  const code = await runLine([...argv, ...writeLookFlags(options)], {
    ...world,
    io: { ...world.io, out: { ...world.io.out, write } },
  });
  return { code, printed };
}

function writeLookFlags({ noColor, quiet, verbose, format, noInput, yes }: Context['options']): string[] {
  const looks = { '--no-color': noColor, '--quiet': quiet, '--no-input': noInput };
  return writeFlags({ ...looks, '--verbose': verbose, '--yes': yes, '--json': format === 'json' });
}

/** The flags of calls that were typed, for a command line that makes them. */
export function callFlags({ typedTimeoutMs, retries, rate }: Context['options']): string[] {
  return writeFlags({
    '--timeout': typedTimeoutMs && `${typedTimeoutMs}ms`,
    '--retries': retries,
    '--rate': rate?.text,
  });
}
