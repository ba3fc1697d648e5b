import { type SotraError, usageError } from '../errors.ts';
import { dayMs, parseDuration, parseRate, type Rate } from '../model/duration.ts';
import { splitList } from '../model/list.ts';
import { nearest } from '../model/nearest.ts';
import { flagWords } from '../model/shell.ts';
import { type Format, formats } from '../output/result.ts';
import { beginsWith, type Outline, type Use } from './outline.ts';

export interface GlobalFlag {
  key: string;
  flag: string;
  value?: string;
  help: string;
  needs?: Needs | undefined;
}

/** A command that uses none of these refuses the flag, which would do nothing there; absent: every command accepts it. */
interface Needs {
  anyOf: readonly (Use | 'rows')[];
  lacking: string;
}

const requests: Needs = { anyOf: ['requests'], lacking: 'sends no request to the service' };
const calls: Needs = { anyOf: ['requests', 'calls'], lacking: requests.lacking };
const service: Needs = { anyOf: ['requests', 'service'], lacking: 'uses no service' };
const sandboxed: Needs = { anyOf: [...service.anyOf, 'sandbox'], lacking: service.lacking };
const sent: Needs = { anyOf: ['requests', 'events'], lacking: 'sends no request' };
const answers: Needs = { anyOf: ['requests', 'events', 'answers', 'calls'], lacking: 'waits for no answer' };
const rows: Needs = { anyOf: ['rows'], lacking: 'prints no columns' };
const json: Needs = { anyOf: ['rows', 'json'], lacking: 'prints no JSON' };
const repeats: Needs = { anyOf: ['requests', 'repeats', 'calls'], lacking: 'retries nothing' };
const effects: Needs = { anyOf: ['requests', 'events', 'changes'], lacking: 'changes and sends nothing' };

/** `usage`: `base-url <url>`. */
function makeFlag(usage: string, help: string, needs?: Needs): GlobalFlag {
  const [flag = '', value] = usage.split(' ');
  const key = flag.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  return { key, flag, ...(value && { value: value.slice(1, -1) }), help, needs };
}

/** The flags of the program. Habits of a terminal or a script are accepted by every command, also where they change nothing. */
export const programFlags: readonly GlobalFlag[] = [
  makeFlag('context <name>', 'use this stored context (SOTRA_CONTEXT)', service),
  makeFlag('sandbox', 'use the built-in sandbox; its state is kept between calls', sandboxed),
  makeFlag('base-url <url>', 'address of the service (SOTRA_BASE_URL)', service),
  makeFlag('format <format>', `output format: ${formats.join(', ')}`),
  makeFlag('json', "the service's JSON, unchanged; errors as JSON on stderr"),
  makeFlag('no-color', 'no colors (also NO_COLOR)'),
  makeFlag('verbose', 'show requests, answers and timing on stderr'),
  makeFlag('quiet', 'no progress, notes or warnings on stderr'),
  makeFlag('yes', 'answer yes to questions'),
  makeFlag('no-input', 'never ask; fail instead'),
];

/** Every flag that is no input of one command: those of the program, and those that many commands share. */
export const globalFlags: readonly GlobalFlag[] = [
  ...programFlags,
  makeFlag(
    'columns <a,b>',
    'show these columns; with --json and ndjson, objects of these fields; the command with --help names them',
    rows,
  ),
  makeFlag('jq <filter>', 'print the result of this jq filter; strings without quotes', json),
  makeFlag('show-nsfw', 'show names that the service flags as NSFW; tables hide them', rows),
  makeFlag(
    'timeout <time>',
    'give up on a call after this long, attempts and waits together (default 10m, and 30s of silence)',
    answers,
  ),
  makeFlag(
    'retries <n>',
    'retry a failed request up to n times (default 2; uploads, feed --watch and --forward-to retry for longer)',
    repeats,
  ),
  makeFlag('rate <n/s>', 'send at most so many requests in a time, evenly: 5/s, 300/m or 1000/h', calls),
  makeFlag('dry-run', 'show what would be sent or changed, and send and change nothing; needs no key', effects),
  makeFlag('curl', 'print the request as a curl line instead of sending it', sent),
  makeFlag('strict', 'an answer that does not fit the contract is an error (exit 13)', requests),
];

