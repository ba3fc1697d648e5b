import { type SotraError, usageError } from '../errors.ts';
import { parseDuration, parseSize } from '../model/duration.ts';
import { nearest } from '../model/nearest.ts';
import type { Outline, Use } from './outline.ts';

/** Output formats, as `--format` names them. */
export const formats = ['table', 'json', 'ndjson', 'csv', 'tsv', 'md'] as const;
export type Format = (typeof formats)[number];

/** A flag that stands in front of or behind any command. */
export interface GlobalFlag {
  key: string;
  flag: string;
  value?: string;
  help: string;
  /** Commands that use none of these refuse it, for it would do nothing there; absent: every command takes it. */
  needs?: { anyOf: readonly (Use | 'rows')[]; lacking: string };
}

const toRequests: GlobalFlag['needs'] = { anyOf: ['requests'], lacking: 'sends no request to the service' };
const toService: GlobalFlag['needs'] = { anyOf: ['requests', 'service'], lacking: 'has to do with no service' };
const toSent: GlobalFlag['needs'] = { anyOf: ['requests', 'events'], lacking: 'sends no request' };
const toAnswers: GlobalFlag['needs'] = { anyOf: ['requests', 'events', 'answers'], lacking: 'waits for no answer' };

/**
 * Every global flag, in the order of help. Taken by every command, because they are habits of a terminal or a script and not of a command:
 * --json (errors are JSON too), --plain, --ascii, --no-color, --verbose, --quiet, --yes and --no-input.
 */
export const globalFlags: readonly GlobalFlag[] = [
  { key: 'context', flag: 'context', value: 'name', help: 'use this stored context (SOTRA_CONTEXT)', needs: toService },
  {
    key: 'sandbox',
    flag: 'sandbox',
    help: 'use the built-in sandbox; its state is kept between calls',
    needs: toService,
  },
  { key: 'baseUrl', flag: 'base-url', value: 'url', help: 'address of the service (SOTRA_BASE_URL)', needs: toService },
  { key: 'format', flag: 'format', value: 'format', help: `output format: ${formats.join(', ')}` },
  { key: 'json', flag: 'json', help: "the service's JSON, unchanged; errors as JSON on stderr" },
  {
    key: 'columns',
    flag: 'columns',
    value: 'a,b',
    help: 'show these columns; with --json and ndjson, objects of these fields; the command with --help names them',
    needs: { anyOf: ['rows'], lacking: 'prints no columns' },
  },
  {
    key: 'jq',
    flag: 'jq',
    value: 'filter',
    help: 'print what this jq filter makes of the JSON; strings without quotes',
    needs: { anyOf: ['rows', 'json'], lacking: 'prints no JSON' },
  },
  { key: 'plain', flag: 'plain', help: 'for screen readers: one fact a line, no columns, no spinner, no colors' },
  { key: 'ascii', flag: 'ascii', help: 'draw with ASCII characters only' },
  { key: 'noColor', flag: 'no-color', help: 'no colors (also NO_COLOR)' },
  {
    key: 'timeout',
    flag: 'timeout',
    value: 'time',
    help: 'give up when nothing arrives for this long (default 30s)',
    needs: toAnswers,
  },
  {
    key: 'maxTime',
    flag: 'max-time',
    value: 'time',
    help: 'give up on a call after this long, attempts and waits together (default 10m)',
    needs: toRequests,
  },
  {
    key: 'retries',
    flag: 'retries',
    value: 'n',
    help: 'repeat a failed request up to n times (default 2; uploads, --watch and --forward-to go on for longer)',
    needs: { anyOf: ['requests', 'repeats'], lacking: 'repeats nothing' },
  },
  {
    key: 'maxWait',
    flag: 'max-wait',
    value: 'time',
    help: 'wait no longer than this when the service says when to come back (default 60s)',
    needs: toRequests,
  },
  {
    key: 'maxBody',
    flag: 'max-body',
    value: 'size',
    help: 'refuse an answer that is larger (default 64MB)',
    needs: toRequests,
  },
  { key: 'verbose', flag: 'verbose', help: 'show requests, answers and timing on stderr' },
  { key: 'quiet', flag: 'quiet', help: 'no progress, notes or warnings on stderr' },
  {
    key: 'include',
    flag: 'include',
    help: 'print status and headers of the answer before its body',
    needs: toRequests,
  },
  {
    key: 'traceFile',
    flag: 'trace-file',
    value: 'file',
    help: 'write all requests and answers as an HTTP archive (HAR), keys hidden',
    needs: toRequests,
  },
  {
    key: 'dryRun',
    flag: 'dry-run',
    help: 'show what would be sent or changed, and send and change nothing; needs no key',
    needs: { anyOf: ['requests', 'events', 'changes'], lacking: 'changes and sends nothing' },
  },
  { key: 'curl', flag: 'curl', help: 'print the request as a curl line instead of sending it', needs: toSent },
  {
    key: 'strict',
    flag: 'strict',
    help: 'an answer that does not fit the contract is an error (exit 13)',
    needs: toRequests,
  },
  { key: 'yes', flag: 'yes', help: 'answer yes to questions' },
  { key: 'noInput', flag: 'no-input', help: 'never ask; fail instead' },
];

