import { Option } from 'commander';
import { dayMs, parseDuration, parseRate, type Rate } from '../api/duration.ts';
import { nearest } from '../api/nearest.ts';
import { usualLimits } from '../client/transport.ts';
import { usageError } from '../errors.ts';
import { type Format, formats } from '../lib/output/view.ts';
import { singleValue, splitList } from './params.ts';

/** The options of the program, which work anywhere on the line. */
export const programOptions = (): Option[] => [
  parsed('--context <name>', 'use this stored context (SOTRA_CONTEXT)', String),
  new Option('--sandbox', 'use the built-in sandbox; its state is kept between calls').conflicts([
    'context',
    'baseUrl',
  ]),
  parsed('--base-url <url>', 'address of the service (SOTRA_BASE_URL)', String),
  parsed('--format <format>', `output format: ${formats.join(', ')}`, readFormat),
  new Option('--json', "the service's JSON, unchanged; errors as JSON on stderr"),
  new Option('--no-color', 'no colors (also NO_COLOR)'),
  new Option('--verbose', 'show requests, answers and timing on stderr'),
  new Option('--quiet', 'no progress, notes or warnings on stderr'),
  new Option('--yes', 'answer yes to questions'),
  new Option('--no-input', 'never ask; fail instead'),
];

/** Options of commands that make requests or change something; each command adds those that work in it. */
const sharedOptions = {
  dryRun: new Option('--dry-run', 'show what would be sent or changed, without doing it; needs no key'),
  curl: new Option('--curl', 'print the request as a curl line instead of sending it'),
  timeout: bounded(
    '--timeout <time>',
    'give up on a call after this long, including retries and waits (default: 10m, or 30s without data)',
    'must be a time from 1ms to 1d, such as 500ms, 30s or 2m',
    (typed) => within(parseDuration(typed), 1, dayMs),
  ),
  retries: bounded(
    '--retries <n>',
    'retry a failed request up to n times (default: 2; uploads, feed --watch and --forward-to retry for longer)',
    'must be a whole number from 0 to 20',
    (typed) => (/^\d{1,2}$/.test(typed) ? within(Number(typed), 0, 20) : undefined),
  ),
  rate: bounded(
    '--rate <n/s>',
    'limit the rate of requests, evenly spaced: 5/s, 300/m or 1000/h',
    'must be a rate such as 5/s, 300/m or 1000/h, at most 5000/s',
    parseRate,
  ),
  strict: new Option('--strict', 'fail if an answer does not match the interface (exit 13)'),
  columns: parsed('--columns <a,b>', 'show these columns; with --json and ndjson, objects of these fields', (typed) =>
    splitList(typed, '--columns'),
  ).conflicts('jq'),
  jq: new Option('--jq <filter>', 'print the result of this jq filter; strings without quotes'),
  showNsfw: new Option('--show-nsfw', 'show names that the service flags as NSFW; tables hide them'),
} satisfies Record<string, Option>;

export type SharedOption = keyof typeof sharedOptions;

export const requestOptions = ['dryRun', 'curl', 'timeout', 'retries', 'rate', 'strict'] as const;

/** An option that help names in one line only; `sotra help options` explains it. */
export function sharedOption(name: SharedOption): Option {
  return sharedOptions[name].hideHelp();
}

export const describeSharedOptions = (): Option[] => Object.values(sharedOptions);

function parsed<T>(flags: string, help: string, read: (typed: string) => T): Option {
  const option = new Option(flags, help);
  return option.argParser(singleValue(flags.split(' ', 1)[0] ?? '', read));
}

/** An option whose text `read` takes; `rule` says what it must be. */
function bounded<T>(flags: string, help: string, rule: string, read: (typed: string) => T | undefined): Option {
  return parsed(flags, help, (typed) => {
    const value = read(typed);
    if (value === undefined) throw usageError(`${flags.split(' ', 1)[0]} ${typed}: ${rule}`);
    return value;
  });
}

function within(value: number | undefined, min: number, max: number): number | undefined {
  return value !== undefined && value >= min && value <= max ? value : undefined;
}

export type GlobalOptions = ReturnType<typeof readOptions>;

/** The options that commands share, from what commander read. Errors: `usage` for two that contradict each other. */
export function readOptions(typed: Readonly<Record<string, unknown>>) {
  const text = (key: string) => typed[key] as string | undefined;
  const isOn = (key: string) => typed[key] === true;
  const format = typed['format'] as Format | undefined;
  if (isOn('json') && format !== undefined && format !== 'json')
    throw usageError(`option '--json' cannot be used with option '--format ${format}'`, 'Omit one of them.');
  if (text('jq') !== undefined && format !== undefined && format !== 'json' && format !== 'ndjson')
    throw usageError(
      `option '--jq <filter>' cannot be used with option '--format ${format}'`,
      'A filter works on JSON: omit one of them.',
    );
  const timeoutMs = typed['timeout'] as number | undefined;
  return {
    context: text('context'),
    sandbox: isOn('sandbox'),
    baseUrl: text('baseUrl'),
    format: isOn('json') ? 'json' : format,
    columns: typed['columns'] as readonly string[] | undefined,
    jq: text('jq'),
    showNsfw: isOn('showNsfw'),
    noColor: typed['color'] === false,
    verbose: isOn('verbose'),
    quiet: isOn('quiet'),
    yes: isOn('yes'),
    noInput: typed['input'] === false,
    dryRun: isOn('dryRun'),
    curl: isOn('curl'),
    /** Show only; nothing is sent, written or asked. */
    preview: isOn('dryRun') || isOn('curl'),
    strict: isOn('strict'),
    retries: typed['retries'] as number | undefined,
    /** Between two requests. */
    rate: typed['rate'] as Rate | undefined,
    /** Until something comes: the connection, the first byte, the next one. */
    timeoutMs: timeoutMs ?? usualLimits.timeoutMs,
    typedTimeoutMs: timeoutMs,
    /** For a whole call, attempts and waits together. */
    maxTimeMs: timeoutMs ?? usualLimits.maxTimeMs,
    /** The longest wait that a service may ask for. */
    maxWaitMs: timeoutMs ?? usualLimits.maxWaitMs,
  };
}

function readFormat(typed: string): Format {
  const format = formats.find((name) => name === typed);
  if (format !== undefined) return format;
  const near = nearest(typed, formats);
  throw usageError(`--format ${typed}: must be one of ${formats.join(', ')}`, near && `Did you mean ${near}?`);
}