export type GlobalOptions = ReturnType<typeof readGlobals>;

export function readGlobals(typed: Readonly<Record<string, unknown>>) {
  const typedText = (key: string) => (typeof typed[key] === 'string' ? typed[key] : undefined);
  const on = (key: string) => typed[key] === true;
  const format = readFormat(typedText('format'));
  if (on('json') && format !== undefined && format !== 'json')
    throw usageError(`--json and --format ${format} contradict each other`, 'Omit one of them.');
  const rows = format !== undefined && format !== 'json' && format !== 'ndjson' ? `--format ${format}` : undefined;
  const rival = rows ?? (typedText('columns') === undefined ? undefined : '--columns');
  if (typedText('jq') !== undefined && rival !== undefined)
    throw usageError(`--jq and ${rival} contradict each other`, 'A filter works on JSON: omit one of them.');
  if (on('sandbox') && (typedText('baseUrl') ?? typedText('context')) !== undefined)
    throw usageError(
      `--sandbox and --${typedText('baseUrl') ? 'base-url' : 'context'} name two services`,
      'Omit one of them.',
    );
  const timeoutMs = typedText('timeout') === undefined ? undefined : readTimeout(typedText('timeout') ?? '');
  return {
    context: typedText('context'),
    sandbox: on('sandbox'),
    baseUrl: typedText('baseUrl'),
    format: on('json') ? 'json' : format,
    columns: typedText('columns') === undefined ? undefined : splitList(typedText('columns') ?? '', '--columns'),
    showNsfw: on('showNsfw'),
    noColor: on('noColor'),
    /** Until something comes: the connection, the first byte, the next one. */
    timeoutMs: timeoutMs ?? 30_000,
    /** Where it was typed. */
    typedTimeoutMs: timeoutMs,
    /** For a whole call, attempts and waits together. */
    maxTimeMs: timeoutMs ?? 600_000,
    /** The longest wait that a service may ask for. */
    maxWaitMs: timeoutMs ?? 60_000,
    retries: parseRetries(typedText('retries')),
    /** Between two requests. */
    rate: readRate(typedText('rate')),
    verbose: on('verbose'),
    quiet: on('quiet'),
    jq: typedText('jq'),
    dryRun: on('dryRun'),
    curl: on('curl'),
    /** Show only; nothing is sent, written or asked. */
    preview: on('dryRun') || on('curl'),
    strict: on('strict'),
    yes: on('yes'),
    noInput: on('noInput'),
  };
}

function readFormat(text: string | undefined): Format | undefined {
  const format = formats.find((name) => name === text);
  if (text === undefined || format !== undefined) return format;
  const near = nearest(text, formats);
  throw usageError(`--format ${text}: must be one of ${formats.join(', ')}`, near && `Did you mean ${near}?`);
}

function readTimeout(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= 1 && ms <= dayMs) return ms;
  throw usageError(`--timeout ${text}: must be a time from 1ms to 1d, such as 500ms, 30s or 2m`);
}

function parseRetries(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = /^\d{1,2}$/.test(text) ? Number(text) : -1;
  if (count >= 0 && count <= 20) return count;
  throw usageError(`--retries ${text}: must be a whole number from 0 to 20`);
}

function readRate(text: string | undefined): Rate | undefined {
  if (text === undefined) return undefined;
  const rate = parseRate(text);
  if (rate !== undefined) return rate;
  throw usageError(`--rate ${text}: must be a rate such as 5/s, 300/m or 1000/h, at most 5000/s`);
}

type FlagValue = string | number | boolean | readonly string[] | undefined;

/** Flags as they are typed, with their values: a list repeats its flag, and what is false or absent has none. */
export function writeFlags(values: Readonly<Record<string, FlagValue>>): string[] {
  return Object.entries(values).flatMap(([flag, given]) =>
    [given].flat().flatMap((value) => {
      if (value === undefined || value === false) return [];
      return value === true ? [flag] : flagWords(flag, String(value));
    }),
  );
}

