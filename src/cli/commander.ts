import { Argument, CommanderError, Command as Node, Option } from 'commander';
import { type SotraError, seeHelp, usageError } from '../errors.ts';
import { nearest } from '../model/nearest.ts';
import { command, shellLine, shellWord } from '../model/shell.ts';
import { formats } from '../output/result.ts';
import { findGroup, globalFlags, listWords, withoutWords } from './globals.ts';
import { isReference, listChoices } from './input.ts';
import { beginsWith, type Field, type Outline, type TypedInput } from './outline.ts';

type ReadArgv =
  | { kind: 'run'; outline: Outline; typed: TypedInput; globals: Record<string, unknown> }
  | { kind: 'help'; words: readonly string[] }
  | { kind: 'version' };

/**
 * What commander makes of a command line; `found` is the command that its words name. Errors: `usage` for unknown words and flags, with
 * the nearest known one as hint.
 */
export function readArgv(argv: readonly string[], outlines: readonly Outline[], found: Outline | undefined): ReadArgv {
  const words = found?.words ?? findGroup(argv, outlines);
  const fields = found?.fields ?? [];
  const node = buildNode(fields);
  if (found === undefined) node.addArgument(new Argument('[words...]'));
  const own = withoutWords(argv, found?.words.length ?? 0);
  try {
    node.parse(own, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.code === 'commander.version') return { kind: 'version' };
    if (thrown.code === 'commander.helpDisplayed') return { kind: 'help', words };
    if (found === undefined) refuseGroup(argv, words, node.parseOptions([...own]).unknown, outlines);
    throw explainParseError(thrown, own, node, { words, fields });
  }
  if (found !== undefined) {
    const typed = readTyped(node, fields);
    refuseOrder(argv, found, typed);
    return { kind: 'run', outline: found, typed, globals: readTypedGlobals(node) };
  }
  if (listWords(argv).length > words.length) throw unknownCommand(argv, words, outlines);
  return { kind: 'help', words };
}

/** Errors: `usage`, with the right line, for two arguments that stand in each other's place. */
function refuseOrder(argv: readonly string[], { words, fields }: Outline, typed: TypedInput): void {
  const places = fields.filter(({ positional }) => positional);
  const allows = ({ kind }: Field, { key }: Field) => listChoices({ kind }).includes(String(typed[key]));
  const swaps = places.map(
    (one) => [one, places.find((other) => allows(one, other) && !allows(other, other))] as const,
  );
  const [one, other] = swaps.find(([place, wanted]) => wanted !== undefined && !allows(place, place)) ?? [];
  if (one === undefined || other === undefined) return;
  const [before, after] = [String(typed[one.key]), String(typed[other.key])];
  const line = argv.map((word) => (word === before ? after : word === after ? before : word));
  throw usageError(
    `${words.join(' ')} takes ${places.map(({ label }) => label).join(' ')}, in this order`,
    `Did you mean ${shellLine(['sotra', ...line])}?`,
  );
}

/** A flag may be right for a command that is missing or mistyped. Errors: `usage` naming the command, where one was begun. */
function refuseGroup(
  argv: readonly string[],
  words: readonly string[],
  [flag = '']: readonly string[],
  outlines: readonly Outline[],
): void {
  // What follows an unknown flag may be its value.
  const name = listWords(argv)[words.length];
  if (name !== undefined && argv.indexOf(name) < argv.indexOf(flag)) throw unknownCommand(argv, words, outlines);
  const verbs = outlines
    .filter((outline) => beginsWith(outline.words, words))
    .map((outline) => outline.words[words.length]);
  if (words.length > 0)
    throw usageError(`sotra ${words.join(' ')} needs a command`, `It has ${[...new Set(verbs)].join(', ')}.`);
}

/** One command with its flags and those of all commands. */
function buildNode(fields: readonly Field[]): Node {
  const node = new Node('sotra').exitOverride().allowExcessArguments(false);
  node.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  node.helpOption('-h, --help', 'show help').helpCommand(false).version('', '-V, --version');
  node.helpInformation = () => '';
  for (const { flag, value } of globalFlags) node.addOption(new Option(value ? `--${flag} <${value}>` : `--${flag}`));
  for (const field of fields) {
    if (field.positional) node.addArgument(new Argument(`[${field.flag}${field.kind.type === 'list' ? '...' : ''}]`));
    else if (!isGlobal(field)) for (const option of makeOptions(field)) node.addOption(option);
  }
  return node;
}

/** `context set --base-url`: a global flag that is also an input of a command. */
function isGlobal(field: Field): boolean {
  return globalFlags.some(({ flag }) => flag === field.flag);
}

