import { isAscii } from 'node:buffer';
import type { z } from 'zod';
import { type ErrorCode, SotraError } from '../errors.ts';
import type { Endpoint, InputOf, Params, WireNames } from './endpoint.ts';
import { type HttpAnswer, type HttpRequest, NetworkFailure, type Timing, type Transport } from './http.ts';
import { encodeRequest, type WireRequest } from './request.ts';
import { type Failure, retryDelay } from './retry.ts';

/** Everything a call needs from outside. */
export interface Caller {
  baseUrl: string;
  /** Partner API key; `null` sends no Authorization header. */
  apiKey: string | null;
  wire: WireNames;
  transport: Transport;
  userAgent: string;
  timeoutMs: number;
  retries: number;
  /** A quick look that is true only for what the schema surely accepts. */
  fits: (schema: z.ZodType, value: unknown) => boolean;
  /** An answer that does not fit the contract is an error instead of a warning. */
  strict: boolean;
  signal: AbortSignal;
  now: () => number;
  random: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  warn: (text: string) => void;
  /** Told of every request, answer and wait, for `--verbose`. */
  observe: (event: CallEvent) => void;
}

export type CallEvent =
  | { kind: 'request'; request: HttpRequest; attempt: number }
  | {
      kind: 'answer';
      status: number;
      headers: HttpAnswer['headers'];
      bytes: number;
      ms: number;
      text: string;
      timing?: Timing;
    }
  | { kind: 'failure'; message: string; ms: number }
  | { kind: 'wait'; ms: number; why: string };

export interface Answer<T = unknown> {
  data: T;
  /** The JSON text exactly as received. */
  text: string;
  /** The bytes of that text as they came; whoever prints them may write into them. */
  body: Uint8Array;
  status: number;
  requestId: string | undefined;
  /** How often the request was sent until this answer came. */
  attempts: number;
}

type Received = Omit<Answer, 'attempts'>;
type Read = Omit<Received, 'body'>;

const largestAnswerBytes = 64 * 1024 * 1024;

/**
 * The answer of one endpoint for a checked input. Shape: `data` is the parsed JSON, unchanged; `text` the bytes it came in.
 * Errors: SotraError by status (`key-refused`, `not-found`, ...), `network`, `timeout`, `redirect`, `bad-answer` for a body that is
 * not JSON, `contract` for a wrong shape when strict (else a warning that names the path). `link`: ask there instead, on the same
 * origin only.
 */
export async function callEndpoint<P extends Params, R extends z.ZodType>(
  endpoint: Endpoint<string, P, R>,
  input: InputOf<P>,
  caller: Caller,
  link?: string,
): Promise<Answer<z.output<R>>> {
  const wire = encodeRequest(endpoint, input as Record<string, unknown>, caller.wire);
  const answer = await sendRequest(
    link === undefined ? wire : { ...wire, href: sameOrigin(link, caller.baseUrl) },
    caller,
  );
  if (caller.fits(endpoint.answer, answer.data)) return answer as Answer<z.output<R>>;
  const checked = endpoint.answer.safeParse(answer.data);
  if (!checked.success) {
    const issue = checked.error.issues[0];
    const where = issue?.path.join('.') || 'the answer';
    const message = `${endpoint.method} ${endpoint.path} answered with an unexpected shape at ${where}: ${issue?.message}`;
    if (caller.strict)
      throw new SotraError('contract', message, { status: answer.status, requestId: answer.requestId });
    caller.warn(message);
  }
  return answer as Answer<z.output<R>>;
}

/** A link of the service as an absolute address. Errors: `redirect` where it leads to another origin. */
export function sameOrigin(link: string, baseUrl: string): string {
  const url = URL.canParse(link, baseUrl) ? new URL(link, baseUrl) : undefined;
  if (url?.origin === new URL(baseUrl).origin) return url.href;
  throw new SotraError('redirect', `the service links to another origin: ${link}`, {
    hint: 'The key is not sent there. Walk by hand with the cursors that --json shows.',
  });
}

