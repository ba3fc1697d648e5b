import { SotraError } from '../errors.ts';
import { requestHider, secretHider } from '../http/secrets.ts';
import type { HttpRequest, Transport } from '../world.ts';
import { type RecordedExchange, readRecording } from './recording.ts';

export interface Replay {
  /** The address of the service whose answers these are. */
  baseUrlFor: (wanted: string | undefined) => string;
  transport: Transport;
}

/**
 * Answers requests from a recording: by method, path, query in any order, and body; of several answers to one request each in turn, then the
 * last again. Errors of `send`: `not-recorded`, naming the nearest request that is. Errors: as in `readRecording`.
 */
export function openReplay(place: string): Replay {
  const recorded = readRecording(place);
  const answers = new Map<string, RecordedExchange[]>();
  for (const exchange of recorded) {
    // A recording of ours has no secrets; one of a browser may.
    const key = keyOf(exchange, secretHider(undefined));
    answers.set(key, [...(answers.get(key) ?? []), exchange]);
  }
  const send: Transport['send'] = async (request) => {
    const key = keyOf({ ...request, url: request.url.href }, requestHider(request));
    const left = answers.get(key);
    const [answer] = left ?? [];
    if (left === undefined || answer === undefined) throw notRecorded(request, recorded, place);
    if (left.length > 1) left.shift();
    const { status, headers, text } = answer;
    return { status, headers, body: oneChunk(text) };
  };
  return { baseUrlFor: (wanted) => baseUrlOf(recorded, wanted), transport: { send, close: async () => undefined } };
}

async function* oneChunk(text: string): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(text);
}

/** What a request is found by: method, path, query in any order, body; without secrets. */
function keyOf(
  { method, url, body }: { method: string; url: string; body?: string | undefined },
  hide: (text: string) => string,
): string {
  const { pathname, search } = new URL(hide(url));
  const query = new URLSearchParams(search);
  query.sort();
  return JSON.stringify([method, pathname, query.toString(), body === undefined ? null : hide(body)]);
}

const version = /\/v\d+\//;

/** The base URL that was recorded, or of a HAR the wanted one where it is in it, else what stands before the version in the first path. */
function baseUrlOf(recorded: readonly RecordedExchange[], wanted: string | undefined): string {
  const own = recorded.find(({ baseUrl }) => baseUrl !== undefined)?.baseUrl;
  if (own !== undefined) return own;
  if (wanted !== undefined && recorded.some(({ url }) => url.startsWith(`${wanted}/`))) return wanted;
  const urls = recorded.map(({ url }) => new URL(url));
  const ours = urls.find(({ pathname }) => version.test(pathname)) ?? urls[0];
  return `${ours?.origin}${ours?.pathname.slice(0, Math.max(0, ours.pathname.search(version)))}`;
}

function notRecorded({ method, url }: HttpRequest, recorded: readonly RecordedExchange[], place: string): SotraError {
  const wanted = url.pathname + url.search;
  const shown = secretHider(undefined)(wanted);
  const likeness = (exchange: RecordedExchange) => {
    const { pathname, search } = new URL(exchange.url);
    const same = [...(pathname + search)].findIndex((character, index) => character !== wanted[index]);
    const common = same === -1 ? wanted.length : same;
    return (exchange.method === method ? 1e9 : 0) + (pathname === url.pathname ? 1e6 : 0) + common;
  };
  const nearest = recorded.reduce((best, each) => (likeness(each) > likeness(best) ? each : best));
  const { pathname, search } = new URL(nearest.url);
  const isSame = nearest.method === method && pathname + search === wanted;
  const what = isSame ? 'the same with another body' : `${nearest.method} ${pathname}${search}`;
  return new SotraError('not-recorded', `${method} ${shown} is not in the recording ${place}; the nearest is ${what}`, {
    hint: 'Record it with --record, or run the command as it was recorded.',
    outcome: 'unsent',
  });
}
