import { createHash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { readMessage } from '../errors.ts';
import type { CallEvent } from '../http/client.ts';
import { failureKinds, NetworkFailure, pickHeader } from '../http/failures.ts';
import { maskHeader } from '../http/preview.ts';
import type { HttpAnswer, HttpRequest, Timing } from '../world.ts';

/** The first bytes of a longer body, with what it was. */
const cut = z.object({ bytes: z.number(), sha256: z.string() }).optional();
const headers = z.array(z.looseObject({ name: z.string(), value: z.string() }));

/** What we say of a call beyond HAR; secrets are hidden. */
const facts = z.object({
  v: z.literal(1),
  /** As typed, for a shell. */
  command: z.string(),
  /** Of the command: its calls are those with the same command and process. */
  pid: z.number(),
  baseUrl: z.string(),
  /** Absent where another service than that of the context was named. */
  context: z.string().optional(),
  /** Names of parameters that the deployment calls otherwise; absent where there are none. */
  wire: z.record(z.string(), z.string()).optional(),
  attempt: z.number(),
  /** Why it was sent again, or why the call failed. */
  error: z.string().optional(),
  /** Of the call that failed; absent for an attempt that another followed. */
  errorCode: z.string().optional(),
  /** What to type next, as the error said it. */
  hint: z.string().optional(),
  /** Of a connection that failed; `code`: of the system or of TLS. */
  failure: z.object({ kind: z.enum(failureKinds), code: z.string().optional(), message: z.string() }).optional(),
  /** Of the whole command; absent while it runs, and where it was killed. */
  exitCode: z.number().optional(),
  requestId: z.string().optional(),
  /** Names of query parameters and body fields that the service said it ignored. */
  ignored: z.array(z.string()).optional(),
  /** Of an answer that is too long, the part that later commands ask for. */
  brief: z.unknown().optional(),
});

/** An entry of HAR 1.2, as far as we read it. Without an answer the status is 0 and `comment` says why. */
export const harEntrySchema = z.looseObject({
  startedDateTime: z.string().optional(),
  time: z.number().optional(),
  request: z.looseObject({
    method: z.string(),
    url: z.string(),
    headers: headers.default([]),
    postData: z.looseObject({ text: z.string().optional(), _cut: cut }).optional(),
  }),
  response: z.looseObject({
    status: z.number(),
    headers: headers.default([]),
    content: z.looseObject({ text: z.string().optional(), encoding: z.string().optional(), _cut: cut }),
  }),
  comment: z.string().optional(),
  _sotra: facts.pick({ baseUrl: true, context: true, wire: true, failure: true }).partial().loose().optional(),
});

/** An attempt of a call as it is kept. */
export const logEntrySchema = harEntrySchema.extend({ startedDateTime: z.string(), time: z.number(), _sotra: facts });

export type HarEntry = z.output<typeof harEntrySchema>;
export type LogEntry = z.output<typeof logEntrySchema>;
type CallFacts = LogEntry['_sotra'];
/** What is the same for all calls of a command. */
export type CommandFacts = Pick<CallFacts, 'command' | 'pid' | 'baseUrl' | 'context' | 'wire'>;

/** What is added to an entry after the request: its answer, or the exit code of the command. */
export type EntryPart = Partial<Pick<LogEntry, 'time' | 'response' | 'comment'>> & {
  timings?: object;
  _sotra?: Partial<CallFacts>;
};

/** Where calls are kept. What it throws is said once, and nothing more is kept there. */
export interface Keeper {
  maxBodyBytes: number;
  /** Told of a request before it is sent; the function it gives back, of how that ended. */
  begin: (entry: LogEntry) => (part: EntryPart) => void | Promise<void>;
  /** Told of the exit code of the command. */
  close: (exitCode: number | undefined) => void | Promise<void>;
}

export function extendEntry(entry: LogEntry, { _sotra, ...part }: EntryPart): LogEntry {
  return { ...entry, ...part, _sotra: { ...entry._sotra, ..._sotra } };
}

interface SentRequest {
  startedMs: number;
  request: HttpRequest;
  attempt: number;
  /** Why it is sent again. */
  why: string | undefined;
}

/** How texts are kept. */
export interface TextRules {
  hide: (text: string) => string;
  maxBodyBytes: number;
}

/** The address without secrets: scheme, host and port are none, so that an address it stays, whatever the key is. */
export function hideInUrl({ origin, pathname, search }: URL, hide: (text: string) => string): URL {
  return new URL(`${origin}/${hide(pathname.slice(1) + search)}`);
}

/** The entry of a request that has no answer yet. */
export function startEntry(
  { startedMs, request, attempt, why }: SentRequest,
  facts: CommandFacts,
  rules: TextRules,
): LogEntry {
  const { method, url, headers, body } = request;
  const { hide } = rules;
  const shown = hideInUrl(url, hide);
  const again = attempt === 1 ? undefined : `attempt ${attempt}${why === undefined ? '' : `, after ${why}`}`;
  return {
    startedDateTime: new Date(startedMs).toISOString(),
    time: 0,
    request: {
      method,
      url: shown.href,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: describeHeaders(headers, hide),
      queryString: [...shown.searchParams].map(([name, value]) => ({ name, value })),
      ...(body !== undefined && {
        postData: { mimeType: headers['content-type'] ?? '', ...describeBody(body, rules) },
      }),
      headersSize: -1,
      bodySize: body === undefined ? 0 : Buffer.byteLength(body),
    },
    response: noResponse,
    cache: {},
    timings: describeTimings(0, undefined),
    ...(again !== undefined && { comment: hide(again) }),
    _sotra: { v: 1, ...facts, attempt },
  };
}

/** What the answer, or its absence, adds to the entry of a request. */
export function addAnswer(
  entry: LogEntry,
  event: Extract<CallEvent, { kind: 'answer' | 'failure' }>,
  rules: TextRules,
): EntryPart {
  const isAnswer = event.kind === 'answer';
  const shared = { time: event.ms, timings: describeTimings(event.ms, isAnswer ? event.timing : undefined) };
  if (!isAnswer) {
    const comment = [entry.comment, rules.hide(event.message)].filter((part) => part !== undefined).join('; ');
    return { ...shared, comment, _sotra: { failure: describeFailure(event.cause, rules.hide) } };
  }
  const { status, headers, bytes, text } = event;
  const { hide } = rules;
  const ignored = pickHeader(headers, 'x-sotra-ignored')?.split(',');
  const requestId = pickHeader(headers, 'x-request-id') ?? pickHeader(headers, 'request-id');
  return {
    ...shared,
    response: {
      status,
      statusText: STATUS_CODES[status] ?? '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: describeHeaders(headers, hide),
      content: { size: bytes, mimeType: pickHeader(headers, 'content-type') ?? '', ...describeBody(text, rules) },
      redirectURL: hide(pickHeader(headers, 'location') ?? ''),
      headersSize: -1,
      bodySize: bytes,
    },
    _sotra: { ...(ignored && { ignored: ignored.map(hide) }), ...(requestId && { requestId: hide(requestId) }) },
  };
}

function describeFailure(thrown: unknown, hide: TextRules['hide']): CallFacts['failure'] {
  const failure = thrown instanceof NetworkFailure ? thrown : undefined;
  const first = failure?.cause instanceof AggregateError ? failure.cause.errors[0] : failure?.cause;
  const { code } = (first ?? {}) as { code?: unknown };
  const message = hide(readMessage(thrown));
  return { kind: failure?.kind ?? 'broken', ...(typeof code === 'string' && { code }), message };
}

function describeBody(text: string, { hide, maxBodyBytes }: TextRules) {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBodyBytes) return { text: hide(text) };
  // A character that is cut in the middle goes; a secret that is cut is still hidden.
  const start = Buffer.from(text)
    .subarray(0, maxBodyBytes)
    .toString()
    .replace(/\uFFFD$/, '');
  return { text: hide(start), _cut: { bytes, sha256: createHash('sha256').update(text).digest('hex') } };
}

function describeHeaders(headers: HttpAnswer['headers'], hide: TextRules['hide']) {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => {
      return one === undefined ? [] : [{ name: hide(name), value: hide(maskHeader(name, one)) }];
    }),
  );
}

const noResponse = {
  status: 0,
  statusText: '',
  httpVersion: '',
  cookies: [],
  headers: [],
  content: { size: 0, mimeType: '' },
  redirectURL: '',
  headersSize: -1,
  bodySize: -1,
};

/** In milliseconds; unknown parts are -1 (HAR 1.2). */
function describeTimings(totalMs: number, timing: Timing | undefined) {
  const { connectMs, firstByteMs = totalMs } = timing ?? {};
  return {
    blocked: -1,
    dns: -1,
    connect: connectMs ?? -1,
    ssl: -1,
    send: 0,
    wait: firstByteMs - (connectMs ?? 0),
    receive: totalMs - firstByteMs,
  };
}
