import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, tryParseJson } from '../api/json.ts';
import type { Context } from '../context.ts';
import { SotraError } from '../errors.ts';
import { readStateFile } from '../lib/files/durable-file.ts';
import { counted } from '../lib/output/format.ts';
import { type FailedCommand, failedCommandSchema, type LogEntry, logEntrySchema } from './entry.ts';
import { findHistory, logFiles } from './log.ts';

/** A call with its number, counted from the newest, which is 1. */
export type NumberedEntry = LogEntry & { n: number };

/** Calls and failed commands, the newest first. Lines that are torn or damaged are left out. Errors: those of the file system. */
export function* readLog(folder: string): Generator<NumberedEntry | FailedCommand> {
  let n = 0;
  for (const line of readLogLines(folder)) {
    const value = tryParseJson(line);
    if (!isObject(value)) continue;
    const call = logEntrySchema.safeParse(value).data;
    if (call !== undefined) n += 1;
    const found = call === undefined ? failedCommandSchema.safeParse(value).data : { ...call, n };
    if (found !== undefined) yield found;
  }
}

/** Only the calls. */
export function* readCalls(folder: string): Generator<NumberedEntry> {
  for (const line of readLog(folder)) if ('request' in line) yield line;
}

/** Another text after each change of the log. */
export function readLogVersion(folder: string): string {
  const { ino = 0, size = 0 } = statSync(join(folder, logFiles[0]), { throwIfNoEntry: false }) ?? {};
  return `${ino} ${size}`;
}

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

/** A line of `sotra history`; times in Unix milliseconds, a status of null if no answer came. */
export type ShownCall = ReturnType<typeof summarizeCall>;

export function summarizeCall({ n, startedDateTime, time, request, response, _sotra }: NumberedEntry) {
  const { v: _, id, ...facts } = _sotra;
  return {
    n,
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

/** The newest first. */
function* readLogLines(folder: string): Generator<string> {
  for (const file of logFiles.map((name) => join(folder, name)))
    if (existsSync(file)) yield* readStateFile(file).split(/\n+/).reverse();
}
