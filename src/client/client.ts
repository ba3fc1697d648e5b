import type { z } from 'zod';
import type { Endpoint, InputOf, Params, WireNames } from '../api/endpoint.ts';
import { BoundsError, defined, isObject, parseJson } from '../api/json.ts';
import type { Misfit } from '../api/misfit.ts';
import { encodeRequest, type WireRequest } from '../api/request.ts';
import { countAttempts, readMessage, SotraError } from '../errors.ts';
import type { HttpAnswer, HttpRequest, Transport } from '../lib/io.ts';
import {
  NetworkFailure,
  pickHeader,
  readRequestId,
  sendError,
  statusError,
  type TimeLimits,
  versionHint,
} from './failures.ts';
import { computeRetryDelay, type Failure, isUnsent, type Turn } from './retry.ts';
import { hideSecrets, type KeyHiding } from './secrets.ts';

export interface Caller extends TimeLimits {
  baseUrl: string;
  /** Partner API key; `null` sends no Authorization header. */
  apiKey: string | null;
  /** `...1234 from SOTRA_API_KEY`. */
  keyName?: string | undefined;
  /** Errors hold the body of the answer. */
  tellsBody?: boolean;
  hideKey: KeyHiding;
  wire: WireNames;
  transport: Transport;
  /** `null`: the transport sends its own. */
  userAgent: string | null;
  /** Waits for the turn of a request (`--rate`). */
  takeTurn?: (() => Promise<Turn>) | undefined;
  retries: number;
  /** The longest `Retry-After` that is obeyed. */
  maxWaitMs: number;
  maxBodyBytes: number;
  /** The whole body of an answer. Errors: `bad-answer`, also for more than `maxBytes`. */
  readBody: (
    body: HttpAnswer['body'],
    encoding: string | undefined,
    maxBytes: number,
  ) => Promise<{ text: string; bytes: number; unreadable?: string }>;
  /** Where an answer differs from the contract; absent: answers are not checked. */
  findMisfit?: ((schema: z.ZodType, value: unknown) => Misfit | undefined) | undefined;
  /** A misfit is an error. */
  strict: boolean;
  signal: AbortSignal;
  now: () => number;
  random: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  warn: (text: string) => void;
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
      firstByteMs?: number;
    }
  | { kind: 'failure'; message: string; ms: number; cause: unknown }
  | { kind: 'wait'; ms: number; why: string };

export interface CallAnswer<T = unknown> {
  data: T;
  /** The JSON exactly as received. */
  text: string;
  /** A PUT or DELETE was done, and its answer has no body; `data` is null. */
  isEmpty?: true;
  status: number;
  requestId: string | undefined;
  attempts: number;
}

type AttemptAnswer = Omit<CallAnswer, 'attempts'>;

/**
 * The answer of one endpoint to a checked input; `link` replaces its address. Errors: by status (`key-refused`, `not-found`, ...),
 * `network`, `timeout`, `redirect`, `bad-answer` for a body that is not JSON, `contract` for a wrong shape when strict (else a warning
 * that names the path).
 */
export async function callEndpoint<P extends Params, Answer>(
  endpoint: Endpoint<string, P, Answer>,
  input: InputOf<P>,
  caller: Caller,
  link?: string,
): Promise<CallAnswer<Answer>> {
  const wire = encodeRequest(endpoint, input as Record<string, unknown>, caller.wire);
  const request = link === undefined ? wire : { ...wire, href: sameOrigin(link, caller.baseUrl) };
  // The schema is loaded while the service answers.
  const [answer, schema] = await Promise.all([sendRequest(request, caller), caller.findMisfit && endpoint.answer()]);
  const misfit = schema === undefined || answer.isEmpty ? undefined : caller.findMisfit?.(schema, answer.data);
  if (misfit !== undefined) {
    const where = misfit.path.join('.') || 'the answer';
    const message = `${endpoint.method} ${endpoint.path} answered with ${misfit.what} at ${where}: ${misfit.message}`;
    if (caller.strict)
      throw new SotraError('contract', message, { status: answer.status, requestId: answer.requestId });
    caller.warn(message);
  }
  return answer as CallAnswer<Answer>;
}

