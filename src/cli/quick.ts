import { commandHelp, groupHelp, programHelp } from './help.ts';
import type { Outline } from './outline.ts';

interface Asked {
  outlines: readonly Outline[];
  version: string;
  /** Columns of the terminal. */
  width: number;
}

/**
 * The text of the version, of help and of a completion script, where the command line asks for nothing else: nothing but outlines is needed
 * for them. `undefined` for any other command line. Never throws.
 */
export async function quickText(
  argv: readonly string[],
  { outlines, version, width }: Asked,
): Promise<string | undefined> {
  const [first = '', second = ''] = argv;
  if (argv.length === 1 && (first === '--version' || first === '-V')) return `${version}\n`;
  if (argv.length === 2 && first === 'completion') {
    const { completionScript, isShell } = await import('./completions.ts');
    return isShell(second) ? completionScript(second, outlines) : undefined;
  }
  const words = argv.slice(0, -1);
  const isHelp = argv.length === 0 || ['--help', '-h'].includes(argv.at(-1) ?? '');
  return isHelp ? helpOf(words, outlines, width) : undefined;
}

function helpOf(words: readonly string[], outlines: readonly Outline[], width: number): string | undefined {
  if (words.length === 0) return programHelp(outlines, width);
  const under = outlines.filter((outline) => words.every((word, index) => outline.words[index] === word));
  const exact = under.find((outline) => outline.words.length === words.length);
  if (exact !== undefined) return commandHelp(exact, width);
  return under.length === 0 ? undefined : groupHelp(words, outlines, width);
}
