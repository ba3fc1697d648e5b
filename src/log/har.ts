import { existsSync, lstatSync, statSync } from 'node:fs';
import { z } from 'zod';
import type { WireNames } from '../contract/endpoint.ts';
import { readMessage, SotraError } from '../errors.ts';
import { readStateFile, refuseOther, replaceFile, requireFolder } from '../files/durable-file.ts';
import { type LockWorld, withLock } from '../files/lock.ts';
import { NetworkFailure } from '../http/failures.ts';
import { requestHider, secretHider } from '../http/secrets.ts';
import { parseJson, tryParseJson } from '../model/json.ts';
import type { HttpRequest, Transport } from '../world.ts';
import { hideInUrl } from './describe-call.ts';
import { extendEntry, type HarEntry, harEntrySchema, type Keeper, type LogEntry } from './entry.ts';

const maxFileBytes = 64 * 1024 * 1024;

/** An HTTP archive (HAR 1.2) of these entries. */
export function wrapInHar(entries: readonly HarEntry[], version: string) {
  return { log: { version: '1.2', creator: { name: 'sotra', version }, entries } };
}

const harSchema = z.object({ log: z.object({ entries: z.array(harEntrySchema) }) });

/**
 * The entries of an HTTP archive, ours or a browser's, that have an answer or say how the connection failed. Errors: `local-file`, beginning with
 * the label.
 */
export function readHar(file: string, label: string): HarEntry[] {
  const refuse = (what: string, hint: string, cause?: unknown) =>
    new SotraError('local-file', `${label}: ${what}`, { hint, cause });
  const howTo = 'sotra --record <file.har> writes one; browsers save one in their network tools.';
  if (!existsSync(file)) throw refuse('there is no such file', howTo);
  const found = statSync(file);
  if (found.isDirectory()) throw refuse('is a folder: a recording is one file (HAR)', howTo);
  if (found.size > maxFileBytes)
    throw refuse(
      `is a file of ${Math.round(found.size / 1024 ** 2)} MB, and at most ${maxFileBytes / 1024 ** 2} MB are read`,
      'Save fewer requests: filter them by the address of the service.',
    );
  try {
    const { log } = harSchema.parse(parseJson(readStateFile(file).replace(/^\uFEFF/, '')));
    const answered = log.entries.filter(
      ({ request, response, _sotra }) =>
        (response.status > 0 || _sotra?.failure !== undefined) && URL.canParse(request.url),
    );
    if (answered.length > 0) return answered;
  } catch (cause) {
    if (cause instanceof SotraError) throw cause;
    throw refuse('is not an HTTP archive (HAR)', howTo, cause);
  }
  throw refuse('holds no answer', howTo);
}

/** The body of an answer as text. */
export function readText({ response: { content } }: HarEntry): string {
  const { text = '', encoding } = content;
  return encoding === 'base64' ? Buffer.from(text, 'base64').toString() : text;
}

/** What is recorded is written each time so much of it came, and at the end. */
const maxUnwrittenBytes = 8 * 1024 * 1024;

/**
 * Adds calls to an HTTP archive of mode 0600, as other processes do too. Errors: `local-file` for what is no file that `--record` wrote, and
 * where it cannot be written.
 */
export async function openHarFile(file: string, version: string, world: LockWorld): Promise<Keeper> {
  requireFolder('--record', file);
  let entries: LogEntry[] = [];
  let bytes = 0;
  const flush = async () => {
    const added = entries;
    [entries, bytes] = [[], 0];
    try {
      await withLock(`${file}.lock`, world, async () => addToFile(file, added, version));
    } catch (cause) {
      throw new SotraError('local-file', `--record ${file}: ${readMessage(cause)}`, {
        hint: 'Name another file, such as answers.har.',
        cause,
      });
    }
  };
  let last = flush();
  /** One after the other, in the order in which the calls ended. */
  const write = () => {
    last = last.then(flush);
    return last;
  };
  await last;
  return {
    maxBodyBytes: Number.POSITIVE_INFINITY,
    begin: (entry) => (part) => {
      const whole = extendEntry(entry, part);
      entries.push(whole);
      bytes += JSON.stringify(whole).length;
      return bytes > maxUnwrittenBytes ? write() : undefined;
    },
    close: write,
  };
}

const ownHar = z.object({
  log: z.object({ creator: z.object({ name: z.literal('sotra') }), entries: z.array(harEntrySchema) }),
});

function addToFile(file: string, entries: readonly LogEntry[], version: string): void {
  refuseOther(file, lstatSync(file, { throwIfNoEntry: false }));
  const kept = existsSync(file) ? readStateFile(file) : '';
  const before = kept === '' ? [] : ownHar.safeParse(tryParseJson(kept)).data?.log.entries;
  if (before === undefined) throw new Error('is not a file that --record wrote');
  const text = JSON.stringify(wrapInHar([...before, ...entries], version));
  if (Buffer.byteLength(text) > maxFileBytes) throw new Error(`is full: it holds ${maxFileBytes / 1024 ** 2} MB`);
  replaceFile(file, text);
}

interface ReplayedService {
  baseUrl: string;
  /** Absent where the recording does not say. */
  wire: WireNames | undefined;
}

export interface Replay {
  /** Of the services whose answers these are the wanted one, else the first. */
  findService: (wanted: { context: string | undefined; baseUrl: string | undefined }) => ReplayedService;
  openTransport: (baseUrl: string) => Transport;
}

