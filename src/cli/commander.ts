import { Argument, CommanderError, Command as Node, Option } from 'commander';
import { type SotraError, usageError } from '../errors.ts';
import type { Typed } from './flags.ts';
import { globalFlags } from './globals.ts';
import { commandHelp, groupHelp, programHelp } from './help.ts';
import type { Field, Outline } from './outline.ts';
import { findCommand } from './words.ts';

/** What a command line asks for: a command to run, or text to print. */
export type Parsed =
  | { kind: 'run'; outline: Outline; typed: Typed; globals: Record<string, unknown> }
  | { kind: 'text'; text: string };

/** Reads a command line; `width` is the terminal's. Errors: `usage` for unknown words and flags, with the nearest known one as hint. */
export function parseArgv(
  argv: readonly string[],
  commands: readonly Outline[],
  version: string,
  width: number,
): Parsed {
  const found = findCommand(argv, commands);
  const parsing: Parsing = { found, width, printed: '', parsed: undefined };
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
  found: Outline | undefined;
  width: number;
  printed: string;
  parsed: Parsed | undefined;
}

function buildProgram(commands: readonly Outline[], version: string, parsing: Parsing): Node {
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

function fillCommand(node: Node, command: Outline, parsing: Parsing): void {
  const { fields } = command;
  node.helpInformation = () => commandHelp(command, parsing.width);
  node.allowExcessArguments(false);
  for (const field of fields) {
    if (field.positional) node.addArgument(new Argument(`[${field.flag}${field.kind.list ? '...' : ''}]`));
    else if (!isGlobal(field)) for (const option of optionsOf(field)) node.addOption(option);
  }
  node.action(() => {
    parsing.parsed = { kind: 'run', outline: command, typed: typedOf(node, fields), globals: globalsOf(node) };
  });
}

/** A command may take a global flag as an input of its own: `context set --base-url`. */
function isGlobal(field: Field): boolean {
  return globalFlags.some(({ flag }) => flag === field.flag);
}

function optionsOf(field: Field): Option[] {
  if (field.kind.type === 'boolean') return [new Option(`--${field.flag}`), new Option(`--no-${field.flag}`)];
  const short = field.short === undefined ? '' : `-${field.short}, `;
  const option = new Option(`${short}--${field.flag} <value>`);
  if (field.kind.list) option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
  return [option];
}

function typedOf(node: Node, fields: readonly Field[]): Typed {
  const options = node.optsWithGlobals();
  let position = 0;
  const entries = fields.map((field) => {
    if (!field.positional) return [field.key, options[attributeOf(field.flag)]];
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

function fromCommander(error: CommanderError, found: Outline | undefined): SotraError {
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const suggestion = rest
    .join(' ')
    .replace(/^\((.*)\)$/, '$1')
    .trim();
  const words = ['sotra', ...(found?.words ?? []), '--help'].join(' ');
  return usageError(first, suggestion === '' ? `See ${words}.` : suggestion);
}
