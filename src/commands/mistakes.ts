import type { Command } from 'commander';
import { nearest } from '../api/nearest.ts';
import { command as line, shellLine, shellWord } from '../client/shell.ts';
import { type SotraError, usageError } from '../errors.ts';
import { formats } from '../lib/output/result.ts';
import { nameLine } from './help-format.ts';
import { ParamOption } from './params.ts';
import { isReference, listChoices } from './read-input.ts';

interface TypedLine {
  argv: readonly string[];
  /** A right line of this command. */
  example: string | undefined;
}

/** Commander's error with the next thing to type: a similar name, or the name here for one of another tool. */
export function explainError(
  command: Command,
  typed: TypedLine,
  message: string,
  code: string | undefined,
): SotraError {
  const text = message.replace(/^error: /, '');
  // A group may have a subcommand for a line without one, such as `history`.
  const { parent, args } = command;
  if (code === 'commander.excessArguments' && parent !== null && !typed.argv.includes(command.name()))
    return explainError(parent, typed, `unknown command '${args[0]}'`, 'commander.unknownCommand');
  return usageError(text, findHint(command, typed, text, code) ?? `See ${nameLine(command)} --help.`);
}

function findHint(command: Command, typed: TypedLine, text: string, code: string | undefined): string | undefined {
  const [, word = ''] = /'([^']*)'/s.exec(text) ?? [];
  switch (code) {
    case 'commander.unknownCommand':
      return didYouMean(findMeant(command, word, typed.argv) ?? nearest(word, namesOf(command)));
    case 'commander.unknownOption':
      return hintForOption(command, typed, text.slice(text.indexOf("'") + 1, -1));
    case 'commander.excessArguments':
      return hintForExtraArguments(command, typed);
    case 'commander.conflictingOption':
      return 'Omit one of them.';
    case 'commander.missingArgument':
      return typed.example && `For example: sotra ${typed.example}`;
    case 'commander.missingMandatoryOptionValue':
      return hintForExtraArguments(command, typed) ?? (typed.example && `For example: sotra ${typed.example}`);
    default:
      return undefined;
  }
}

function didYouMean(meant: string | undefined): string | undefined {
  return meant && `Did you mean ${meant}?`;
}

/** Names of subcommands in other tools, and their names here. */
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
  ['switch', ['use']],
  ['top', ['list']],
  ['update', ['set', 'set-name', 'sync']],
  ['trades', ['positions', 'actor']],
  ['show', ['get', 'status', 'list']],
  ['view', ['get', 'show', 'status', 'list']],
  ['get', ['show', 'list', 'status', 'actor']],
  ['clean', ['reset']],
  ['down', ['stop']],
  ['last', ['show']],
  ['logs', ['log', 'events']],
  ['rerun', ['run']],
  ['resend', ['replay']],
  ['run', ['start']],
  ['serve', ['start']],
  ['tail', ['events']],
  ['up', ['start']],
  ['watch', ['home', 'listen']],
]);

/** Words that people type, and the lines they mean: subcommands without their group or in another one, and commands of other tools. */
const otherLines: ReadonlyMap<string, readonly string[]> = new Map([
  ['api', ['request']],
  ['auth whoami', ['auth status']],
  ['board', ['leaderboard list']],
  ['comment add', ['comment post']],
  ['comment reply', ['comment post']],
  ['comments', ['token comments', 'comment list']],
  ['config', ['context']],
  ['configure', ['auth login']],
  ['curl', ['request']],
  ['events', ['webhook events']],
  ['exam', ['webhook exam']],
  ['feed list', ['feed home']],
  ['follow list', ['profile follows']],
  ['followers', ['profile followers']],
  ['forward', ['webhook forward']],
  ['import', ['sandbox import']],
  ['init', ['auth login']],
  ['listen', ['webhook listen']],
  ['login', ['auth login']],
  ['logout', ['auth logout']],
  ['logs', ['history']],
  ['open', ['ui']],
  ['position list', ['profile positions']],
  ['positions', ['profile positions', 'token positions']],
  ['post', ['comment post']],
  ['profile set', ['profile set-name']],
  ['rank', ['leaderboard rank']],
  ['register', ['webhook register']],
  ['replay', ['webhook replay']],
  ['sign', ['comment sign']],
  ['start', ['sandbox start']],
  ['status', ['auth status']],
  ['sync', ['webhook sync']],
  ['top', ['leaderboard list']],
  ['traders', ['leaderboard']],
  ['trigger', ['webhook trigger']],
  ['unfollow', ['follow remove']],
  ['verify', ['comment verify', 'webhook verify']],
  ['version', ['--version']],
  ['wallet', ['key']],
  ['wallet create', ['key generate']],
  ['wallet new', ['key generate']],
  ['whoami', ['auth status']],
]);