export interface GlobalOptions {
  context: string | undefined;
  sandbox: boolean;
  baseUrl: string | undefined;
  format: Format | undefined;
  columns: string[] | undefined;
  plain: boolean;
  ascii: boolean;
  noColor: boolean;
  timeoutMs: number;
  maxTimeMs: number;
  /** `undefined`: not typed. */
  retries: number | undefined;
  maxWaitMs: number;
  maxBodyBytes: number;
  verbose: boolean;
  quiet: boolean;
  include: boolean;
  traceFile: string | undefined;
  jq: string | undefined;
  dryRun: boolean;
  curl: boolean;
  /** With either of them: something is only shown, and nothing sent, written or asked. */
  preview: boolean;
  strict: boolean;
  yes: boolean;
  noInput: boolean;
}

/** The checked global options for what was typed. Errors: `usage` naming flag, value and what is allowed. */
export function readGlobals(typed: Readonly<Record<string, unknown>>): GlobalOptions {
  const text = (key: string) => (typeof typed[key] === 'string' ? typed[key] : undefined);
  const on = (key: string) => typed[key] === true;
  const format = readFormat(text('format'));
  if (on('json') && format !== undefined && format !== 'json')
    throw usageError(`--json and --format ${format} contradict each other`, 'Leave one of them out.');
  const machine = on('json') ? '--json' : format === undefined || format === 'table' ? undefined : `--format ${format}`;
  if (on('plain') && machine !== undefined)
    throw usageError(`--plain and ${machine} contradict each other`, 'Leave one of them out.');
  const rows = format !== undefined && format !== 'json' && format !== 'ndjson' ? `--format ${format}` : undefined;
  const rival = rows ?? (text('columns') === undefined ? undefined : '--columns');
  if (text('jq') !== undefined && rival !== undefined)
    throw usageError(`--jq and ${rival} contradict each other`, 'A filter works on JSON: leave one of them out.');
  if (on('sandbox') && (text('baseUrl') ?? text('context')) !== undefined)
    throw usageError(`--sandbox and --${text('baseUrl') ? 'base-url' : 'context'} name two services`, 'Leave one out.');
  return {
    context: text('context'),
    sandbox: on('sandbox'),
    baseUrl: text('baseUrl'),
    format: on('json') ? 'json' : format,
    columns: text('columns')
      ?.split(',')
      .map((name) => name.trim()),
    plain: on('plain'),
    ascii: on('ascii'),
    noColor: on('noColor') || on('plain'),
    timeoutMs: readTime('--timeout', text('timeout') ?? '30s', 'h'),
    maxTimeMs: readTime('--max-time', text('maxTime') ?? '10m', 'd'),
    retries: readRetries(text('retries')),
    maxWaitMs: readTime('--max-wait', text('maxWait') ?? '60s', 'd'),
    maxBodyBytes: readSize(text('maxBody') ?? '64MB'),
    verbose: on('verbose'),
    quiet: on('quiet'),
    include: on('include'),
    traceFile: text('traceFile'),
    jq: text('jq'),
    dryRun: on('dryRun'),
    curl: on('curl'),
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

function readTime(flag: string, text: string, longest: 'h' | 'd'): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= 1 && ms <= (longest === 'h' ? 3_600_000 : 86_400_000)) return ms;
  throw usageError(`${flag} ${text}: must be a time from 1ms to 1${longest}, such as 500ms, 30s or 2m`);
}

function readSize(text: string): number {
  const bytes = parseSize(text);
  if (bytes !== undefined && bytes >= 1 && bytes <= 1024 ** 3) return bytes;
  throw usageError(`--max-body ${text}: must be a size from 1 byte to 1GB, such as 500KB or 64MB`);
}

function readRetries(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = /^\d{1,2}$/.test(text) ? Number(text) : -1;
  if (count >= 0 && count <= 20) return count;
  throw usageError(`--retries ${text}: must be a whole number from 0 to 20`);
}

/** The global flags that a command takes, in the order of help. */
export function takenFlags(outline: Outline): readonly GlobalFlag[] {
  return globalFlags.filter((flag) => takes(outline, flag));
}

/** Refuses each global flag that was typed and would do nothing in this command. Errors: `usage`. */
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
    if (!isTyped || takes(outline, flag) || (showsRows && flag.key === 'jq')) continue;
    throw unused(`--${flag.flag}`, outline, flag.needs?.lacking ?? '');
  }
  const isTable = format === 'csv' || format === 'tsv' || format === 'md';
  if (isTable && outline.columns.length === 0 && !showsRows)
    throw unused(`--format ${format}`, outline, 'prints no table');
}

function takes({ uses, columns, fields }: Outline, { flag, needs }: GlobalFlag): boolean {
  if (needs === undefined || fields.some((field) => !field.positional && field.flag === flag)) return true;
  return needs.anyOf.some((each) => (each === 'rows' ? columns.length > 0 : uses.includes(each)));
}

function unused(flag: string, { words }: Outline, lacking: string): SotraError {
  return usageError(`${flag} would do nothing: sotra ${words.join(' ')} ${lacking}`, 'Leave it out.');
}