function makeOptions(field: Field): Option[] {
  if (field.kind.type === 'boolean') return [new Option(`--${field.flag}`), new Option(`--no-${field.flag}`)];
  const short = field.short === undefined ? '' : `-${field.short}, `;
  const option = new Option(`${short}--${field.flag} <value>`);
  if (field.kind.type === 'list')
    option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
  else option.argParser(readOnce(field.flag));
  return [option];
}

/** Errors: `usage` for a flag that is given twice with different values: one of them would be ignored. */
function readOnce(flag: string) {
  return (text: string, before: string | undefined): string => {
    if (before === undefined || before === text) return text;
    throw usageError(`--${flag} is given twice: ${before} and ${text}`, 'It takes one value: omit the other.');
  };
}

function readTyped(node: Node, fields: readonly Field[]): TypedInput {
  const options = node.opts();
  let position = 0;
  const entries = fields.map((field) => {
    if (!field.positional) return [field.key, options[attributeName(field.flag)]];
    const value = node.processedArgs[position];
    position += 1;
    return [field.key, Array.isArray(value) && value.length === 0 ? undefined : value];
  });
  return Object.fromEntries(entries);
}

function attributeName(flag: string): string {
  return new Option(`--${flag}`).attributeName();
}

function readTypedGlobals(node: Node): Record<string, unknown> {
  const { color, input, ...others } = node.opts();
  return { ...others, noColor: color === false, noInput: input === false };
}

/** The error in our words, by commander's code. */
function explainParseError(
  { code }: CommanderError,
  argv: readonly string[],
  node: Node,
  { words, fields }: Pick<Outline, 'words' | 'fields'>,
): SotraError {
  if (code === 'commander.optionMissingArgument') return usageError(`${argv.at(-1)} needs a value`, seeHelp);
  if (code === 'commander.unknownOption') {
    const [word = ''] = node.parseOptions([...argv]).unknown;
    const [flag = ''] = word.split('=');
    const [place] = fields.filter(({ positional }) => positional);
    if (place?.flag === 'comment' && / /.test(word)) {
      const line = ['sotra', ...words, ...argv.filter((each) => each !== word), '--', word];
      return usageError(`unknown option '${word}'`, `Did you mean ${shellLine(line)}?`);
    }
    const isPlace = place !== undefined && placeNames.includes(flag);
    if (isPlace)
      return usageError(`unknown option '${flag}'`, `It is the argument: sotra ${words.join(' ')} ${place.label}.`);
    const known = [...globalFlags, ...fields.filter(({ positional }) => !positional)].map((each) => `--${each.flag}`);
    if (known.includes(flag)) return usageError(`${flag} takes no value`, `Type ${flag} alone.`);
    const near = nearest(flag, known);
    return usageError(
      `unknown option '${flag}'`,
      hintForFlag(flag, argv, { words, known }) ?? didYouMean(near) ?? seeHelp,
    );
  }
  const places = fields.filter(({ positional }) => positional);
  const takes = places.length === 0 ? 'no arguments' : places.map(({ label }) => label).join(' ');
  const surplus = node.args.slice(places.length).join(' ');
  const file = fields.find(({ flag, positional }) => !positional && fileFlags.includes(flag));
  const hint =
    places.at(-1)?.flag === 'comment'
      ? 'Put a text of several words in quotes.'
      : file && /\.\w+$|\/|^-$/.test(surplus)
        ? command`Did you mean --${file.flag} ${surplus}?`
        : didYouMean(joinList(argv, node.args.slice(places.length), fields));
  return usageError(`unexpected argument '${surplus}': ${words.join(' ')} takes ${takes}`, hint ?? seeHelp);
}

/** The flag of a list that was typed with spaces, with commas: `--chains base,solana`. */
function joinList(argv: readonly string[], surplus: readonly string[], fields: readonly Field[]): string | undefined {
  const at = argv.lastIndexOf(surplus[0] ?? '');
  const [flag, first] = argv.slice(at - 2, at);
  const list = fields.find((field) => `--${field.flag}` === flag && field.kind.type === 'list' && !field.whole);
  const fits = (text: string) => list?.identifier !== undefined || (list && listChoices(list).includes(text));
  return surplus.every(fits) ? `${flag} ${shellWord([first, ...surplus].join(','))}` : undefined;
}

function unknownCommand(argv: readonly string[], words: readonly string[], outlines: readonly Outline[]): SotraError {
  const name = listWords(argv)[words.length] ?? '';
  const known = outlines.filter((outline) => beginsWith(outline.words, words));
  const near = nearest(
    name,
    known.map((each) => each.words[words.length] ?? ''),
  );
  return usageError(`unknown command '${name}'`, didYouMean(findMeant(argv, words, outlines) ?? near) ?? seeHelp);
}

