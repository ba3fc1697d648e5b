import type { Context } from '../context.ts';
import { SotraError } from '../errors.ts';
import { counted } from '../lib/output/format.ts';
import type { LogEntry } from './entry.ts';
import { findHistory } from './log.ts';
import { type NumberedEntry, readCalls } from './read-log.ts';

/** The call with this number or id. Errors: `not-found`. */
export async function findCall(typed: string, { io }: Context): Promise<NumberedEntry> {
  let count = 0;
  for (const call of readCalls(findHistory(io))) {
    if (typed === call._sotra.id || typed === String(call.n)) return call;
    count = call.n;
  }
  const range = count === 0 ? 'the history is empty' : `the history has ${counted(count, 'call')}`;
  throw new SotraError('not-found', `call ${typed}: ${range}`, { hint: 'sotra history lists them.' });
}

/** A line of `sotra history`. */
export interface ShownCall extends Omit<LogEntry['_sotra'], 'v'> {
  n: number;
  /** Unix milliseconds. */
  atMs: number;
  method: string;
  /** Behind the base URL, with the query. */
  path: string;
  /** Null if no answer came. */
  status: number | null;
  ms: number;
}

export function summarizeCall({ n, ...entry }: NumberedEntry): ShownCall {
  return { n, ...summarizeEntry(entry) };
}

/** The same for a call without a number. */
export function summarizeEntry({ startedDateTime, time, request, response, _sotra }: LogEntry): Omit<ShownCall, 'n'> {
  const { v: _, id, ...facts } = _sotra;
  return {
    id,
    atMs: Date.parse(startedDateTime),
    method: request.method,
    path: readPath(request.url, facts.baseUrl),
    status: response.status || null,
    ms: Math.round(time),
    ...facts,
  };
}

/** The path behind a base URL, with the query. */
export function readPath(url: string, baseUrl: string): string {
  return url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : url.replace(/^\w+:\/\/[^/]+/, '');
}

/** Refuses to send a call of which a part was not kept. Errors: `config`. */
export function refuseLost(
  { request: { postData }, _sotra: { id, command } }: LogEntry,
  { path, body }: { path: string; body: string | undefined },
): void {
  const isCut = postData?._cut !== undefined && body === postData.text;
  const secret = path.includes('***') ? 'path' : body?.includes('***') ? 'body' : undefined;
  if (!isCut && secret === undefined) return;
  const lost = isCut ? 'the end of its body' : `a secret in its ${secret}`;
  throw new SotraError('config', `call ${id} cannot be sent again: ${lost} is not kept`, {
    hint: `Run the command that made it: ${command}`,
  });
}
