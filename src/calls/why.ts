import { parseRate } from '../api/duration.ts';
import { safeText } from '../api/safe-text.ts';
import { curlLine } from '../client/preview.ts';
import type { Context } from '../context.ts';
import { errorExitCodes, orUndefined, SotraError } from '../errors.ts';
import { describeKey, resolveService, type Service } from '../lib/config/config.ts';
import type { StoredSettings } from '../lib/config/settings.ts';
import { formatAge } from '../lib/output/format.ts';
import type { Result } from '../lib/output/view.ts';
import type { FailedCommand, LogEntry } from './entry.ts';
import { type CallSettings, type Explanation, explainCommand, explainEntry } from './explain.ts';
import { findHistory } from './log.ts';
import { findCall, type NumberedEntry, readLog, summarizeCall } from './read-log.ts';

/** The output of `sotra why --json`. */
interface Why extends Explanation {
  /** Its number in the history, 1 is the newest; null if the command failed before it made a call. */
  n: number | null;
  /** Its id in the history, which stays. */
  id: string | null;
  /** ISO time. */
  at: string;
  command: string;
  exitCode: number | null;
  code: string | null;
  asked: { method: string; url: string; body: string | null } | null;
  answered: { status: number; ms: number; body: string } | null;
  curl: string | null;
}

/** Why a command failed, if no call explains it. */
function describeCommandFailure({ atMs, command, exitCode, code, message, hint }: FailedCommand): Why {
  return {
    n: null,
    id: null,
    at: new Date(atMs).toISOString(),
    command,
    exitCode,
    code,
    ...explainCommand({ code, message, hint }),
    asked: null,
    answered: null,
    curl: null,
  };
}

/** Why a call failed, by the interface, the settings and the calls before it; `failed` is how its command ended. */
export async function describeCallFailure(
  entry: NumberedEntry,
  context: Context,
  failed?: FailedCommand,
): Promise<Why> {
  const { startedDateTime, request, response, _sotra } = entry;
  const { command, errorCode } = _sotra;
  const { n, id, status, ms } = summarizeCall(entry);
  const { next, ...explanation } = await explainEntry(entry, await readCallSettings(entry, context));
  const continues = failed?.code === 'partial' ? ['The same command again continues what is left.'] : [];
  const exitCode = failed?.exitCode ?? Object.entries(errorExitCodes).find(([code]) => code === errorCode)?.[1];
  return {
    n,
    id,
    at: startedDateTime,
    command,
    exitCode: exitCode ?? null,
    code: errorCode ?? null,
    ...explanation,
    next: [...continues, ...next.map((line) => retype(command, line))],
    asked: { method: request.method, url: request.url, body: request.postData?.text ?? null },
    answered: status === null ? null : { status, ms, body: response.content.text ?? '' },
    curl: writeCurl(request),
  };
}

/** The curl line of a request; `null` for one to the sandbox inside the command, which listens nowhere. */
export function writeCurl({ method, url: address, headers, postData }: LogEntry['request']): string | null {
  const [url, body] = [new URL(address), postData?.text];
  const named = Object.fromEntries(headers.map(({ name, value }) => [name, value]));
  if (url.hostname === 'sandbox.localhost') return null;
  return curlLine({ method, url, headers: named, ...(body !== undefined && { body }) }).trim();
}

/** The longest command that is typed again with another flag. */
const maxRetyped = 400;

/** A flag alone becomes the command as it was typed, with that flag replacing its own. */
function retype(command: string, line: string): string {
  const [flag = '', value = ''] = line.split(' ');
  if (!flag.startsWith('--')) return line;
  if (command.includes('***') || command.length > maxRetyped) return `Add ${line} to the command.`;
  const [before, after] = command.split(` ${flag} `);
  const [given = ''] = /^\S+/.exec(after ?? '') ?? [];
  return `${before}${after?.slice(given.length) ?? ''} ${flag} ${raiseValue(flag, value, given)}`;
}

/** A value that helps more than the one that was given. */
function raiseValue(flag: string, value: string, given: string): string {
  if (flag === '--retries' && Number(given) >= Number(value)) return String(Math.min(20, 2 * Number(given)));
  const { perSec = Number.POSITIVE_INFINITY } = parseRate(given) ?? {};
  return flag === '--rate' && perSec <= 2 ? `${perSec * 30}/m` : value;
}

async function readCallSettings(entry: NumberedEntry, context: Context): Promise<CallSettings> {
  const { endpoints } = await import('../api/endpoints.ts');
  const { baseUrl, context: name } = entry._sotra;
  const stored = (await context.config.settings()).read();
  const resolve = async (typedBaseUrl?: string) =>
    resolveService({ context: name, sandbox: false, baseUrl: typedBaseUrl }, context.io.env, stored);
  const find = (...typed: string[]) => orUndefined(resolve(...typed), 'no-service', 'usage', 'insecure-url');
  const untyped = await find();
  const typedBaseUrl = untyped?.baseUrl === baseUrl ? undefined : baseUrl;
  const service = typedBaseUrl === undefined ? untyped : await find(typedBaseUrl);
  const keyName = service && describeKey(service);
  // Another key may have been set since; the hint names the one that was sent.
  const isSent = service && keyName && entry._sotra.hint?.includes(keyName) !== false;
  const key = isSent ? { keyName, keyBelongsTo: findOwner(service, stored) } : {};
  return { ...service, ...key, endpoints, context: name, typedBaseUrl };
}