const otherVerbs: ReadonlyMap<string, readonly string[]> = new Map([
  ['ls', ['list']],
  ['test', ['trigger']],
  ['rm', ['remove', 'delete', 'delete-name', 'logout']],
  ['del', ['delete', 'remove']],
  ['delete', ['remove', 'delete-name']],
  ['remove', ['delete', 'delete-name']],
  ['create', ['register', 'generate', 'set', 'post', 'add']],
  ['new', ['generate', 'register', 'set', 'post', 'add']],
  ['add', ['set', 'import', 'register']],
  ['holders', ['positions']],
  ['trades', ['positions', 'actor']],
  ['show', ['get', 'status', 'list']],
  ['view', ['get', 'show', 'status', 'list']],
  ['get', ['show', 'list', 'status']],
]);

const apiKeyHint =
  'A key is never an argument: sotra auth login asks for it, or reads it with --with-key < file; or set SOTRA_API_KEY.';
const privateKeyHint =
  'A private key is never an argument: --key-file <file>, --key-env <variable>, --key-stdin, or --key <name> of a stored one.';

const unknownFlags: ReadonlyMap<string, string> = new Map([
  ['-v', 'Did you mean --verbose? The version is sotra --version.'],
  ['-o', 'Did you mean --format? It takes table, json, ndjson, csv or tsv.'],
  ['--output', 'Did you mean --format? It takes table, json, ndjson, csv or tsv.'],
  ['-q', 'Did you mean --quiet?'],
  ['-y', 'Did you mean --yes?'],
  ['--fields', 'Did you mean --columns?'],
  ['--profile', 'Did you mean --context?'],
  ['--api-key', apiKeyHint],
  ['--private-key', privateKeyHint],
  ['--privkey', privateKeyHint],
  ['--password', 'A password is never an argument: --password-file <file>, or type it when asked.'],
]);

/** What other tools call what a command takes as its argument. */
const placeNames = ['--address', '--identifier', '--id', '--uid', '--hash', '--wallet', '--name', '--user', '--trader'];

/** Flags whose file people give as an argument. */
const fileFlags = ['file', 'signed'];

const pagingFlags = ['--limit', '--page', '--cursor', '--offset', '--older-than', '--all'];

function hintForFlag(
  flag: string,
  argv: readonly string[],
  { words, known }: { words: readonly string[]; known: readonly string[] },
): string | undefined {
  if (formats.some((format) => flag === `--${format}`)) return `Did you mean --format ${flag.slice(2)}?`;
  const [isCount, digits] = /^-n(\d*)$/.exec(flag) ?? [];
  if (isCount && known.includes('--limit'))
    return command`Did you mean --limit ${digits || (argv[argv.indexOf(flag) + 1] ?? 5)}?`;
  if (flag === '--key' && words[0] === 'auth') return apiKeyHint;
  if (!pagingFlags.includes(flag)) return unknownFlags.get(flag);
  const own = known.filter((each) => pagingFlags.includes(each));
  return own.length === 0 ? 'Omit it: this command has no pages.' : `For longer lists it has ${own.join(', ')}.`;
}

const maxMeant = 3;

/** The lines that a verb of other tools means, or a word without its noun or verb: `leaderboard ls`, `positions`, `'#1'`. */
function findMeant(argv: readonly string[], group: readonly string[], outlines: readonly Outline[]) {
  const name = listWords(argv)[group.length] ?? '';
  const names = outlines.map(({ words }) => words.join(' '));
  const isTrader = isReference(name);
  const verbs = isTrader ? ['get'] : otherVerbs.get(name);
  const verb = verbs?.find((each) => names.includes([...group, each].join(' ')));
  const other = group.length > 0 ? verb && [...group, verb].join(' ') : isTrader ? 'profile get' : undefined;
  const ofNouns = names.filter((each) => each.split(' ')[1] === name || each === `${name.slice(0, -1)} list`);
  const meant = other === undefined && group.length === 0 ? ofNouns : [other].flatMap((each) => each ?? []);
  if (meant.length === 0 || meant.length > maxMeant) return undefined;
  const rest = withoutWords(argv, group.length + (isTrader ? 0 : 1));
  return meant.map((each) => shellLine(['sotra', ...each.split(' '), ...rest])).join(' or ');
}

function didYouMean(meant: string | undefined): string | undefined {
  return meant && `Did you mean ${meant}?`;
}
