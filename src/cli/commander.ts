import { Argument, CommanderError, Command as Node, Option } from 'commander';
import { type SotraError, seeHelp, usageError } from '../errors.ts';
import type { Typed } from './flags.ts';
import { globalFlags } from './globals.ts';
import type { Field, Outline } from './outline.ts';
import { findCommand, otherName } from './words.ts';

/** What a command line asks for: a command to run, help of the program, a noun or a command, or the version. */
export type Parsed =
  | { kind: 'run'; outline: Outline; typed: Typed; globals: Record<string, unknown> }
  | { kind: 'help'; words: readonly string[] }
  | { kind: 'version' };

/** Reads a command line. Errors: `usage` for unknown words and flags, with the nearest known one as hint. */
export function parseArgv(argv: readonly string[], commands: readonly Outline[]): Parsed {
  const found = findCommand(argv, commands);
  const parsing: Parsing = { found, parsed: { kind: 'help', words: [] } };
  const program = buildProgram(commands, parsing);
  try {
    program.parse(argv, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.code === 'commander.version') return { kind: 'version' };
    if (!['commander.helpDisplayed', 'commander.help'].includes(thrown.code))
      throw fromCommander(thrown, argv, commands, parsing);
  }
  return parsing.parsed;
}

interface Parsing {
  found: Outline | undefined;
  /** The command that was found, once it has read its arguments. */
  node?: Node;
  parsed: Parsed;
}

function buildProgram(commands: readonly Outline[], parsing: Parsing): Node {
  const prepare = (node: Node, words: readonly string[]) => {
    node.exitOverride();
    node.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
    node.helpOption('-h, --help', 'show help').helpCommand(false);
    node.helpInformation = () => {
      parsing.parsed = { kind: 'help', words };
      return '';
    };
    return node;
  };
  const program = prepare(new Node('sotra'), []);
  program.version('', '-V, --version');
  for (const { flag, value } of globalFlags)
    program.addOption(new Option(value ? `--${flag} <${value}>` : `--${flag}`));
  for (const command of commands) {
    let node = program;
    command.words.forEach((word, index) => {
      const group = command.words.slice(0, index + 1);
      const known = node.commands.find((child) => child.name() === word);
      const next = known ?? prepare(new Node(word), group);
      if (!known) node.addCommand(next);
      node = next;
    });
    if (command === parsing.found) fillCommand(node, command, parsing);
  }
  return program;
}

function fillCommand(node: Node, command: Outline, parsing: Parsing): void {
  const { fields } = command;
  parsing.node = node;
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
  const names = [`${short}--${field.flag}`, ...(field.oldFlags ?? []).map((flag) => `--${flag}`)];
  return names.map((name) => {
    const option = new Option(`${name} <value>`);
    if (field.kind.list) option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
    return option;
  });
}

function typedOf(node: Node, fields: readonly Field[]): Typed {
  const options = node.optsWithGlobals();
  let position = 0;
  const entries = fields.map((field) => {
    if (!field.positional) return [field.key, typedFor(field, options)];
    const value = node.processedArgs[position];
    position += 1;
    return [field.key, Array.isArray(value) && value.length === 0 ? undefined : value];
  });
  return Object.fromEntries(entries);
}

/** What was typed for a flag, also under a name it had before. Errors: `usage` where it was typed under both. */
function typedFor({ flag, oldFlags = [] }: Field, options: Record<string, unknown>): unknown {
  const [typed, other] = [flag, ...oldFlags].filter((name) => options[attributeOf(name)] !== undefined);
  if (typed !== undefined && other !== undefined)
    throw usageError(`--${other} is the same flag as --${typed}`, 'Leave one of them out.');
  return typed === undefined ? undefined : options[attributeOf(typed)];
}

function attributeOf(flag: string): string {
  return new Option(`--${flag}`).attributeName();
}

function globalsOf(node: Node): Record<string, unknown> {
  const { color, input, ...others } = node.optsWithGlobals();
  return { ...others, noColor: color === false, noInput: input === false };
}

/** The error in our words; only the names that commander found near an unknown one are its own. */
function fromCommander(
  { code, message }: CommanderError,
  argv: readonly string[],
  commands: readonly Outline[],
  { found, node }: Parsing,
): SotraError {
  const [, name = '', near] = /^[^']*'([^']*)'(?:.*\n\(?(Did you mean .*\?))?/.exec(message) ?? [];
  const hint = otherName(name, argv, commands) ?? near ?? seeHelp;
  if (code === 'commander.unknownOption') return usageError(`unknown option '${name}'`, hint);
  if (code === 'commander.unknownCommand') return usageError(`unknown command '${name}'`, hint);
  if (code === 'commander.optionMissingArgument') return usageError(`${name.split(' ').at(-2)} needs a value`, seeHelp);
  const places = found?.fields.filter(({ positional }) => positional) ?? [];
  const surplus = (node?.args ?? []).slice(places.length);
  const takes = places.length === 0 ? 'no arguments' : places.map(({ label }) => label).join(' ');
  return usageError(`unexpected argument '${surplus.join(' ')}': ${found?.words.join(' ')} takes ${takes}`, seeHelp);
}
