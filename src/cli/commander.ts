import { Argument, CommanderError, Command as Node, Option } from 'commander';
import { type SotraError, usageError } from '../errors.ts';
import type { Column } from '../output/view.ts';
import type { Command } from './command.ts';
import { type Field, fieldsOf, nearest, type Typed } from './flags.ts';
import { globalFlags } from './globals.ts';
import { commandHelp, groupHelp, programHelp } from './help.ts';

/** What a command line asks for: a command to run, or text to print. */
export type Parsed =
  | { kind: 'run'; command: Command; fields: readonly Field[]; typed: Typed; globals: Record<string, unknown> }
  | { kind: 'text'; text: string };

/** The command that the words of a command line name, before parsing; `undefined` where they name none. Never throws. */
export function findCommand(argv: readonly string[], commands: readonly Command[]): Command | undefined {
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
export function helpAsFlag(argv: readonly string[], commands: readonly Command[]): readonly string[] {
  const [first, noun, ...others] = argv;
  if (first !== 'help') return argv;
  if (noun === undefined) return ['--help'];
  if (noun.startsWith('-')) return [...argv.slice(1), '--help'];
  const nouns = [...new Set(commands.map(({ words }) => words[0] ?? ''))];
  if (nouns.includes(noun)) return [noun, ...others, '--help'];
  const help = commands.find(({ words }) => words.join(' ') === 'help');
  const topics = help === undefined ? [] : fieldsOf(help.params).flatMap(({ kind }) => kind.choices);
  const near = nearest(noun, nouns);
  if (near === undefined || nearest(noun, topics) !== undefined) return argv;
  throw usageError(`unknown command '${noun}'`, `Did you mean sotra help ${near}?`);
}

/**
 * Reads a command line. `columns` are those of the found command's view, for its help, `width` the terminal's. Errors: `usage` for unknown words
 * and flags, with the nearest known one as hint.
 */
export function parseArgv(
  argv: readonly string[],
  commands: readonly Command[],
  version: string,
  columns: readonly Column<never>[],
  width: number,
): Parsed {
  const found = findCommand(argv, commands);
  const parsing: Parsing = { found, columns, width, printed: '', parsed: undefined };
  const program = buildProgram(commands, version, parsing);
  try {
    program.parse(argv, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (['commander.helpDisplayed', 'commander.help', 'commander.version'].includes(thrown.code))
      return { kind: 'text', text: parsing.printed };
    throw fromCommander(thrown, found);
  }
  if (parsing.parsed === undefined) return { kind: 'text', text: programHelp(commands, width) };
  return parsing.parsed;
}

interface Parsing {
  found: Command | undefined;
  columns: readonly Column<never>[];
  width: number;
  printed: string;
  parsed: Parsed | undefined;
}

function buildProgram(commands: readonly Command[], version: string, parsing: Parsing): Node {
  const print = (text: string) => {
    parsing.printed += text;
  };
  const prepare = (node: Node, help: () => string) => {
    node.exitOverride();
    node.configureOutput({
      writeOut: print,
      writeErr: (text) => (text.startsWith('error:') ? undefined : print(text)),
    });
    node.helpOption('-h, --help', 'show help').helpCommand(false);
    node.helpInformation = help;
    return node;
  };
  const program = prepare(new Node('sotra'), () => programHelp(commands, parsing.width));
  program.version(version, '-V, --version');
  for (const { flag, value } of globalFlags)
    program.addOption(new Option(value ? `--${flag} <${value}>` : `--${flag}`));
  for (const command of commands) {
    let node = program;
    command.words.forEach((word, index) => {
      const group = command.words.slice(0, index + 1);
      const known = node.commands.find((child) => child.name() === word);
      const help = () => groupHelp(group, commands, parsing.width);
      const next = known ?? prepare(new Node(word), help);
      if (!known) node.addCommand(next);
      node = next;
    });
    if (command === parsing.found) fillCommand(node, command, parsing);
  }
  return program;
}

function fillCommand(node: Node, command: Command, parsing: Parsing): void {
  const fields = fieldsOf(command.params);
  node.helpInformation = () => commandHelp(command, fields, parsing.columns, parsing.width);
  node.allowExcessArguments(false);
  for (const field of fields) {
    if (field.param.positional) node.addArgument(new Argument(`[${field.flag}${field.kind.list ? '...' : ''}]`));
    else if (!isGlobal(field)) for (const option of optionsOf(field)) node.addOption(option);
  }
  node.action(() => {
    parsing.parsed = { kind: 'run', command, fields, typed: typedOf(node, fields), globals: globalsOf(node) };
  });
}

/** A command may take a global flag as an input of its own: `context set --base-url`. */
function isGlobal(field: Field): boolean {
  return globalFlags.some(({ flag }) => flag === field.flag);
}

function optionsOf(field: Field): Option[] {
  if (field.kind.type === 'boolean') return [new Option(`--${field.flag}`), new Option(`--no-${field.flag}`)];
  const short = field.param.short === undefined ? '' : `-${field.param.short}, `;
  const option = new Option(`${short}--${field.flag} <value>`);
  if (field.kind.list) option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
  return [option];
}

function typedOf(node: Node, fields: readonly Field[]): Typed {
  const options = node.optsWithGlobals();
  let position = 0;
  const entries = fields.map((field) => {
    if (!field.param.positional) return [field.key, options[attributeOf(field.flag)]];
    const value = node.processedArgs[position];
    position += 1;
    return [field.key, Array.isArray(value) && value.length === 0 ? undefined : value];
  });
  return Object.fromEntries(entries);
}

function attributeOf(flag: string): string {
  return new Option(`--${flag}`).attributeName();
}

function globalsOf(node: Node): Record<string, unknown> {
  const { color, input, ...others } = node.optsWithGlobals();
  return { ...others, noColor: color === false, noInput: input === false };
}

function fromCommander(error: CommanderError, found: Command | undefined): SotraError {
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const suggestion = rest
    .join(' ')
    .replace(/^\((.*)\)$/, '$1')
    .trim();
  const words = ['sotra', ...(found?.words ?? []), '--help'].join(' ');
  return usageError(first, suggestion === '' ? `See ${words}.` : suggestion);
}
