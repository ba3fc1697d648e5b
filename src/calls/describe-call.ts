import { createHash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { CallEvent } from '../client/client.ts';
import { listHeaders, NetworkFailure, pickHeader, readRequestId } from '../client/failures.ts';
import { maskHeader } from '../client/preview.ts';
import { readMessage } from '../errors.ts';
import type { HttpAnswer, HttpRequest } from '../lib/io.ts';
import type { CommandFacts, EntryPart, LogEntry } from './entry.ts';

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
function hideInUrl({ origin, pathname, search }: URL, hide: (text: string) => string): URL {
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
    timings: describeTimings(0),
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
  const shared = { time: event.ms, timings: describeTimings(event.ms, isAnswer ? event.firstByteMs : undefined) };
  if (!isAnswer) {
    const comment = [entry.comment, rules.hide(event.message)].filter((part) => part !== undefined).join('; ');
    return { ...shared, comment, _sotra: { failure: describeFailure(event.cause, rules.hide) } };
  }
  const { status, headers, bytes, text } = event;
  const { hide } = rules;
  const ignored = pickHeader(headers, 'x-sotra-ignored')?.split(',');
  const requestId = readRequestId(headers);
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

function describeFailure(thrown: unknown, hide: TextRules['hide']): LogEntry['_sotra']['failure'] {
  const failure = thrown instanceof NetworkFailure ? thrown : undefined;
  const first = failure?.cause instanceof AggregateError ? failure.cause.errors[0] : failure?.cause;
  const { code } = (first ?? {}) as { code?: unknown };
  const message = hide(readMessage(thrown));
  return { kind: failure?.kind ?? 'broken', ...(typeof code === 'string' && { code }), message };
}

/** No secret is longer. So much after the cut is hidden too: one that stands across the cut would not be known by its start. */
const longestSecret = 10_000;

function describeBody(text: string, { hide, maxBodyBytes }: TextRules) {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBodyBytes) return { text: hide(text) };
  // A character that is cut in the middle goes.
  const start = Buffer.from(text)
    .subarray(0, maxBodyBytes)
    .toString()
    .replace(/\uFFFD$/, '');
  const after = text.slice(start.length, start.length + longestSecret);
  const shown = hide(start + after);
  return {
    text: shown.slice(0, Math.max(0, shown.length - after.length)),
    _cut: { bytes, sha256: createHash('sha256').update(text).digest('hex') },
  };
}

function describeHeaders(headers: HttpAnswer['headers'], hide: TextRules['hide']) {
  return listHeaders(headers).map(({ name, value }) => ({ name: hide(name), value: hide(maskHeader(name, value)) }));
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
function describeTimings(totalMs: number, firstByteMs = totalMs) {
  return { blocked: -1, dns: -1, connect: -1, ssl: -1, send: 0, wait: firstByteMs, receive: totalMs - firstByteMs };
}
