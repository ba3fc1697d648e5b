import type { Option } from 'commander';
import { checkValue, itemOf, parseText } from '../api/kind.ts';
import { nearest } from '../api/nearest.ts';
import { command as line, shellLine, shellWord } from '../client/shell.ts';
import { type SotraError, usageError } from '../errors.ts';
import { formats } from '../lib/output/view.ts';
import type { Command } from './command.ts';
import { nameLine } from './command.ts';
import { ParamOption } from './params.ts';
import { isReference, listChoices } from './read-input.ts';

interface TypedLine {
  argv: readonly string[];
  /** A right line of this command. */
  example: string | undefined;
}

/** Commander's error with the next thing to type: a similar name, or the name here for one of another tool. */
export async function explainError(
  command: Command,
  typed: TypedLine,
  message: string,
  code: string | undefined,
): Promise<SotraError> {
  // A group may have a subcommand for a line without one, such as `history`.
  const { parent, args, registeredArguments } = command;
  if (code === 'commander.excessArguments' && parent !== null && !typed.argv.includes(command.name()))
    return explainError(parent, typed, `unknown command '${args[0]}'`, 'commander.unknownCommand');
  // Commander looks for missing options before unknown ones, such as `--secret` for `--secret-file`.
  const unknown = code === 'commander.missingMandatoryOptionValue' && args.find((word) => /^--?[a-z]/i.test(word));
  if (unknown) return explainError(command, typed, `unknown option '${unknown}'`, 'commander.unknownOption');
  const text = message.replace(/^error: /, '');
  const hint = (await findHint(command, typed, text, code)) ?? `See ${nameLine(command)} --help.`;
  if (code !== 'commander.excessArguments') return usageError(text, hint);
  const isSecret = hint === apiKeyHint || hint === privateKeyHint;
  return usageError(`unexpected argument${isSecret ? '' : ` '${args[registeredArguments.length]}'`}`, hint);
}

async function findHint(
  command: Command,
  typed: TypedLine,
  text: string,
  code: string | undefined,
): Promise<string | undefined> {
  const [, word = ''] = /'([^']*)'/s.exec(text) ?? [];
  switch (code) {
    case 'commander.unknownCommand':
      return didYouMean(await findMeant(command, word, typed.argv));
    case 'commander.unknownOption':
      return hintForOption(command, typed, text.slice(text.indexOf("'") + 1, -1));
    case 'commander.conflictingOption':
      return 'Omit one of them.';
    case 'commander.excessArguments':
      return hintForExtraArguments(command, typed);
    case 'commander.missingArgument':
    case 'commander.missingMandatoryOptionValue':
      return hintForExtraArguments(command, typed) ?? (typed.example && `For example: sotra ${typed.example}`);
    default:
      return undefined;
  }
}

function didYouMean(meant: string | undefined): string | undefined {
  return meant && `Did you mean ${meant}?`;
}

/** Names of one subcommand, here and in other tools; the first that the group has is meant. */
const sameVerbs = [
  'list ls top',
  'get show status view list last actor',
  'remove delete delete-name logout rm del',
  'register generate set post add import create new',
  'set set-name sync update',
  'start run serve up',
  'stop down',
  'run rerun',
  'replay resend',
  'trigger test',
  'events log logs tail',
  'home listen watch',
  'positions actor trades holders',
  'use switch',
  'reset clean',
];

/** Lines of other tools, and the same here. */
const otherLines: ReadonlyMap<string, string> = new Map([
  ['api', 'request GET'],
  ['auth whoami', 'auth status'],
  ['board', 'leaderboard list'],
  ['comment add', 'comment post'],
  ['comment reply', 'comment post'],
  ['config', 'context'],
  ['configure', 'auth login'],
  ['curl', 'request GET'],
  ['feed list', 'feed home'],
  ['follow list', 'profile follows'],
  ['init', 'auth login'],
  ['logs', 'history'],
  ['open', 'ui'],
  ['position list', 'profile positions'],
  ['top', 'leaderboard list'],
  ['traders', 'leaderboard'],
  ['unfollow', 'follow remove'],
  ['version', '--version'],
  ['wallet', 'key'],
  ['wallet create', 'key generate'],
  ['wallet new', 'key generate'],
  ['whoami', 'auth status'],
]);