/** The flags that name a service. */
export function serviceFlags({
  sandbox,
  context,
  baseUrl,
}: Partial<Pick<GlobalOptions, 'sandbox' | 'context' | 'baseUrl'>>): string[] {
  return writeFlags({ '--sandbox': sandbox, '--context': context, '--base-url': baseUrl });
}

export function takenFlags(outline: Omit<Outline, 'description'>): readonly GlobalFlag[] {
  return globalFlags.filter((flag) => acceptsFlag(outline, flag));
}

/** Errors: `usage` for a global flag that would do nothing in this command. */
export function refuseUnusedFlags(
  outline: Outline,
  typed: Readonly<Record<string, unknown>>,
  { dryRun, format }: Pick<GlobalOptions, 'dryRun' | 'format'>,
): void {
  // A dry run shows its own rows.
  const { uses } = outline;
  const showsRows = dryRun && uses.includes('changes');
  for (const flag of globalFlags) {
    const isTyped = typed[flag.key] !== undefined && typed[flag.key] !== false;
    if (!isTyped || acceptsFlag(outline, flag) || (showsRows && flag.key === 'jq')) continue;
    throw unused(`--${flag.flag}`, outline, flag.needs?.lacking ?? '');
  }
  const isTable = format === 'csv' || format === 'tsv';
  if (isTable && outline.columns.length === 0 && !showsRows)
    throw unused(`--format ${format}`, outline, 'prints no table');
}

function acceptsFlag(
  { uses, columns, fields }: Pick<Outline, 'uses' | 'columns' | 'fields'>,
  { flag, needs }: GlobalFlag,
): boolean {
  if (needs === undefined || fields.some((field) => !field.positional && field.flag === flag)) return true;
  return needs.anyOf.some((each) => (each === 'rows' ? columns.length > 0 : uses.includes(each)));
}

function unused(flag: string, { words }: Outline, lacking: string): SotraError {
  return usageError(`${flag} would do nothing: sotra ${words.join(' ')} ${lacking}`, 'Omit it.');
}

/** The command that the words of a command line name. */
export function findCommand(argv: readonly string[], outlines: readonly Outline[]): Outline | undefined {
  const words = listWords(argv);
  return outlines
    .filter((outline) => beginsWith(words, outline.words))
    .sort((a, b) => b.words.length - a.words.length)[0];
}

/** The command line with a noun in the singular: `profiles get` as `profile get`. */
export function withSingularNoun(argv: readonly string[], outlines: readonly Outline[]): readonly string[] {
  const [noun = ''] = listWords(argv);
  if (!noun.endsWith('s') || outlines.some(({ words }) => words[0] === noun)) return argv;
  const isHelp = argv.includes('--help') || argv.includes('-h');
  const lines = [noun.slice(0, -1), noun.slice(0, -2)].map((singular) => argv.with(argv.indexOf(noun), singular));
  return (
    lines.find(
      (line) =>
        (findCommand(line, outlines)?.words.length ?? 0) > 1 || (isHelp && findGroup(line, outlines).length > 0),
    ) ?? argv
  );
}

/** The words that begin commands: `webhook` of `webhook evnts`. */
export function findGroup(argv: readonly string[], outlines: readonly Outline[]): readonly string[] {
  const words = listWords(argv);
  const isGroup = (length: number) => outlines.some((outline) => beginsWith(outline.words, words.slice(0, length)));
  return words.slice(0, words.findLastIndex((_, index) => isGroup(index + 1)) + 1);
}

/** The words of a command line, without flags and the values of global flags. */
export function listWords(argv: readonly string[]): string[] {
  return argv.filter((_, index) => isCommandWord(argv, index));
}

/** The command line without its first words. */
export function withoutWords(argv: readonly string[], count: number): string[] {
  let left = count;
  return argv.filter((_, index) => !isCommandWord(argv, index) || left-- <= 0);
}

function isCommandWord(argv: readonly string[], index: number): boolean {
  const isValue = globalFlags.some(({ flag, value }) => value !== undefined && argv[index - 1] === `--${flag}`);
  return !isValue && argv[index]?.startsWith('-') === false;
}
