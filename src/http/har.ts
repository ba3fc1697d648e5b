import { STATUS_CODES } from 'node:http';
import type { HttpAnswer, HttpRequest, Timing } from '../world.ts';
import type { CallEvent } from './client.ts';
import { secretHider } from './secrets.ts';

/** One request with what became of it, as the events of a call tell it. */
export interface Exchange {
  startedMs: number;
  request: HttpRequest;
  attempt: number;
  /** Why it was sent again, for the second attempt on. */
  why: string | undefined;
  outcome: Extract<CallEvent, { kind: 'answer' | 'failure' }>;
}

export interface HarFrame {
  /** Text before the first entry. */
  head: string;
  /** Text behind the last entry. */
  tail: string;
}

/** What stands around the entries of an HTTP archive (HAR 1.2), so that it can be written as they come. */
export function harFrame(version: string): HarFrame {
  const creator = JSON.stringify({ name: 'sotra', version });
  return { head: `{"log":{"version":"1.2","creator":${creator},"entries":[`, tail: '\n]}}\n' };
}

/**
 * The HAR 1.2 entry of an exchange. The key, cookies and the JSON fields `secret` and `signature` are `***`, in both directions; sizes
 * are those of the real bodies. An attempt without an answer has status 0 and says why in `comment`. Milliseconds.
 */
export function harEntry({ startedMs, request, attempt, why, outcome }: Exchange): Record<string, unknown> {
  const key = request.headers['authorization']?.replace(/^Bearer /, '');
  const hide = secretHider(key);
  const failed = outcome.kind === 'failure' ? outcome.message : undefined;
  const again = attempt === 1 ? undefined : `attempt ${attempt}${why === undefined ? '' : `, after ${why}`}`;
  const comment = [again, failed].filter((part) => part !== undefined).join('; ');
  return {
    startedDateTime: new Date(startedMs).toISOString(),
    time: outcome.ms,
    request: harRequest(request, hide),
    response: outcome.kind === 'answer' ? harResponse(outcome, hide) : noResponse,
    cache: {},
    timings: timingsOf(outcome.ms, outcome.kind === 'answer' ? outcome.timing : undefined),
    ...(comment === '' ? {} : { comment: hide(comment) }),
  };
}

/** The status line and headers of an answer, as text that ends with an empty line. */
export function answerHead({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>): string {
  const lines = headerList(headers).map(({ name, value }) => `${name}: ${value}`);
  return `${[`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(), ...lines].join('\n')}\n\n`;
}

const hidden = '***';
const secretHeaders = ['authorization', 'proxy-authorization', 'cookie', 'set-cookie'];

function harRequest({ method, url, headers, body }: HttpRequest, hide: (text: string) => string) {
  return {
    method,
    url: hide(url.href),
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: hideHeaders(headerList(headers), hide),
    queryString: [...url.searchParams].map(([name, value]) => ({ name, value: hide(value) })),
    ...(body === undefined ? {} : { postData: { mimeType: headers['content-type'] ?? '', text: hide(body) } }),
    headersSize: -1,
    bodySize: body === undefined ? 0 : Buffer.byteLength(body),
  };
}

function harResponse(
  { status, headers, bytes, text }: Extract<CallEvent, { kind: 'answer' }>,
  hide: (text: string) => string,
) {
  const list = headerList(headers);
  const headerNamed = (wanted: string) => list.find(({ name }) => name === wanted)?.value ?? '';
  return {
    status,
    statusText: STATUS_CODES[status] ?? '',
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: hideHeaders(list, hide),
    content: { size: bytes, mimeType: headerNamed('content-type'), text: hide(text) },
    redirectURL: hide(headerNamed('location')),
    headersSize: -1,
    bodySize: bytes,
  };
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

interface Header {
  name: string;
  value: string;
}

function headerList(headers: HttpAnswer['headers']): Header[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (one === undefined ? [] : [{ name, value: one }])),
  );
}

function hideHeaders(list: Header[], hide: (text: string) => string): Header[] {
  return list.map(({ name, value }) => {
    const bare = name === 'authorization' ? `Bearer ${hidden}` : hidden;
    return { name, value: secretHeaders.includes(name) ? bare : hide(value) };
  });
}

/** Parts that are not known are -1, as the format wants it; `connect` holds look-up and TLS where `dns` is taken off it. */
function timingsOf(totalMs: number, timing: Timing | undefined) {
  const { dnsMs, connectMs, firstByteMs = totalMs } = timing ?? {};
  return {
    blocked: -1,
    dns: dnsMs ?? -1,
    connect: connectMs === undefined ? -1 : connectMs - (dnsMs ?? 0),
    ssl: -1,
    send: 0,
    wait: firstByteMs - (connectMs ?? 0),
    receive: totalMs - firstByteMs,
  };
}
