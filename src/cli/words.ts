import { usageError } from '../errors.ts';
import { nearest } from './flags.ts';
import { globalFlags } from './globals.ts';
import type { Outline } from './outline.ts';

/** The command that the words of a command line name, before parsing; `undefined` where they name none. Never throws. */
export function findCommand(argv: readonly string[], commands: readonly Outline[]): Outline | undefined {
  const words: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const token = argv[index] ?? '';
    if (!token.startsWith('-')) words.push(token);
    else if (globalFlags.some(({ flag, value }) => value !== undefined && token === `--${flag}`)) index += 1;
  }
  return commands
    .filter((command) => command.words.every((word, index) => words[index] === word))
    .sort((a, b) => b.words.length - a.words.length)[0];
}

/**
 * `help leaderboard list` as `leaderboard list --help`; a topic of help stays as it is. Errors: `usage` for a word that is nearly a command
 * and no topic.
 */
export function helpAsFlag(argv: readonly string[], commands: readonly Outline[]): readonly string[] {
  const [first, noun, ...others] = argv;
  if (first !== 'help') return argv;
  if (noun === undefined) return ['--help'];
  if (noun.startsWith('-')) return [...argv.slice(1), '--help'];
  const nouns = [...new Set(commands.map(({ words }) => words[0] ?? ''))];
  if (nouns.includes(noun)) return [noun, ...others, '--help'];
  const help = commands.find(({ words }) => words.join(' ') === 'help');
  const topics = help?.fields.flatMap(({ kind }) => kind.choices) ?? [];
  const near = nearest(noun, nouns);
  if (near === undefined || nearest(noun, topics) !== undefined) return argv;
  throw usageError(`unknown command '${noun}'`, `Did you mean sotra help ${near}?`);
}