/**
 * Answers requests from an HTTP archive: by method, path, query in any order, and body; of several answers to one request each in turn, then
 * the last again. A connection that failed then fails again. Errors of `send`: `not-recorded`, naming the nearest request that is. Errors: as
 * in `readHar`.
 */
export function openReplay(file: string): Replay {
  const entries = readHar(file, `--replay ${file}`);
  return {
    findService: ({ context, baseUrl }) => {
      const kept = entries.flatMap(({ _sotra }) => (_sotra?.baseUrl === undefined ? [] : [_sotra]));
      const found =
        kept.find((each) => each.baseUrl === baseUrl) ??
        kept.find((each) => context !== undefined && each.context === context);
      const { baseUrl: own, wire } = found ?? kept[0] ?? {};
      return { baseUrl: own ?? findBaseUrl(entries, baseUrl), wire };
    },
    openTransport: (baseUrl) =>
      replayEntries(
        entries.filter(({ _sotra }) => (_sotra?.baseUrl ?? baseUrl) === baseUrl),
        file,
      ),
  };
}

function replayEntries(entries: readonly HarEntry[], file: string): Transport {
  const answers = new Map<string, HarEntry[]>();
  // What we wrote has no secrets; what a browser wrote may.
  const hide = secretHider(undefined);
  for (const entry of entries) {
    const { method, url, postData } = entry.request;
    const key = identifyRequest({ method, url: new URL(url), body: postData?.text }, hide);
    answers.set(key, [...(answers.get(key) ?? []), entry]);
  }
  const send: Transport['send'] = async (request) => {
    const left = answers.get(identifyRequest(request, requestHider(request)));
    const [answer] = left ?? [];
    if (left === undefined || answer === undefined) throw notRecorded(request, entries, file);
    if (left.length > 1) left.shift();
    const { status, headers, content } = answer.response;
    const { failure } = answer._sotra ?? {};
    if (failure !== undefined)
      throw new NetworkFailure(failure.kind, failure.message, Object.assign(new Error(failure.message), failure));
    if (content._cut !== undefined) throw cutOff(request, content._cut.bytes, file);
    return { status, headers: pickAnswerHeaders(headers), body: oneChunk(readText(answer)) };
  };
  return { send, close: async () => undefined };
}

async function* oneChunk(text: string): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(text);
}

/** Without those that say how the body travelled, which was another then. */
function pickAnswerHeaders(headers: HarEntry['request']['headers']): Record<string, string> {
  const ofTheJourney = /^(?::.*|content-encoding|content-length|transfer-encoding|connection|keep-alive)$/i;
  const kept = headers.filter(({ name }) => !ofTheJourney.test(name));
  return Object.fromEntries(kept.map(({ name, value }) => [name.toLowerCase(), value]));
}

/** What a request is found by: method, path, query in any order, body; without secrets. */
function identifyRequest(
  { method, url, body }: Pick<HttpRequest, 'method' | 'url'> & { body?: string | undefined },
  hide: (text: string) => string,
): string {
  const { pathname, search } = hideInUrl(url, hide);
  const query = new URLSearchParams(search);
  query.sort();
  return JSON.stringify([method, pathname, query.toString(), body === undefined ? null : hide(body)]);
}

const version = /\/v\d+\//;

/** Of a browser's archive: the wanted base URL where it is in it, else what stands before the version in the first path. */
function findBaseUrl(entries: readonly HarEntry[], wanted: string | undefined): string {
  if (wanted !== undefined && entries.some(({ request }) => request.url.startsWith(`${wanted}/`))) return wanted;
  const urls = entries.map(({ request }) => new URL(request.url));
  const ours = urls.find(({ pathname }) => version.test(pathname)) ?? urls[0];
  return `${ours?.origin}${ours?.pathname.slice(0, Math.max(0, ours.pathname.search(version)))}`;
}

function notRecorded({ method, url }: HttpRequest, entries: readonly HarEntry[], file: string): SotraError {
  const wanted = url.pathname + url.search;
  const shown = secretHider(undefined)(wanted);
  const likeness = ({ request }: HarEntry) => {
    const { pathname, search } = new URL(request.url);
    const same = [...(pathname + search)].findIndex((character, index) => character !== wanted[index]);
    const common = same === -1 ? wanted.length : same;
    return (request.method === method ? 1e9 : 0) + (pathname === url.pathname ? 1e6 : 0) + common;
  };
  const { request } = entries.reduce((best, each) => (likeness(each) > likeness(best) ? each : best));
  const { pathname, search } = new URL(request.url);
  const isSame = request.method === method && pathname + search === wanted;
  const what = isSame ? 'the same with another body' : `${request.method} ${pathname}${search}`;
  return new SotraError('not-recorded', `${method} ${shown} is not in the recording ${file}; the nearest is ${what}`, {
    hint: 'Record it with --record, or run the command as it was recorded.',
    outcome: 'unsent',
  });
}

function cutOff({ method, url }: HttpRequest, bytes: number, file: string): SotraError {
  const what = `${method} ${secretHider(undefined)(url.pathname + url.search)}`;
  return new SotraError('not-recorded', `the answer to ${what} had ${bytes} bytes, of which ${file} holds the first`, {
    hint: 'Record it with --record, which keeps bodies of any length.',
    outcome: 'unsent',
  });
}