/** The lines that an unknown word may mean: a line of another tool, a subcommand without its group, a trader. */
async function findMeant(command: Command, word: string, argv: readonly string[]): Promise<string | undefined> {
  const write = (line: string, rest: readonly string[]) => shellLine(['sotra', ...line.split(' '), ...rest]);
  // A plural that is understood as its group may be the subcommand of another.
  const alias = argv.find((each) => each === command.alias());
  const rest = command.args.slice(alias === undefined ? 1 : 0);
  const [second = '', ...others] = rest;
  const ofTwo = otherLines.get(`${word} ${second}`);
  if (alias === undefined && ofTwo !== undefined) return write(ofTwo, others);
  const known = otherLines.get(command.parent === null ? word : `${command.name()} ${word}`);
  if (alias === undefined && known !== undefined) return write(known, rest);
  const elsewhere = alias ?? (command.parent === null ? word : undefined);
  const lines = elsewhere === undefined ? [] : await findSubcommands(command.parent ?? command, elsewhere);
  if (lines.includes(`${second} ${word}`)) return write(`${second} ${word}`, others);
  if (lines.length > 0 && lines.length <= 3) return lines.map((line) => write(line, rest)).join(' or ');
  const names = namesOf(command);
  if (isReference(word) && names.includes('add')) return write(`${command.name()} add`, command.args);
  if (isReference(word)) return write(`${names.includes('get') ? command.name() : 'profile'} get`, [word]);
  const name = findSame(sameVerbs, word, names) ?? nearest(word, names);
  const meant = command.commands.find((each) => each.name() === name);
  const takesNothing = command.parent !== null && meant?.registeredArguments.length === 0;
  const kept = takesNothing && !second.startsWith('-') ? others : rest;
  return name && shellLine([...nameLine(command).split(' '), name, ...kept]);
}

/** The subcommands of this name in all groups. */
async function findSubcommands(program: Command, word: string): Promise<string[]> {
  await program.loadAll();
  return program.commands.filter((group) => namesOf(group).includes(word)).map((group) => `${group.name()} ${word}`);
}

/** The first name beside `word` in a list of names that are the same, that is `known`. */
function findSame(lists: readonly string[], word: string, known: readonly string[]): string | undefined {
  return lists
    .map((list) => list.split(' '))
    .filter((names) => names.includes(word))
    .flat()
    .find((name) => known.includes(name));
}

function namesOf(command: Command): string[] {
  return command.commands.map((each) => each.name());
}

const apiKeyHint =
  'A key is never an argument: sotra auth login asks for it, or reads it with --with-key < file; or set SOTRA_API_KEY.';
const privateKeyHint =
  'A private key is never an argument: --key-file <file>, --key-env <variable>, --key-stdin, or --key <name> of a stored one.';

/** Names of one option, here and in other tools; the first that the command has is meant. */
const sameOptions = [
  '--chains --chain --network',
  '--columns --fields',
  '--query -f -F --field --raw-field --param',
  '--context --env --profile',
  '--data --body',
  '--detach -d --background --daemon',
  '--file -f',
  '--follow -f --tail --watch',
  '--format -f',
  '--jq --template',
  '--limit -L --max --count --top --page-size --per-page',
  '--out -o --output',
  '--quiet -q -s --silent',
  '--sort --order-by --sort-by',
  '--no-color --color --colour',
  '--text -m --message --body',
  '--timeframe --period --window --interval --since',
  '--to --url',
  '--type --kind --event --events',
  '--with-key --with-token',
  '--base-url --endpoint --host --url',
  '--verbose --debug',
  '--watch --follow --tail --interval',
  '--yes -y --force',
];

