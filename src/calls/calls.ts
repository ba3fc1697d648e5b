import type { Context } from '../context.ts';
import { SotraError } from '../errors.ts';
import { counted } from '../lib/output/format.ts';
import type { LogEntry } from './entry.ts';
import { formatCallId, type NumberedEntry, readCalls } from './read-calls.ts';
import { countCalls, findLog } from './store.ts';

/** The call with this number or id. Errors: `not-found`. */
export async function findCall(typed: string, { dataDirectory, warn }: Context): Promise<NumberedEntry> {
  const folder = findLog(await dataDirectory());
  const wanted = Number(typed.replace('c', ''));
  const isWanted = ({ n, number }: { n: number; number: number }) => (typed.startsWith('c') ? number : n) === wanted;
  const [call] = readCalls(folder, warn, isWanted);
  if (call !== undefined) return call;
  const count = countCalls(folder);
  const range = count === 0 ? 'the history is empty' : `the history has ${counted(count, 'call')}`;
  throw new SotraError('not-found', `call ${typed}: ${range}`, { hint: 'sotra history lists them.' });
}

/** What a line of `sotra history` says. */
export interface ShownCall extends Omit<LogEntry['_sotra'], 'v'> {
  n: number;
  id: string;
  /** Unix milliseconds. */
  atMs: number;
  method: string;
  /** Behind the base URL, with the query. */
  path: string;
  /** Null where no answer came. */
  status: number | null;
  ms: number;
}

export function summarizeCall({
  n,
  number,
  startedDateTime,
  time,
  request,
  response,
  _sotra,
}: NumberedEntry): ShownCall {
  const { v: _, ...facts } = _sotra;
  return {
    n,
    id: formatCallId({ number }),
    atMs: Date.parse(startedDateTime),
    method: request.method,
    path: readPath(request.url, facts.baseUrl),
    status: response.status || null,
    ms: Math.round(time),
    ...facts,
  };
}

/** What stands behind a base URL, with the query. */
export function readPath(url: string, baseUrl: string): string {
  return url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : url.replace(/^\w+:\/\/[^/]+/, '');
}

/** Refuses to send a call with what of it is not kept. Errors: `config`. */
export function refuseLost(
  { number, request: { postData }, _sotra }: NumberedEntry,
  { path, body }: { path: string; body: string | undefined },
): void {
  const isCut = postData?._cut !== undefined && body === postData.text;
  const secret = path.includes('***') ? 'path' : body?.includes('***') ? 'body' : undefined;
  if (!isCut && secret === undefined) return;
  const lost = isCut ? 'the end of its body' : `a secret in its ${secret}`;
  throw new SotraError('config', `call ${formatCallId({ number })} cannot be sent again: ${lost} is not kept`, {
    hint: `Run the command that made it: ${_sotra.command}`,
  });
}