/** The full request for a wire request: address, headers with the key, body text. Never throws. */
export function buildRequest(wire: WireRequest, caller: Pick<Caller, 'baseUrl' | 'apiKey' | 'userAgent'>): HttpRequest {
  const base = caller.baseUrl.replace(/\/+$/, '');
  return {
    method: wire.method,
    url: new URL(wire.href ?? base + wire.path),
    headers: {
      accept: 'application/json',
      'user-agent': caller.userAgent,
      ...(caller.apiKey === null ? {} : { authorization: `Bearer ${caller.apiKey}` }),
      ...(wire.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(wire.body === undefined ? {} : { body: wire.bodyText ?? JSON.stringify(wire.body) }),
  };
}

/** The JSON answer of any request, retried where it may be; errors as in `callEndpoint`. */
export async function sendRequest(wire: WireRequest, caller: Caller): Promise<Answer> {
  const request = buildRequest(wire, caller);
  for (let attempt = 1; ; attempt += 1) {
    caller.observe({ kind: 'request', request, attempt });
    const result = await attemptOnce(request, caller).catch((thrown: unknown) => {
      throw thrown instanceof SotraError ? withAttempts(thrown, attempt) : thrown;
    });
    if ('answer' in result) return { ...result.answer, attempts: attempt };
    const context = { random: caller.random, nowMs: caller.now() };
    const delay = retryDelay(request.method, result.failure, attempt, caller.retries, context);
    if (delay === undefined) throw withAttempts(result.error, attempt);
    caller.observe({ kind: 'wait', ms: delay, why: result.error.message });
    await caller.sleep(delay, caller.signal);
  }
}

type Attempt = { answer: Received } | { failure: Failure; error: SotraError };

async function attemptOnce(request: HttpRequest, caller: Caller): Promise<Attempt> {
  const started = caller.now();
  const stop = AbortSignal.any([caller.signal, AbortSignal.timeout(caller.timeoutMs)]);
  try {
    const received = await caller.transport.send(request, { timeoutMs: caller.timeoutMs, signal: stop });
    const { text, body } = await readBody(received.body);
    const { status, headers, timing } = received;
    const ms = caller.now() - started;
    caller.observe({ kind: 'answer', status, headers, bytes: body.length, ms, text, ...(timing && { timing }) });
    const requestId = headerOf(headers, 'x-request-id') ?? headerOf(headers, 'request-id');
    if (status >= 200 && status < 300) return { answer: { ...readAnswer(text, status, requestId), body } };
    const failure = { status, retryAfter: headerOf(headers, 'retry-after') };
    return { failure, error: statusError(request, status, text, headers, requestId) };
  } catch (thrown) {
    if (thrown instanceof SotraError) throw thrown;
    if (caller.signal.aborted)
      throw new SotraError('interrupted', 'interrupted', { cause: thrown, outcome: 'unknown' });
    const refused = thrown instanceof NetworkFailure && thrown.kind === 'refused';
    const error = sendError(request, thrown, stop.aborted, caller.timeoutMs, refused ? 'unsent' : 'unknown');
    caller.observe({ kind: 'failure', message: error.message, ms: caller.now() - started });
    return { failure: { network: refused ? 'refused' : 'broken' }, error };
  }
}

function sendError(
  request: HttpRequest,
  thrown: unknown,
  timedOut: boolean,
  timeoutMs: number,
  outcome: 'unsent' | 'unknown',
): SotraError {
  const { origin } = request.url;
  if (timedOut || (thrown instanceof NetworkFailure && thrown.kind === 'timeout'))
    return new SotraError('timeout', `${origin} did not answer within ${timeoutMs / 1000} s`, {
      hint: 'Give it longer with --timeout 60s.',
      cause: thrown,
      outcome,
    });
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return new SotraError('network', `cannot reach ${origin}: ${why}`, {
    hint: 'Check the address (--base-url, SOTRA_BASE_URL or the context) and the network.',
    cause: thrown,
    outcome,
  });
}

async function readBody(incoming: AsyncIterable<Uint8Array>): Promise<{ text: string; body: Uint8Array }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += chunk.length;
    if (bytes > largestAnswerBytes)
      throw new SotraError('bad-answer', `the answer is larger than ${largestAnswerBytes / 1024 / 1024} MB`);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  // Most answers are ASCII, which is copied at a tenth of the time that UTF-8 takes; that in turn takes half the time of a TextDecoder,
  // which also would have left the byte order mark out.
  const text = isAscii(body) ? body.toString('latin1') : body.toString();
  return { text: text.charCodeAt(0) === 0xfeff ? text.slice(1) : text, body };
}

function readAnswer(text: string, status: number, requestId: string | undefined): Read {
  if (text.trim() === '' && status === 204) return { data: null, text: 'null', status, requestId };
  try {
    return { data: JSON.parse(text), text, status, requestId };
  } catch (cause) {
    const start = text.trim() === '' ? 'an empty body' : JSON.stringify(text.slice(0, 120));
    throw new SotraError('bad-answer', `the service answered ${status} with a body that is not JSON: ${start}`, {
      hint: 'Check that the base URL is the service itself and not a proxy or a web page.',
      cause,
      status,
      requestId,
      outcome: 'unknown',
    });
  }
}

/** The value of a header, the first where it is repeated; `undefined` when absent. Never throws. */
export function headerOf(headers: HttpAnswer['headers'], name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

const statusCodes: Record<number, ErrorCode> = {
  400: 'bad-request',
  401: 'key-refused',
  403: 'forbidden',
  404: 'not-found',
  409: 'conflict',
  413: 'too-large',
  429: 'rate-limited',
};

function statusError(
  request: HttpRequest,
  status: number,
  text: string,
  headers: HttpAnswer['headers'],
  requestId: string | undefined,
): SotraError {
  if (status < 400)
    return new SotraError('redirect', `${request.url.origin} redirects to ${headerOf(headers, 'location')}`, {
      hint: 'The key is never sent along a redirect: set the base URL to the address that answers.',
      status,
      requestId,
    });
  const code = statusCodes[status] ?? (status >= 500 ? 'server-error' : 'request-refused');
  const message = `${errorText(text)} (HTTP ${status} from ${request.method} ${request.url.pathname})`;
  const outcome = status === 429 ? 'unsent' : status >= 500 ? 'unknown' : undefined;
  return new SotraError(code, message, { hint: hintFor(code, request), status, requestId, outcome });
}

function hintFor(code: ErrorCode, request: HttpRequest): string | undefined {
  if (code === 'key-refused' || code === 'forbidden')
    return request.headers['authorization'] === undefined
      ? 'Give a key: SOTRA_API_KEY=... or the key of the context.'
      : 'The key was sent and refused: check SOTRA_API_KEY or the key of the context.';
  if (code === 'rate-limited') return 'Wait, or allow more attempts with --retries.';
  return undefined;
}

function errorText(text: string): string {
  try {
    const body = JSON.parse(text);
    if (typeof body?.error === 'string') return body.error;
  } catch {
    // Not the documented form: the start of the body says more than nothing.
  }
  return text.trim() === '' ? 'no explanation given' : text.trim().slice(0, 200);
}

function withAttempts(error: SotraError, attempts: number): SotraError {
  const { code, hint, status, requestId, details, cause, outcome } = error;
  const message = attempts === 1 ? error.message : `${error.message} (after ${attempts} attempts)`;
  return new SotraError(code, message, { hint, status, requestId, details, cause, outcome, attempts });
}
