import type { Program } from './command.ts';
import { entryOf } from './entry.ts';
import { commandHelp, groupHelp, programHelp } from './help.ts';
import { type Outline, shells } from './outline.ts';

interface Asked {
  outlines: readonly Outline[];
  completion: Program['completion'];
  version: string;
  /** Columns of the terminal. */
  width: number;
  /** For machines: the same as JSON. */
  json: boolean;
}

/**
 * The text of the version, of help and of a completion script, where the command line asks for nothing else: nothing but outlines is needed
 * for them. `undefined` for any other command line.
 */
export async function quickText(argv: readonly string[], asked: Asked): Promise<string | undefined> {
  const [first = '', second = ''] = argv;
  if (argv.length === 1 && ['--version', '-V', '-v', 'version'].includes(first)) return versionText(asked);
  const shell =
    argv.length === 2 && first === 'completion'
      ? shells.find((name) => name === (second === 'pwsh' ? 'powershell' : second))
      : undefined;
  if (shell !== undefined) return asked.completion(shell);
  const words = argv.filter((word) => !['--help', '-h', '--json'].includes(word));
  const asksHelp = words.length < argv.filter((word) => word !== '--json').length;
  return asksHelp || argv.length === 0 ? helpText(words, asked) : undefined;
}

/** The version; in JSON under its name. Ends with a newline. */
export function versionText({ version, json }: Asked): string {
  return json ? `${JSON.stringify({ version })}\n` : `${version}\n`;
}

/**
 * Help of the program, of a noun or of a command, as text or as the entries of its commands; `undefined` where the words name none. Ends with
 * a newline.
 */
export function helpText(words: readonly string[], { outlines, width, json }: Asked): string | undefined {
  const under = outlines.filter((outline) => words.every((word, index) => outline.words[index] === word));
  if (under.length === 0) return undefined;
  if (json) return `${JSON.stringify({ commands: under.map(entryOf) }, null, 2)}\n`;
  if (words.length === 0) return programHelp(outlines, width);
  const exact = under.find((outline) => outline.words.length === words.length);
  return exact === undefined ? groupHelp(words, outlines, width) : commandHelp(exact, width);
}