/** The lines that an unknown word means: a verb of other tools, a subcommand without its group, a trader. */
function findMeant(command: Command, word: string, argv: readonly string[]): string | undefined {
  // A plural that is understood as its group may be the subcommand of another.
  const alias = argv.find((each) => each === command.alias());
  const [, second, ...others] = command.args;
  const known = alias === undefined ? otherLines.get(`${word} ${second}`) : undefined;
  if (known !== undefined) return known.map((each) => shellLine(['sotra', ...each.split(' '), ...others])).join(' or ');
  const lines = otherLines.get(alias ?? (command.parent === null ? word : `${command.name()} ${word}`)) ?? [];
  const rest = command.args.slice(alias === undefined ? 1 : 0);
  if (lines.length > 0) return lines.map((each) => shellLine(['sotra', ...each.split(' '), ...rest])).join(' or ');
  const names = namesOf(command);
  if (isReference(word) && names.includes('add'))
    return shellLine([...nameLine(command).split(' '), 'add', word, ...rest]);
  if (isReference(word)) return shellLine(['sotra', names.includes('get') ? command.name() : 'profile', 'get', word]);
  const verb = otherVerbs.get(word)?.find((each) => names.includes(each));
  return verb && shellLine([...nameLine(command).split(' '), verb, ...rest]);
}

function namesOf(command: Command): string[] {
  return command.commands.map((each) => each.name());
}

const apiKeyHint =
  'A key is never an argument: sotra auth login asks for it, or reads it with --with-key < file; or set SOTRA_API_KEY.';
const privateKeyHint =
  'A private key is never an argument: --key-file <file>, --key-env <variable>, --key-stdin, or --key <name> of a stored one.';
const headerHint = 'Headers are set for you, the API key too: omit it.';
const formatHint = 'Did you mean --format? It takes table, json, ndjson, csv or tsv.';

/** Options of other tools and their names here, of which the first that the command has is suggested. */
const otherNames: ReadonlyMap<string, readonly string[]> = new Map([
  ['-d', ['--detach']],
  ['-f', ['--file', '--follow', '--format']],
  ['-m', ['--text']],
  ['-q', ['--quiet']],
  ['-s', ['--quiet']],
  ['-y', ['--yes']],
  ['--background', ['--detach']],
  ['--body', ['--data']],
  ['--count', ['--limit', '--max']],
  ['--daemon', ['--detach']],
  ['--debug', ['--verbose']],
  ['--endpoint', ['--base-url']],
  ['--env', ['--context']],
  ['--fields', ['--columns']],
  ['--follow', ['--watch']],
  ['--force', ['--yes']],
  ['--host', ['--base-url']],
  ['--interval', ['--timeframe', '--watch']],
  ['--message', ['--text']],
  ['--network', ['--chains', '--chain']],
  ['--order-by', ['--sort']],
  ['--page-size', ['--limit']],
  ['--per-page', ['--limit']],
  ['--period', ['--timeframe']],
  ['--profile', ['--context']],
  ['--silent', ['--quiet']],
  ['--since', ['--timeframe']],
  ['--sort-by', ['--sort']],
  ['--tail', ['--follow', '--watch']],
  ['--top', ['--limit']],
  ['--url', ['--to', '--base-url']],
  ['--watch', ['--follow']],
  ['--window', ['--timeframe']],
]);