/** Options of other tools that need more than another name. */
const otherOptions: readonly (readonly [names: string, hint: string])[] = [
  ['--web', 'sotra ui --open shows the same data in the browser.'],
  ['-v', 'Did you mean --verbose? The version is sotra --version.'],
  ['-o --output', 'Did you mean --format? It takes table, json, ndjson, csv or tsv.'],
  ['-H --header', 'Headers are set for you, including the API key: omit it.'],
  ['--api-key', apiKeyHint],
  ['--private-key --privkey', privateKeyHint],
  ['--password', 'A password is never an argument: --password-file <file>, or type it when asked.'],
];

/** Options of other tools that are the first argument here, which may be a method. */
const methodNames = ['-X', '--method', '--request'];
const argumentNames = '--address --identifier --id --uid --hash --wallet --name --user --trader'.split(' ');

const pagingOptions = ['--limit', '--page', '--cursor', '--offset', '--older-than', '--all'];

function hintForOption(command: Command, { argv }: TypedLine, word: string): string | undefined {
  const [flag = ''] = word.split('=');
  const [argument] = command.registeredArguments;
  const known = listOptions(command);
  if (command.parent === null && command.args.some((word) => !word.startsWith('-')))
    return (
      explainOption(flag, known) ??
      didYouMean(nearestOption(flag, known)) ??
      `Options of a command go after its name: sotra <command> ${flag}.`
    );
  if (command.parent !== null && command.commands.length > 0)
    return `Name a subcommand first: ${namesOf(command).join(', ')}.`;
  if (/=false$/i.test(word) && known.includes(`--no-${nameOf(flag)}`)) return `Did you mean --no-${nameOf(flag)}?`;
  if (known.includes(flag) && flag !== word) return `${flag} takes no value: type it alone.`;
  if (argument?.name() === 'duration' && /^-\d/.test(word))
    return 'The clock moves forward only: a duration is positive.';
  if (argument?.name() === 'comment' && / |^-[^-]{2}/.test(word))
    return didYouMean(shellLine(['sotra', ...argv.filter((each) => each !== word), '--', word]));
  const isFirst = (argument?.name() === 'method' ? methodNames : argumentNames).includes(flag);
  if (command.registeredArguments.some((each, index) => (index === 0 && isFirst) || each.name() === nameOf(flag)))
    return `It is an argument: ${nameLine(command)} ${nameArguments(command)}.`;
  if (flag === '--port' && known.includes('--ready-file'))
    return 'The page is served on a free port: omit it. --ready-file <file> writes its address.';
  if (formats.some((format) => flag === `--${format}`)) return `Did you mean --format ${flag.slice(2)}?`;
  const [isCount, digits] = /^-n(\d*)$/.exec(flag) ?? [];
  if (isCount && known.includes('--limit'))
    return line`Did you mean --limit ${digits || (argv[argv.indexOf(flag) + 1] ?? 5)}?`;
  if (flag === '--key' && nameLine(command).startsWith('sotra auth')) return apiKeyHint;
  if (known.includes('--retries') && pagingOptions.includes(flag)) {
    const own = known.filter((each) => pagingOptions.includes(each));
    return own.length === 0 ? 'Omit it: this command has no pages.' : `For longer lists it has ${own.join(', ')}.`;
  }
  // A file is one of many kinds.
  const longer = command.options.find(
    ({ long = '' }) => long.endsWith(`-${nameOf(flag)}`) && !/^--no-|-file$/.test(long),
  );
  return explainOption(flag, known) ?? didYouMean(longer?.long ?? nearestOption(flag, known));
}

function nameArguments({ registeredArguments }: Command): string {
  return registeredArguments.map((each) => (each.required ? `<${each.name()}>` : `[${each.name()}]`)).join(' ');
}

