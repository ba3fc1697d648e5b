import { globalFlags } from './globals.ts';
import { beginsWith, type Outline } from './outline.ts';

/** The command that the words of a command line name. */
export function findCommand(argv: readonly string[], outlines: readonly Outline[]): Outline | undefined {
  const words = listWords(argv);
  return outlines
    .filter((outline) => beginsWith(words, outline.words))
    .sort((a, b) => b.words.length - a.words.length)[0];
}

/** The words that begin commands: `wait webhook` of `wait webhook evnt`. */
export function findGroup(argv: readonly string[], outlines: readonly Outline[]): readonly string[] {
  const words = listWords(argv);
  const isGroup = (length: number) => outlines.some((outline) => beginsWith(outline.words, words.slice(0, length)));
  return words.slice(0, words.findLastIndex((_, index) => isGroup(index + 1)) + 1);
}

/** The words of a command line, without flags and the values of global flags. */
export function listWords(argv: readonly string[]): string[] {
  const words: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const token = argv[index] ?? '';
    if (!token.startsWith('-')) words.push(token);
    else if (globalFlags.some(({ flag, value }) => value !== undefined && token === `--${flag}`)) index += 1;
  }
  return words;
}
