import { usageError } from '../errors.ts';
import { nearest } from '../model/nearest.ts';
import type { Program } from './command.ts';
import { findCommand, type GlobalOptions, readGlobals, refuseUnusedFlags } from './globals.ts';
import { beginsWith, listTopics, type Outline, type Shell, shells, type TypedInput } from './outline.ts';

export type CommandLine =
  | { kind: 'run'; outline: Outline; typed: TypedInput; options: GlobalOptions }
  | { kind: 'help'; words: readonly string[] }
  | { kind: 'version' }
  | { kind: 'completion'; shell: Shell };

/**
 * Reads a command line; version, help and completion without loading commander. Errors: `usage` for unknown words and flags, with the
 * nearest known one as hint, and for global flags that contradict each other or that the command does not use.
 */
export async function parse(
  typedArgv: readonly string[],
  { outlines }: Pick<Program, 'outlines'>,
): Promise<CommandLine> {
  const argv = helpAsFlag(typedArgv, outlines);
  const text = textRequest(argv, outlines);
  if (text !== undefined) return text;
  const found = findCommand(argv, outlines);
  const { readArgv } = await import('./commander.ts');
  const read = readArgv(argv, outlines, found);
  if (read.kind !== 'run') return read;
  const { outline, typed, globals } = read;
  // sandbox simulate has a --rate of its own.
  const isOwn = (name: string) => name === 'rate' && outline.fields.some(({ flag }) => flag === name);
  const options = readGlobals(Object.fromEntries(Object.entries(globals).filter(([name]) => !isOwn(name))));
  refuseUnusedFlags(outline, globals, options);
  return { kind: 'run', outline, typed, options };
}

function textRequest(argv: readonly string[], outlines: readonly Outline[]): CommandLine | undefined {
  const [first = '', second = ''] = argv;
  if (argv.length === 1 && ['--version', '-V'].includes(first)) return { kind: 'version' };
  const shell = argv.length === 2 && first === 'completion' ? shells.find((name) => name === second) : undefined;
  if (shell !== undefined) return { kind: 'completion', shell };
  const words = argv.filter((word) => !['--help', '-h', '--json'].includes(word));
  const asksHelp = argv.length === 0 || argv.includes('--help') || argv.includes('-h');
  const isKnown = outlines.some((outline) => beginsWith(outline.words, words));
  return asksHelp && isKnown ? { kind: 'help', words } : undefined;
}

/** `help leaderboard list` as `leaderboard list --help`; a help topic stays as it is. Errors: `usage` for a misspelled command. */
function helpAsFlag(argv: readonly string[], outlines: readonly Outline[]): readonly string[] {
  const [first, noun, ...others] = argv;
  if (first !== 'help') return argv;
  if (noun === undefined) return ['--help'];
  if (noun.startsWith('-')) return [...argv.slice(1), '--help'];
  const nouns = [...new Set(outlines.map(({ words }) => words[0] ?? ''))];
  if (nouns.includes(noun)) return [noun, ...others, '--help'];
  const near = nearest(noun, nouns);
  if (near === undefined || nearest(noun, listTopics(outlines)) !== undefined) return argv;
  throw usageError(`unknown command '${noun}'`, `Did you mean sotra help ${near}?`);
}