/** Options of other tools that need more than another name. */
const otherOptions: ReadonlyMap<string, string> = new Map([
  ['-v', 'Did you mean --verbose? The version is sotra --version.'],
  ['-o', formatHint],
  ['--output', formatHint],
  ['-H', headerHint],
  ['--header', headerHint],
  ['--api-key', apiKeyHint],
  ['--private-key', privateKeyHint],
  ['--privkey', privateKeyHint],
  ['--password', 'A password is never an argument: --password-file <file>, or type it when asked.'],
]);

/** Options of other tools that are the first argument here, which may be a method. */
const methodNames = ['-X', '--method', '--request'];
const argumentNames = [
  '--address',
  '--identifier',
  '--id',
  '--uid',
  '--hash',
  '--wallet',
  '--name',
  '--user',
  '--trader',
];

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
  if (known.includes(flag) && flag !== word) return `${flag} takes no value: type it alone.`;
  if (argument?.name() === 'comment' && word.includes(' '))
    return didYouMean(shellLine(['sotra', ...argv.filter((each) => each !== word), '--', word]));
  if (argument !== undefined && (argument.name() === 'method' ? methodNames : argumentNames).includes(flag))
    return `It is the argument: ${nameLine(command)} ${argument.required ? `<${argument.name()}>` : `[${argument.name()}]`}.`;
  if (flag === '--port' && known.includes('--ready-file'))
    return 'The page is served on a free port: omit it. --ready-file <file> writes its address.';
  if (formats.some((format) => flag === `--${format}`)) return `Did you mean --format ${flag.slice(2)}?`;
  const [isCount, digits] = /^-n(\d*)$/.exec(flag) ?? [];
  if (isCount && known.includes('--limit'))
    return line`Did you mean --limit ${digits || (argv[argv.indexOf(flag) + 1] ?? 5)}?`;
  if (flag === '--key' && nameLine(command).startsWith('sotra auth')) return apiKeyHint;
  const sendsRequests = known.includes('--retries');
  if (sendsRequests && pagingOptions.includes(flag)) {
    const own = known.filter((each) => pagingOptions.includes(each));
    return own.length === 0 ? 'Omit it: this command has no pages.' : `For longer lists it has ${own.join(', ')}.`;
  }
  // A file is one of many kinds.
  const longer = command.options.find(
    ({ long = '' }) => long.endsWith(`-${nameOf(flag)}`) && !/^--no-|-file$/.test(long),
  );
  return explainOption(flag, known) ?? didYouMean(longer?.long ?? nearestOption(flag, known));
}

function explainOption(flag: string, known: readonly string[]): string | undefined {
  return otherOptions.get(flag) ?? didYouMean(otherNames.get(flag)?.find((each) => known.includes(each)));
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

/** Words that people type to start a command without subcommands. */
const startWords = ['start', 'serve', 'run'];

/** Options whose file people give as an argument. */
const fileOptions = ['--file', '--signed'];

function hintForExtraArguments(command: Command, { argv }: TypedLine): string | undefined {
  const places = command.registeredArguments.length;
  const extra = command.args.slice(places);
  const file = command.options.find(({ long }) => long !== undefined && fileOptions.includes(long));
  if (extra.length === 0) return undefined;
  if (places === 0 && startWords.includes(extra[0] ?? '')) return didYouMean(nameLine(command));
  if (command.registeredArguments.at(-1)?.name() === 'comment') return 'Put a text of several words in quotes.';
  if (file !== undefined && /\.\w+$|\/|^-$/.test(extra[0] ?? ''))
    return didYouMean(`${file.long} ${shellWord(extra[0] ?? '')}`);
  return didYouMean(joinList(command, argv, extra));
}

/** An option of a list that was typed with spaces, with commas: `--chains base,solana`. */
function joinList(command: Command, argv: readonly string[], extra: readonly string[]): string | undefined {
  const [flag, first = ''] = argv.slice(argv.lastIndexOf(extra[0] ?? '') - 2);
  const option = command.options.find(({ long }) => long === flag);
  if (!(option instanceof ParamOption) || option.param.kind.type !== 'list' || option.param.noCommaSplit)
    return undefined;
  const choices = listChoices(option.param);
  const fits = (text: string) => choices.length === 0 || choices.includes(text);
  return extra.every(fits) ? `${flag} ${[first, ...extra].join(',')}` : undefined;
}
