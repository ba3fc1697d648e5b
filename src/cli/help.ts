import { describeKind } from '../api/kind.ts';
import type { Column } from '../output/view.ts';
import type { Command } from './command.ts';
import type { Field } from './flags.ts';
import { globalFlags } from './globals.ts';

const exitMeanings: Record<number, string> = {
  0: 'done, also with an empty result',
  1: 'internal fault',
  2: 'wrong use, or input refused before sending',
  3: 'configuration or local state',
  4: 'key missing or refused',
  5: 'not found',
  6: 'refused by the service (other 4xx)',
  7: 'rate limited after all retries',
  8: 'server error',
  9: 'network, TLS, timeout or a refused redirect',
  10: 'partly done; can be resumed',
  11: 'key or signing error',
  12: 'verification failed',
  13: 'the answer is not JSON, or with --strict does not fit the contract',
  124: 'wait timed out',
  130: 'interrupted',
};

type Line = readonly [string, string];

/** Help of the program: its nouns and the flags every command takes. Ends with a newline. Never throws. */
export function programHelp(commands: readonly Command[]): string {
  const nouns = [...new Set(commands.map((command) => command.words[0] ?? ''))];
  return sections([
    ['', 'sotra: social trading from the command line: leaderboards, profiles, positions, comments, webhooks.'],
    ['USAGE', ['sotra <command> [arguments] [flags]']],
    ['COMMANDS', nouns.map((noun): Line => [noun, nounSummary(noun, commands)])],
    ['GLOBAL FLAGS', globalLines()],
    ['EXAMPLES', ['sotra --sandbox leaderboard list --chains solana', 'sotra leaderboard list --json | jq .traders']],
  ]);
}

function nounSummary(noun: string, commands: readonly Command[]): string {
  const own = commands.filter((command) => command.words[0] === noun);
  const only = own[0];
  if (own.length === 1 && only?.words.length === 1) return only.summary;
  return own.map((command) => command.words.slice(1).join(' ')).join(', ');
}

/** Help of a noun: its commands. Ends with a newline. Never throws. */
export function groupHelp(words: readonly string[], commands: readonly Command[]): string {
  const own = commands.filter((command) => words.every((word, index) => command.words[index] === word));
  return sections([
    ['USAGE', [`sotra ${words.join(' ')} <command> [flags]`]],
    ['COMMANDS', own.map((command): Line => [command.words.slice(words.length).join(' '), command.summary])],
    ['MORE', [`sotra ${words.join(' ')} <command> --help`]],
  ]);
}

/** Help of one command: arguments and flags with ranges and choices, columns, exit codes, examples. Never throws. */
export function commandHelp(command: Command, fields: readonly Field[], columns: readonly Column<never>[]): string {
  const positional = fields.filter((field) => field.param.positional);
  const flags = fields.filter((field) => !field.param.positional);
  const usage = [
    'sotra',
    ...command.words,
    ...positional.map((field) => field.label),
    flags.length > 0 ? '[flags]' : '',
  ];
  const codes = [...new Set([0, 2, ...command.exitCodes])].sort((a, b) => a - b);
  const { endpoint } = command;
  const note = endpoint?.deprecated === undefined ? [] : [`Deprecated: ${endpoint.deprecated}`];
  return sections([
    ['', [command.summary, ...(command.description === undefined ? [] : [command.description]), ...note].join('\n')],
    ['USAGE', [usage.filter((part) => part !== '').join(' ')]],
    ['ENDPOINT', endpoint === undefined ? [] : [`${endpoint.method} ${endpoint.path}`]],
    ['ARGUMENTS', positional.map(fieldLine)],
    ['FLAGS', flags.map(fieldLine)],
    ['COLUMNS', columns.map((column): Line => [column.key, column.help])],
    ['EXIT CODES', codes.map((code): Line => [String(code), exitMeanings[code] ?? ''])],
    ['GLOBAL FLAGS', globalLines()],
    ['EXAMPLES', command.examples.flatMap(({ argv, says }) => [`# ${says}`, `sotra ${argv}`])],
  ]);
}

function fieldLine({ label, kind, param }: Field): Line {
  const required = kind.optional || param.positional ? '' : ' (required)';
  const several = kind.list ? '; several: repeat it or use commas' : '';
  const allowed = kind.type === 'text' || kind.type === 'boolean' ? textRule(kind) : `: ${describeKind(kind)}`;
  const byDefault = param.serviceDefault === undefined ? '' : `; left out, the service takes ${param.serviceDefault}`;
  const value = kind.type === 'boolean' || param.positional ? '' : ' <value>';
  return [`${label}${value}`, `${param.help}${allowed}${several}${byDefault}${required}`];
}

function textRule(kind: Field['kind']): string {
  return kind.nullable || kind.maxLength !== undefined ? `: ${describeKind(kind)}` : '';
}

function globalLines(): Line[] {
  return [
    ...globalFlags.map(({ flag, value, help }): Line => [`--${flag}${value ? ` <${value}>` : ''}`, help]),
    ['--help, --version', ''],
  ];
}

function sections(parts: readonly (readonly [string, string | readonly (string | Line)[]])[]): string {
  const shown = parts.filter(([, body]) => body.length > 0);
  return shown.map(([title, body]) => (title === '' ? `${body}\n` : `${title}\n${lines(body)}\n`)).join('\n');
}

function lines(body: string | readonly (string | Line)[]): string {
  if (typeof body === 'string') return body;
  const width = Math.min(30, Math.max(...body.map((line) => (typeof line === 'string' ? 0 : line[0].length))));
  return body
    .map((line) => (typeof line === 'string' ? `  ${line}` : `  ${line[0].padEnd(width)}  ${line[1]}`.trimEnd()))
    .join('\n');
}
