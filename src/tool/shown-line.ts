import { writeFlags } from '../cli/globals.ts';
import { wrapCommand } from '../cli/help.ts';
import type { Context } from '../context.ts';
import { safeText } from '../model/safe-text.ts';
import { shellWord } from '../model/shell.ts';
import type { World } from '../world.ts';

export function typedLine(argv: readonly string[]): string {
  const isPlaceholder = (word: string) => /^[\w:./-]*<(folder|port|address|hash)>[\w:./-]*$/.test(word);
  return ['sotra', ...argv.map((word) => (isPlaceholder(word) ? word : shellWord(word)))].join(' ');
}

/** Shows a command line, as wide as the terminal. */
export async function showLine(argv: readonly string[], { world, options }: Context, suffix = ''): Promise<void> {
  if (options.format === 'json') return;
  const [first = '', ...others] = wrapCommand(safeText(`${typedLine(argv)}${suffix}`), world.io.out.width - 2);
  await world.io.out.write(`${[`$ ${first.trimStart()}`, ...others].join('\n')}\n`);
}

/** Runs a command line, and returns its exit code and what it printed, which is shown unless JSON is asked for. */
export async function runShown(
  argv: readonly string[],
  { options, runLine, world: { io } }: Context,
  world: World,
): Promise<{ code: number; printed: string }> {
  let printed = '';
  const write = async (text: string) => {
    printed += text;
    if (options.format !== 'json') await io.out.write(text);
  };
  const code = await runLine([...argv, ...writeLookFlags(options)], {
    ...world,
    io: { err: world.io.err, in: world.io.in, ask: world.io.ask, out: { ...io.out, write } },
  });
  return { code, printed };
}

function writeLookFlags({ noColor, ascii, plain, quiet, verbose, format, noInput, yes }: Context['options']): string[] {
  const looks = { '--no-color': noColor, '--ascii': ascii, '--plain': plain, '--quiet': quiet, '--no-input': noInput };
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
