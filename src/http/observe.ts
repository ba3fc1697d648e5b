import { closeSync, ftruncateSync, writeSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { messageOf, SotraError } from '../errors.ts';
import { openReplaced } from '../files/durable-file.ts';
import { safeText } from '../model/safe-text.ts';
import type { HttpAnswer, HttpRequest, Timing } from '../world.ts';
import type { CallEvent } from './client.ts';
import { readRequestId } from './failures.ts';
import { maskHeader, maskHeaders } from './preview.ts';
import { hideSecrets, requestHider, secretHider } from './secrets.ts';

interface WatchOptions {
  /** `--verbose`. */
  say: ((line: string) => void) | undefined;
  /** `--include`: status and headers of each answer until they are printed; those of a retried answer are removed. */
  heads: Set<{ text: string }> | undefined;
  /** `--trace-file`, `--record`. */
  traces: readonly Trace[];
  now: () => number;
}

/** Reports the requests and answers of one call. */
export function watchCall({ say, heads, traces, now }: WatchOptions): (event: CallEvent) => void {
  let sent: Omit<Exchange, 'outcome'> | undefined;
  let why: string | undefined;
  let hide = secretHider(undefined);
  let head = { text: '' };
  return (event) => {
    if (event.kind === 'request') hide = requestHider(event.request);
    if (say !== undefined) for (const line of describeEvent(event)) say(hide(line));
    if (event.kind === 'request') sent = { startedMs: now(), request: event.request, attempt: event.attempt, why };
    else if (event.kind === 'wait') {
      why = event.why;
      heads?.delete(head);
    } else {
      if (sent !== undefined) for (const trace of traces) trace.add({ ...sent, outcome: event });
      if (event.kind !== 'answer') return;
      head = { text: safeHead(event) };
      heads?.add(head);
    }
  };
}

function safeHead(event: Extract<CallEvent, { kind: 'answer' }>): string {
  return hideSecrets(answerHead(event)).split('\n').map(safeText).join('\n');
}

function describeEvent(event: CallEvent): string[] {
  switch (event.kind) {
    case 'request':
      return describeSent(event.request, event.attempt);
    case 'answer': {
      const { status, ms, bytes, headers, text } = event;
      const shown = headerList(headers).map(({ name, value }) => `< ${name}: ${maskHeader(name, value)}`);
      const body = status >= 400 ? [`< ${shorten(text)}`] : [];
      return [`< ${status} in ${Math.round(ms)} ms, ${bytes} bytes${describeParts(event)}`, ...shown, ...body];
    }
    case 'failure':
      return [`! ${event.message} after ${Math.round(event.ms)} ms`];
    case 'wait':
      return [`! waiting ${event.ms} ms: ${event.why}`];
  }
}

function shorten(text: string): string {
  return hideSecrets(text.slice(0, 100_000)).slice(0, 2000);
}

function describeSent({ method, url, headers, body }: HttpRequest, attempt: number): string[] {
  const shown = Object.entries(maskHeaders(headers)).map(([name, value]) => `> ${name}: ${value}`);
  const again = attempt === 1 ? '' : ` (attempt ${attempt})`;
  return [`> ${method} ${url.href}${again}`, ...shown, ...(body === undefined ? [] : [`> ${shorten(body)}`])];
}

function describeParts({ timing, headers }: Extract<CallEvent, { kind: 'answer' }>): string {
  const parts = [
    timing?.dnsMs === undefined ? [] : [`dns ${Math.round(timing.dnsMs)}`],
    timing?.connectMs === undefined ? [] : [`connect ${Math.round(timing.connectMs)}`],
    timing === undefined ? [] : [`first byte ${Math.round(timing.firstByteMs)}`],
  ].flat();
  const requestId = readRequestId(headers);
  return `${parts.length === 0 ? '' : ` (${parts.join(', ')} ms)`}${requestId === undefined ? '' : `, request id ${requestId}`}`;
}

export interface Exchange {
  startedMs: number;
  request: HttpRequest;
  attempt: number;
  /** Why it was sent again. */
  why: string | undefined;
  outcome: Extract<CallEvent, { kind: 'answer' | 'failure' }>;
}

/** What stands around the entries of an HTTP archive (HAR 1.2), so that it can be written as they come. */
export function harFrame(version: string) {
  const creator = JSON.stringify({ name: 'sotra', version });
  return { head: `{"log":{"version":"1.2","creator":${creator},"entries":[`, tail: '\n]}}\n' };
}

/**
 * The HAR 1.2 entry of an exchange, in milliseconds. Keys, cookies and the JSON fields `secret` and `signature` are `***`; sizes are
 * those of the real bodies. Without an answer the status is 0 and `comment` says why.
 */
export function harEntry({ startedMs, request, attempt, why, outcome }: Exchange): Record<string, unknown> {
  const hide = requestHider(request);
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

/** Status line and headers; ends with an empty line. */
export function answerHead({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>): string {
  const lines = headerList(headers).map(({ name, value }) => `${name}: ${value}`);
  return `${[`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(), ...lines].join('\n')}\n\n`;
}

function harRequest({ method, url, headers, body }: HttpRequest, hide: (text: string) => string) {
  return {
    method,
    url: hide(url.href),
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: hideHeaders(headerList(headers), hide),
    queryString: [...new URL(hide(url.href)).searchParams].map(([name, value]) => ({ name, value })),
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
  return list.map(({ name, value }) => ({ name: hide(name), value: hide(maskHeader(name, value)) }));
}

/** Unknown parts are -1 (HAR 1.2). */
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

/** Keeps exchanges; what it wrote is complete after each. */
export interface Trace {
  add: (exchange: Exchange) => void;
  close: () => void;
}

function writeWhole(file: number, text: string, at: number): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, at + done);
}

/** Starts an HTTP archive in a file of mode 0600. Errors: `local-file`. */
export function openTrace(path: string, version: string): Trace {
  const { head, tail } = harFrame(version);
  const attempt = <T>(act: () => T): T => {
    try {
      return act();
    } catch (cause) {
      throw new SotraError('local-file', `--trace-file ${path}: ${messageOf(cause)}`, {
        hint: 'Choose another file.',
        cause,
      });
    }
  };
  const file = attempt(() => openReplaced(path));
  let end = 0;
  // A disk that is full cuts a write short: the file goes back to what it was, which is whole.
  const put = (text: string) =>
    attempt(() => {
      try {
        writeWhole(file, text + tail, end);
        end += Buffer.byteLength(text);
      } catch (error) {
        ftruncateSync(file, end);
        writeWhole(file, tail, end);
        throw error;
      }
    });
  put(head);
  let entries = 0;
  return {
    add: (exchange) => {
      put(`${entries === 0 ? '' : ','}\n${JSON.stringify(harEntry(exchange))}`);
      entries += 1;
    },
    close: () => closeSync(file),
  };
}