/** Another context that has the key in use for another address. */
function findOwner({ apiKey, baseUrl }: Service, { contexts }: StoredSettings): CallSettings['keyBelongsTo'] {
  return Object.entries(contexts).flatMap(([context, stored]) =>
    apiKey !== null && stored.apiKey === apiKey && stored.baseUrl !== undefined && stored.baseUrl !== baseUrl
      ? [{ context, baseUrl: stored.baseUrl }]
      : [],
  )[0];
}

type Line = readonly [name: string, text: string];

/** A line for each text that there is. */
export function listLines(texts: Readonly<Record<string, readonly (string | null | undefined)[]>>): Line[] {
  return Object.entries(texts).flatMap(([name, all]) => all.flatMap((text): Line[] => (text ? [[name, text]] : [])));
}

/** What explains the reason. */
export function evidenceTexts({ differences, ignored, notes }: Explanation) {
  return {
    differs: differences.map(
      ({ at, expected, found, count }) =>
        `${at}: expected ${expected}, found ${found}${count > 1 ? ` (${count} times)` : ''}`,
    ),
    ignored: ignored.map(({ name, meant }) => (meant === null ? name : `${name} (did you mean ${meant}?)`)),
    note: notes,
  };
}

/** Explains the call with a number or id, or what failed or warned last. Errors: `not-found`. */
export async function showWhy(typed: string | undefined, context: Context): Promise<Result> {
  const { call, command } = typed === undefined ? await findLast(context) : { call: await findCall(typed, context) };
  const why = call === undefined ? describeCommandFailure(command) : await describeCallFailure(call, context, command);
  const age = formatAge(Date.parse(why.at) / 1000, context.io.now() / 1000);
  const what = why.code === null ? 'warning' : 'failure';
  const heading = typed === undefined ? `The last ${what}, ${age} ago (usage errors are not kept):\n` : '';
  return { kind: 'answer', answer: why, drawn: heading + formatWhy(why) };
}

type Found = { call: NumberedEntry; command?: FailedCommand } | { call: undefined; command: FailedCommand };

/** The last failure or warning: a call, or a command with the call that explains it. Errors: `not-found`. */
async function findLast({ io }: Context): Promise<Found> {
  let command: FailedCommand | undefined;
  for (const found of readLog(findHistory(io))) {
    if ('request' in found) {
      const { id, errorCode, warning } = found._sotra;
      if (command !== undefined && id === command.call) return { call: found, command };
      if (command === undefined && (errorCode ?? warning) !== undefined) return { call: found };
    } else if (command === undefined) {
      command = found;
      if (command.call === undefined) break;
    }
  }
  if (command !== undefined) return { call: undefined, command };
  throw new SotraError('not-found', 'no call in the history failed', {
    hint: 'sotra history lists the calls; SOTRA_HISTORY=0 turns it off.',
  });
}

// So that everything fits 40 lines of a terminal.
const [maxRows, maxText, maxBody] = [5, 400, 300];

/** The reason, the call and the next steps, as text. */
function formatWhy(why: Why): string {
  const { rule, next, asked, answered, command, n, id, at, exitCode, code, curl } = why;
  const exit = `${exitCode === null ? '' : `, exit ${exitCode}`}${code === null ? '' : ` (${code})`}`;
  const { differs, ignored, note } = evidenceTexts(why);
  const lines = listLines({
    why: [rule],
    differs: shortenList(differs),
    ignored: shortenList(ignored),
    note,
    command: [command],
    call: [`${n === null ? 'none was made' : `${n} (${id})`}, ${at}${exit}`],
    asked: [asked && `${asked.method} ${asked.url}`],
    sent: [asked?.body && shorten(asked.body, maxBody)],
    answered: [
      answered &&
        `${answered.status} in ${answered.ms} ms${answered.body === '' ? '' : `: ${shorten(answered.body, maxBody)}`}`,
    ],
    next,
    curl: [curl !== null && curl.length > maxText ? `sotra history run ${id} --curl` : curl],
  });
  return lines.map(([name, text]) => `${name.padEnd(10)}${shorten(safeText(text), maxText)}\n`).join('');
}

function shortenList(texts: readonly string[]): string[] {
  const more = texts.length - maxRows;
  return more > 0 ? [...texts.slice(0, maxRows), `and ${more} more: sotra why --json`] : [...texts];
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}...` : text;
}
