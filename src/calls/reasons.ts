import { parseRate } from '../api/duration.ts';
import { curlLine } from '../client/preview.ts';
import type { Context } from '../context.ts';
import { errorExitCodes, orUndefined } from '../errors.ts';
import { describeKey, resolveService, type Service, type StoredSettings } from '../lib/config/settings.ts';
import type { FailedCommand, LogEntry } from './entry.ts';
import { type Explanation, explainCommand, explainEntry, type Surroundings } from './explain.ts';
import { type NumberedEntry, summarizeCall } from './read-log.ts';

/** The output of `sotra why --json`. */
export interface Why extends Explanation {
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
export function describeCommandFailure({ atMs, command, exitCode, code, message, hint }: FailedCommand): Why {
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
  const { next, ...explanation } = await explainEntry(entry, await lookAround(entry, context));
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

/** Why a call of the history failed: a name and a text each, as `sotra why` prints them. */
export async function listCallReasons(call: NumberedEntry, context: Context): Promise<Line[]> {
  const { next, ...reasons } = await describeCallFailure(call, context);
  return listLines({ ...reasonTexts(reasons), next });
}

/** The same for a call of another log, with what else is known. */
export async function listReasons(entry: LogEntry, around: Surroundings): Promise<Line[]> {
  const { next, ...reasons } = await explainEntry(entry, around);
  return listLines({ ...reasonTexts(reasons), next });
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
  return `${before}${after?.slice(given.length) ?? ''} ${flag} ${goFurther(flag, value, given)}`;
}

/** A value that helps more than the one that was given. */
function goFurther(flag: string, value: string, given: string): string {
  if (flag === '--retries' && Number(given) >= Number(value)) return String(Math.min(20, 2 * Number(given)));
  const { perSec = Number.POSITIVE_INFINITY } = parseRate(given) ?? {};
  return flag === '--rate' && perSec <= 2 ? `${perSec * 30}/m` : value;
}

async function lookAround(entry: NumberedEntry, context: Context): Promise<Surroundings> {
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
  const keyBelongsTo = service && findOwner(service, stored);
  return { ...service, keyName, keyBelongsTo, endpoints, context: name, typedBaseUrl };
}

/** Another context that has the key in use for another address. */
function findOwner({ apiKey, baseUrl }: Service, { contexts }: StoredSettings): Surroundings['keyBelongsTo'] {
  const [owner] = Object.entries(contexts).flatMap(([context, stored]) =>
    apiKey !== null && stored.apiKey === apiKey && stored.baseUrl !== undefined && stored.baseUrl !== baseUrl
      ? [{ context, baseUrl: stored.baseUrl }]
      : [],
  );
  return owner;
}

type Line = readonly [name: string, text: string];

/** A line for each text that there is. */
export function listLines(texts: Readonly<Record<string, readonly (string | null | undefined)[]>>): Line[] {
  return Object.entries(texts).flatMap(([name, all]) => all.flatMap((text): Line[] => (text ? [[name, text]] : [])));
}

/** The reason first, then its evidence. */
export function reasonTexts({ rule, differences, ignored, notes }: Omit<Explanation, 'next'>) {
  return {
    why: [rule],
    differs: differences.map(
      ({ at, expected, found, count }) =>
        `${at}: expected ${expected}, got ${found}${count > 1 ? ` (${count} times)` : ''}`,
    ),
    ignored: ignored.map(({ name, meant }) => (meant === null ? name : `${name} (did you mean ${meant}?)`)),
    note: notes,
  };
}