function explainOption(flag: string, known: readonly string[]): string | undefined {
  const [, hint] = otherOptions.find(([names]) => names.split(' ').includes(flag)) ?? [];
  return didYouMean(findSame(sameOptions, flag, known)) ?? hint;
}

function nearestOption(flag: string, known: readonly string[]): string | undefined {
  // A letter is near to every short name.
  const name = flag.length > 2 ? nearest(nameOf(flag), known.map(nameOf)) : undefined;
  return name && `--${name}`;
}

const nameOf = (flag: string) => flag.replace(/^-+/, '');

/** Every option that can be typed here, including those that help does not list. */
function listOptions(command: Command): string[] {
  const own = command.options.flatMap(({ long }) => long ?? []);
  return command.parent === null ? own : [...own, ...listOptions(command.parent)];
}

/** Options whose value people give as an argument, such as a file or an address. */
const fileOptions = ['--file', '--signed', '--out'];
const urlOptions = ['--url', '--base-url', '--forward-to'];

function hintForExtraArguments(command: Command, { argv }: TypedLine): string | undefined {
  const places = command.registeredArguments.length;
  const extra = command.args.slice(places);
  const [word = ''] = extra;
  if (extra.length === 0) return undefined;
  if (nameLine(command) === 'sotra key import') return privateKeyHint;
  if (nameLine(command) === 'sotra auth login') return apiKeyHint;
  if (places === 0 && ['start', 'serve', 'run'].includes(word)) return didYouMean(nameLine(command));
  if (command.registeredArguments.at(-1)?.name() === 'comment') return 'Put a text of several words in quotes.';
  if (argv[argv.indexOf(word) - 1] === '--json') return didYouMean(`--json --columns ${shellWord(word)}`);
  const [, name, value = ''] = pairForm.exec(word) ?? [];
  if (name !== undefined && listOptions(command).includes(`--${name}`))
    return didYouMean(`--${name} ${shellWord(value)}`);
  const option = findOptionFor(command, word);
  return didYouMean(joinList(command, argv, extra) ?? (option && `${option} ${shellWord(word)}`));
}

/** `name=value`, as httpie has it. */
const pairForm = /^([\w-]+)==?(.+)$/;

/** The option that a value was meant for: the usual one for its form, or else one that takes it. */
function findOptionFor(command: Command, word: string): string | undefined {
  const known = listOptions(command);
  const usual = usualOptions(word).find((each) => known.includes(each));
  return usual ?? command.options.find((each) => takesValue(each, word))?.long;
}

function usualOptions(word: string): readonly string[] {
  if (pairForm.test(word)) return ['--query'];
  if (/^https?:/.test(word)) return urlOptions;
  return /\.\w+$|\/|^-$/.test(word) ? fileOptions : [];
}

/** Whether an option may be meant by a value that was typed as an argument. */
function takesValue(option: Option, word: string): boolean {
  if (!(option instanceof ParamOption)) return false;
  const item = itemOf(option.param.kind);
  if (item.type === 'choice') return listChoices(option.param).includes(word);
  const isFree = item.type === 'json' || item.type === 'boolean' || (item.type === 'text' && !item.format);
  return !isFree && checkValue(item, parseText(item, word)) === undefined;
}

/** `--chains base,solana` for a list that was typed with spaces. */
function joinList(command: Command, argv: readonly string[], extra: readonly string[]): string | undefined {
  const [flag, ...first] = argv.slice(argv.lastIndexOf(extra[0] ?? '') - 2).slice(0, 2);
  const option = command.options.find(({ long }) => long === flag);
  if (!(option instanceof ParamOption) || option.param.kind.type !== 'list' || option.param.noCommaSplit)
    return undefined;
  const choices = listChoices(option.param);
  const items = [...first, ...extra].map((item) => item.replace(/,$/, ''));
  const fits = (text: string) => choices.length === 0 || choices.includes(text);
  return items.slice(1).every(fits) ? `${flag} ${items.join(',')}` : undefined;
}