/** A link of the service as an absolute address. Errors: `redirect` where it leads to another origin. */
export function sameOrigin(link: string, baseUrl: string): string {
  const url = URL.canParse(link, baseUrl) ? new URL(link, baseUrl) : undefined;
  if (url?.origin === new URL(baseUrl).origin) return url.href;
  throw new SotraError('redirect', `the service links to another origin: ${hideSecrets(link)}`, {
    hint: 'The key is not sent there. Request the pages one by one with the cursors that --json shows.',
    outcome: 'unsent',
  });
}

/** The full request: address, headers with the key, body text. */
export function buildRequest(wire: WireRequest, caller: Pick<Caller, 'baseUrl' | 'apiKey' | 'userAgent'>): HttpRequest {
  const base = caller.baseUrl.replace(/(?<!\/)\/+$/, '');
  return {
    method: wire.method,
    url: new URL(wire.href ?? base + wire.path),
    headers: {
      accept: 'application/json',
      ...(caller.userAgent === null ? {} : { 'user-agent': caller.userAgent }),
      ...(caller.apiKey === null ? {} : { authorization: `Bearer ${caller.apiKey}` }),
      ...(wire.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(wire.body === undefined ? {} : { body: wire.bodyText ?? JSON.stringify(wire.body) }),
  };
}

interface FailedAttempt {
  reason: string;
  /** The wait before the next attempt; `null` when there was none. */
  waitedMs: number | null;
}

/** The JSON answer of any request, retried when allowed; errors as in `callEndpoint`. */
export async function sendRequest(wire: WireRequest, caller: Caller): Promise<CallAnswer> {
  const request = buildRequest(wire, caller);
  const time = { deadlineMs: caller.now() + caller.maxTimeMs };
  const failed: FailedAttempt[] = [];
  for (let attempt = 1; ; attempt += 1) {
    const result = await followRedirects(request, caller, attempt, time).catch((thrown: unknown) => {
      throw thrown instanceof SotraError
        ? withAttempts(thrown, [...failed, { reason: thrown.message, waitedMs: null }])
        : thrown;
    });
    if ('answer' in result) return { ...result.answer, attempts: attempt };
    const nowMs = caller.now();
    const limits = { retries: caller.retries, maxWaitMs: caller.maxWaitMs, leftMs: time.deadlineMs - nowMs };
    const delay = computeRetryDelay(request.method, result.failure, attempt, limits, { random: caller.random, nowMs });
    failed.push({ reason: result.error.message, waitedMs: delay ?? null });
    if (delay === undefined) throw withAttempts(result.error, failed);
    caller.observe({ kind: 'wait', ms: delay, why: result.error.message });
    await caller.sleep(delay, caller.signal);
  }
}

type Attempt = { answer: AttemptAnswer } | AttemptFailure;

interface AttemptFailure {
  failure: Failure;
  error: SotraError;
  to?: string | undefined;
}

const maxRedirects = 5;

/** One attempt, following the redirects of a GET within its origin. Errors: `redirect` for a loop. */
async function followRedirects(
  first: HttpRequest,
  caller: Caller,
  attempt: number,
  time: { deadlineMs: number },
): Promise<Attempt> {
  const seen = new Set<string>();
  for (let request = first; ; ) {
    // Waiting for a turn is no time that the service takes.
    const turn = await caller.takeTurn?.();
    time.deadlineMs += turn?.waitedMs ?? 0;
    caller.observe({ kind: 'request', request, attempt });
    const result = await attemptOnce(request, caller, time.deadlineMs, turn?.arrived);
    const to = 'failure' in result && request.method === 'GET' ? nextPlace(result, request.url) : undefined;
    if (to === undefined) return result;
    seen.add(request.url.href);
    if (seen.has(to.href) || seen.size > maxRedirects)
      throw new SotraError(
        'redirect',
        `${request.url.origin} redirects in a loop, last to ${hideSecrets(to.pathname, caller.apiKey ?? undefined)}`,
        { hint: 'Set the base URL to the address that answers.' },
      );
    request = { ...request, url: to };
  }
}

function nextPlace({ failure, to }: AttemptFailure, from: URL): URL | undefined {
  if (!('status' in failure) || ![301, 302, 303, 307, 308].includes(failure.status)) return undefined;
  if (to === undefined || !URL.canParse(to, from.href)) return undefined;
  const url = new URL(to, from);
  return url.origin === from.origin ? url : undefined;
}

async function attemptOnce(
  request: HttpRequest,
  caller: Caller,
  deadlineMs: number,
  arrived?: () => void,
): Promise<Attempt> {
  const started = caller.now();
  try {
    const { timeoutMs, signal } = caller;
    const received = await caller.transport.send(request, { timeoutMs, totalMs: deadlineMs - started, signal });
    arrived?.();
    const { status, firstByteMs } = received;
    const encoding = pickHeader(received.headers, 'content-encoding');
    const isOk = status >= 200 && status < 300;
    const reading = caller.readBody(received.body, encoding, caller.maxBodyBytes);
    const { bytes, unreadable, ...read } = await (isOk ? reading : reading.catch(withoutBody(caller.signal)));
    const { headers, text } = caller.hideKey({ status, headers: received.headers, ...read });
    const ms = caller.now() - started;
    caller.observe({ kind: 'answer', status, headers, bytes, ms, text, ...defined({ firstByteMs }) });
    const requestId = readRequestId(headers);
    if (isOk) return { answer: readAnswer(text, { method: request.method, status, requestId }, caller) };
    const failure = { status, retryAfter: pickHeader(headers, 'retry-after') };
    const error = statusError({ request, status, text, unreadable, headers, requestId, nowMs: caller.now(), caller });
    return { failure, error, to: pickHeader(received.headers, 'location') };
  } catch (thrown) {
    if (thrown instanceof SotraError) throw thrown;
    if (caller.signal.aborted)
      throw new SotraError('interrupted', 'interrupted', { cause: thrown, outcome: 'unknown' });
    const error = sendError(request, thrown, caller);
    caller.observe({ kind: 'failure', message: error.message, ms: caller.now() - started, cause: thrown });
    const kind = thrown instanceof NetworkFailure ? thrown.kind : 'broken';
    return { failure: { network: isUnsent(kind) ? kind : 'broken' }, error };
  } finally {
    arrived?.();
  }
}

/** The status of a failure counts, whatever its body is. */
function withoutBody(signal: AbortSignal): (thrown: unknown) => { text: string; bytes: number; unreadable: string } {
  return (thrown) => {
    if (signal.aborted) throw thrown;
    return { text: '', bytes: 0, unreadable: readMessage(thrown) };
  };
}

function readAnswer(
  text: string,
  { method, status, requestId }: { method: string; status: number; requestId: string | undefined },
  caller: Caller,
): AttemptAnswer {
  const isChange = ['PUT', 'DELETE'].includes(method);
  if ((isChange || status === 204) && text.trim() === '')
    return { data: null, text: 'null', ...(isChange && { isEmpty: true }), status, requestId };
  try {
    const data = parseJson(text);
    refuseManyRows(data);
    return { data, text, status, requestId };
  } catch (cause) {
    const isTooMuch = cause instanceof BoundsError;
    const start = JSON.stringify(hideSecrets(text.slice(0, 4000), caller.apiKey ?? undefined).slice(0, 120));
    const what = text.trim() === '' ? 'an empty body' : start;
    const found = isTooMuch ? cause.message : `a body that is not JSON: ${what}`;
    const usual = 'Check that the base URL is the service itself and not a proxy or a web page.';
    throw new SotraError('bad-answer', `the service answered ${status} with ${found}`, {
      hint: isTooMuch
        ? 'The interface has no such answer: --curl prints a command that shows it.'
        : (versionHint(caller.baseUrl) ?? usual),
      cause,
      status,
      requestId,
      outcome: 'unknown',
      ...(caller.tellsBody && { body: hideSecrets(text, caller.apiKey ?? undefined) }),
    });
  }
}

/** More than any list of the interface has; each takes a line to draw. */
const maxRows = 250_000;

function refuseManyRows(data: unknown): void {
  const lists = [data, ...(isObject(data) ? Object.values(data) : [])];
  if (lists.some((list) => Array.isArray(list) && list.length > maxRows))
    throw new BoundsError(`a list of more than ${maxRows.toLocaleString('en-US')} rows`);
}

function withAttempts(error: SotraError, failed: readonly FailedAttempt[]): SotraError {
  const counted = countAttempts(error, failed.length);
  return failed.length === 1 ? counted : Object.assign(counted, { details: { attempts: failed } });
}
