import { SotraError } from '../errors.ts';
import { requestHider, secretHider } from '../http/secrets.ts';
import type { HttpRequest, Transport } from '../world.ts';
import type { HarEntry } from './entry.ts';
import { readHar, readText } from './har.ts';

export interface Replay {
  /** The address of the service whose answers these are. */
  baseUrlFor: (wanted: string | undefined) => string;
  transport: Transport;
}

/**
 * Answers requests from an HTTP archive: by method, path, query in any order, and body; of several answers to one request each in turn, then
 * the last again. Errors of `send`: `not-recorded`, naming the nearest request that is. Errors: as in `readHar`.
 */
export function openReplay(file: string): Replay {
  const entries = readHar(file, `--replay ${file}`);
  const answers = new Map<string, HarEntry[]>();
  // What we wrote has no secrets; what a browser wrote may.
  const hide = secretHider(undefined);
  for (const entry of entries) {
    const { method, url, postData } = entry.request;
    const key = keyOf({ method, url: new URL(url), body: postData?.text }, hide);
    answers.set(key, [...(answers.get(key) ?? []), entry]);
  }
  const send: Transport['send'] = async (request) => {
    const left = answers.get(keyOf(request, requestHider(request)));
    const [answer] = left ?? [];
    if (left === undefined || answer === undefined) throw notRecorded(request, entries, file);
    if (left.length > 1) left.shift();
    const { status, headers, content } = answer.response;
    if (content._cut !== undefined) throw cutOff(request, content._cut.bytes, file);
    return { status, headers: ofTheAnswer(headers), body: oneChunk(readText(answer)) };
  };
  return { baseUrlFor: (wanted) => baseUrlOf(entries, wanted), transport: { send, close: async () => undefined } };
}

async function* oneChunk(text: string): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(text);
}

/** Without those that say how the body travelled, which was another then. */
function ofTheAnswer(headers: HarEntry['request']['headers']): Record<string, string> {
  const ofTheJourney = /^(?::.*|content-encoding|content-length|transfer-encoding|connection|keep-alive)$/i;
  const kept = headers.filter(({ name }) => !ofTheJourney.test(name));
  return Object.fromEntries(kept.map(({ name, value }) => [name.toLowerCase(), value]));
}

/** What a request is found by: method, path, query in any order, body; without secrets. */
function keyOf(
  { method, url, body }: Pick<HttpRequest, 'method' | 'url'> & { body?: string | undefined },
  hide: (text: string) => string,
): string {
  const { pathname, search } = new URL(hide(url.href));
  const query = new URLSearchParams(search);
  query.sort();
  return JSON.stringify([method, pathname, query.toString(), body === undefined ? null : hide(body)]);
}

const version = /\/v\d+\//;

/** The base URL that was recorded, or of a browser's archive the wanted one where it is in it, else what stands before the version in the first path. */
function baseUrlOf(entries: readonly HarEntry[], wanted: string | undefined): string {
  const own = entries.find(({ _sotra }) => _sotra?.baseUrl !== undefined)?._sotra?.baseUrl;
  if (own !== undefined) return own;
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
