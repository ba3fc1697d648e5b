import { STATUS_CODES } from 'node:http';
import type { CallEvent } from '../client/client.ts';
import { listHeaders, pickHeader, readCode, readKind, readRequestId } from '../client/failures.ts';
import { maskHeader } from '../client/secrets.ts';
import type { HttpRequest, HttpResponse } from '../client/transport.ts';
import { readMessage } from '../errors.ts';
import { randomId } from '../lib/files/durable-file.ts';
import type { CallFacts, CommandFacts, LogEntry } from './entry.ts';

/** One attempt, as the observer saw it. */
export interface SeenCall {
  request: HttpRequest;
  startedMs: number;
  attempt: number;
  /** Why it was sent again. */
  retryReason?: string | undefined;
  /** Absent if it was interrupted, or its answer was refused before it was read. */
  ended?: Extract<CallEvent, { kind: 'answer' | 'failure' }> | undefined;
}

/** The longest part of a body that is kept. */
export const maxLoggedBytes = 64 * 1024;

type Hide = (text: string) => string;

/** A call as an entry of the log, its secrets hidden. */
export function describeCall(
  { request, startedMs, attempt, retryReason, ended }: SeenCall,
  facts: CommandFacts & Partial<CallFacts>,
  hide: Hide,
): LogEntry {
  const { method, headers, body } = request;
  const url = hideInUrl(request.url, hide);
  const again =
    attempt === 1 ? undefined : `attempt ${attempt}${retryReason === undefined ? '' : `, after ${retryReason}`}`;
  const comment = [again, ended?.kind === 'failure' ? ended.message : undefined].filter((part) => part !== undefined);
  const ms = ended?.ms ?? 0;
  return {
    startedDateTime: new Date(startedMs).toISOString(),
    time: ms,
    request: {
      method,
      url: url.href,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: describeHeaders(headers, hide),
      queryString: [...url.searchParams].map(([name, value]) => ({ name, value })),
      ...(body !== undefined && { postData: { mimeType: headers['content-type'] ?? '', ...cutBody(body, hide) } }),
      headersSize: -1,
      bodySize: body === undefined ? 0 : Buffer.byteLength(body),
    },
    response: ended?.kind === 'answer' ? describeResponse(ended, hide) : noResponse,
    cache: {},
    timings: describeTimings(ms, ended?.kind === 'answer' ? ended.firstByteMs : undefined),
    ...(comment.length > 0 && { comment: hide(comment.join('; ')) }),
    _sotra: { v: 1, id: `c${randomId()}`, attempt, ...describeEnd(ended, hide), ...facts },
  };
}

function describeEnd(ended: SeenCall['ended'], hide: Hide): Partial<CallFacts> {
  if (ended === undefined) return {};
  if (ended.kind === 'failure') {
    const { cause } = ended;
    const code = readCode(cause);
    return { failure: { kind: readKind(cause), ...(code !== '' && { code }), message: hide(readMessage(cause)) } };
  }
  const ignored = pickHeader(ended.headers, 'x-sotra-ignored')?.split(',');
  const requestId = readRequestId(ended.headers);
  return { ...(ignored && { ignored: ignored.map(hide) }), ...(requestId && { requestId: hide(requestId) }) };
}

function describeResponse(
  { status, headers, bytes, text }: Extract<CallEvent, { kind: 'answer' }>,
  hide: Hide,
): LogEntry['response'] {
  return {
    status,
    statusText: STATUS_CODES[status] ?? '',
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: describeHeaders(headers, hide),
    content: { size: bytes, mimeType: pickHeader(headers, 'content-type') ?? '', ...cutBody(text, hide) },
    redirectURL: hide(pickHeader(headers, 'location') ?? ''),
    headersSize: -1,
    bodySize: bytes,
  };
}

const noResponse: LogEntry['response'] = {
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

/** Scheme, host and port hold no secret: the address stays valid whatever the key is. */
function hideInUrl({ origin, pathname, search }: URL, hide: Hide): URL {
  return new URL(`${origin}/${hide(pathname.slice(1) + search)}`);
}

function describeHeaders(headers: HttpResponse['headers'], hide: Hide) {
  return listHeaders(headers).map(({ name, value }) => ({ name: hide(name), value: hide(maskHeader(name, value)) }));
}

/** No secret is longer: so much after the cut is hidden too, because a secret that is cut is not recognized. */
const longestSecret = 10_000;

function cutBody(text: string, hide: Hide) {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxLoggedBytes) return { text: hide(text) };
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxLoggedBytes));
  const after = text.slice(read, read + longestSecret);
  const shown = hide(text.slice(0, read) + after);
  return { text: shown.slice(0, Math.max(0, shown.length - after.length)), _cut: { bytes } };
}

/** In milliseconds; unknown parts are -1 (HAR 1.2). */
function describeTimings(totalMs: number, firstByteMs = totalMs) {
  return { blocked: -1, dns: -1, connect: -1, ssl: -1, send: 0, wait: firstByteMs, receive: totalMs - firstByteMs };
}
