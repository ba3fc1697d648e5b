import type { Option } from 'commander';
import { programOptions } from '../../src/commands/options.ts';
import { listChoices } from '../../src/commands/read-input.ts';
import { formats } from '../../src/lib/output/view.ts';
import type { CommandFacts } from '../commands.ts';

type Field = CommandFacts['fields'][number];

/** Names that the program is asked for: what lists them, one a line, without the network. */
export const nameLists = {
  contexts: 'context list --columns name',
  aliases: 'alias list --columns alias',
  keys: 'key list --columns name',
} as const;

/** For bash and zsh: the function that asks the program for names. `program` is how it is called with its arguments. */
export function askNames(program: string): string {
  return `# Asks the program for names; to be called in a subshell, which is all that the key is taken from. Some of them others gave: only those are
# offered that hold nothing a shell would read.
_sotra_names() {
  unset SOTRA_API_KEY
  local LC_ALL=C name
  ${program} 2>/dev/null | while IFS= read -r name; do
    case "$name" in '' | -* | *[!A-Za-z0-9_.:@/-]*) ;; *) echo "$name" ;; esac
  done
}
`;
}

/** What can be typed in one place of a command line. */
export interface Slot {
  values: readonly string[];
  names?: keyof typeof nameLists;
  file: boolean;
  /** Comma-separated. */
  list: boolean;
}

export interface TreeFlag extends Slot {
  /** With its dashes. */
  flag: string;
  short?: string;
  help: string;
  /** False: a yes/no flag. */
  takesValue: boolean;
}

/** The program, a noun, or a command. */
export interface TreeNode {
  /** Its words; empty for the program. */
  path: string;
  children: readonly { word: string; help: string }[];
  /** Without those of the program. */
  flags: readonly TreeFlag[];
  /** Positional, in order; the last repeats if `rest`. */
  arguments: readonly Slot[];
  rest: boolean;
  /** Where a value is typed: after a flag, or as the argument of a number, counted from 1; `rest`: also as later ones. */
  places: readonly (Slot & { at: string; rest: boolean })[];
}

export interface CommandTree {
  nodes: readonly TreeNode[];
  globals: readonly TreeFlag[];
  /** Every flag of any command that takes a value. */
  valued: readonly string[];
}

const plain: Slot = { values: [], file: false, list: false };

/** Everything that can be typed, in the order of help. */
export function commandTree(commands: readonly CommandFacts[]): CommandTree {
  const groups = [
    ...new Set(commands.flatMap(({ words }) => words.map((_, index) => words.slice(0, index).join(' ')))),
  ];
  const nodes = [...groups.map((path) => groupNode(path, commands)), ...commands.map(commandNode)];
  const globals = programOptions().map((option) => optionFlag(option));
  const valued = [...globals, ...nodes.flatMap((node) => node.flags)].filter((flag) => flag.takesValue);
  return { nodes, globals, valued: [...new Set(valued.flatMap(spellings))].sort() };
}

function spellings({ flag, short }: { flag: string; short?: string }): string[] {
  return short === undefined ? [flag] : [flag, short];
}

function groupNode(path: string, commands: readonly CommandFacts[]): TreeNode {
  const depth = path === '' ? 0 : path.split(' ').length;
  const under = commands.filter(({ words }) => words.length > depth && words.slice(0, depth).join(' ') === path);
  const words = [...new Set(under.map((command) => command.words[depth] ?? ''))];
  const help = (word: string) => {
    const own = under.filter((command) => command.words[depth] === word);
    return own.length === 1
      ? (own[0]?.summary ?? '')
      : own.map(({ words: all }) => all.slice(depth + 1).join(' ')).join(', ');
  };
  return {
    path,
    children: words.map((word) => ({ word, help: help(word) })),
    flags: [],
    arguments: [],
    rest: false,
    places: [],
  };
}

function commandNode(command: CommandFacts): TreeNode {
  const { fields } = command;
  const positional = fields.filter((field) => field.positional);
  const columns = command.columns.map(({ key }) => key);
  const isOwn = ({ positional: isArgument, flag }: Field) =>
    !isArgument && programOptions().every(({ long }) => long !== `--${flag}`);
  const flags = [
    ...fields.filter(isOwn).map((field) => commandFlag(field)),
    ...command.shared.map((option) => optionFlag(option, columns)),
  ];
  const slots = positional.map((field) => slotOf(field, command));
  const rest = positional.at(-1)?.kind.type === 'list';
  return {
    path: command.words.join(' '),
    children: [],
    flags,
    arguments: slots,
    rest,
    places: [
      ...flags.flatMap((flag) => spellings(flag).map((at) => ({ ...flag, at, rest: false }))),
      ...slots.map((slot, index) => ({ ...slot, at: String(index + 1), rest: rest && index === slots.length - 1 })),
    ],
  };
}

function commandFlag(field: Field): TreeFlag {
  const { kind, help } = field;
  const short = field.short === undefined ? {} : { short: `-${field.short}` };
  return { ...slotOf(field), flag: `--${field.flag}`, ...short, help, takesValue: kind.type !== 'boolean' };
}

function slotOf(field: Field, command?: CommandFacts): Slot {
  const { kind, positional, flag } = field;
  const slot = { ...plain, values: listChoices(field), list: kind.type === 'list' && positional !== true };
  if (flag === 'key' || (command?.words[0] === 'key' && flag === 'name')) return { ...slot, names: 'keys' };
  if (command?.words[0] === 'context') return { ...slot, names: 'contexts' };
  if (command?.words.join(' ') === 'alias remove' || field.identifier || flag === 'who')
    return { ...slot, names: 'aliases' };
  return { ...slot, file: /(^|-)(file|db|rejects)$/.test(flag) };
}

function optionFlag({ long = '', description, required }: Option, columns: readonly string[] = []): TreeFlag {
  const values = long === '--format' ? formats : long === '--columns' ? columns : [];
  const names = long === '--context' ? ({ names: 'contexts' } as const) : {};
  return {
    ...plain,
    values,
    list: long === '--columns',
    ...names,
    flag: long,
    help: description,
    takesValue: required,
  };
}

/** The cases of a shell that match a command and a place in it; `caseOf` writes one, or nothing for a place without values. */
export function valueCases(
  { nodes, globals }: Pick<CommandTree, 'nodes' | 'globals'>,
  caseOf: (pattern: string, slot: Slot) => string[],
): string[] {
  return [
    ...nodes.flatMap(({ path, places }) =>
      places.flatMap((slot) => caseOf(slot.rest ? `'${path} '[${slot.at}-9]*` : `'${path} ${slot.at}'`, slot)),
    ),
    ...globals.flatMap((slot) => caseOf(`*' ${slot.flag}'`, slot)),
  ];
}
