import type { z } from 'zod';
import type { Endpoint, InputOf, Params, WireNames } from '../api/endpoint.ts';
import { BoundsError, isObject, parseJson } from '../api/json.ts';
import { findMismatch } from '../api/mismatch.ts';
import { encodeRequest, type WireRequest } from '../api/request.ts';
import { SotraError } from '../errors.ts';
import { findRedirect, maxRedirects, pickHeader, readKind, readRequestId, sendError, statusError } from './failures.ts';
import type { FailedRequest } from './hints.ts';
import { computeRetryDelay, type Failure, isUnsent } from './retry.ts';
import type { HideInAnswer } from './secrets.ts';
import type { HttpRequest, HttpResponse, TimeLimits, Transport } from './transport.ts';

export interface ClientConfig extends TimeLimits {
  /** Without a slash at its end. */
  baseUrl: string;
  /** Partner API key; `null` sends no Authorization header. */
  apiKey: string | null;
  /** Puts the error of a failed request into other words, with a hint. */
  explain?: ((error: SotraError, failed: FailedRequest) => Promise<SotraError>) | undefined;
  /** Errors hold the body of the answer. */
  includeBodyInError?: boolean;
  /** Hides secrets in the text of an error. */
  hide: (text: string) => string;
  /** Hides the key in an answer that repeats it. */
  hideKey: HideInAnswer;
  wire: WireNames;
  transport: Transport;
  /** `null`: the transport sends its own. */
  userAgent: string | null;
  /** Waits for the turn of a request (`--rate`); returns for how many milliseconds. */
  takeTurn?: (() => Promise<number>) | undefined;
  retries: number;
  /** The longest `Retry-After` that is obeyed. */
  maxWaitMs: number;
  maxBodyBytes: number;
  signal: AbortSignal;
  now: () => number;
  random: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  observe: (event: CallEvent) => void;
  /** Called with the first difference between an answer and its schema. */
  warn?: (text: string) => void;
}

export type CallEvent =
  | { kind: 'request'; request: HttpRequest; attempt: number }
  | ({ kind: 'answer'; ms: number } & HttpResponse)
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

/** How a request differs from the one of its input. */
export interface RequestChange {
  /** A link that the service gave, instead of the address of the endpoint. */
  link?: string | undefined;
  /** Changes the JSON of the body. */
  editBody?: ((json: string) => string) | undefined;
}

/**
 * The answer of one endpoint. Errors: by status (`key-refused`, `not-found`, ...), `network`, `timeout`,
 * `redirect`, `bad-answer` for a body that is not JSON.
 */
export function requestEndpoint<P extends Params, Answer>(
  endpoint: Pick<Endpoint<string, P, Answer>, 'id' | 'method' | 'path' | 'params'>,
  input: InputOf<P>,
  config: ClientConfig,
  { link, editBody }: RequestChange = {},
): Promise<CallAnswer<Answer>> {
  const wire = encodeRequest(endpoint, input as Record<string, unknown>, config.wire);
  const request = {
    ...wire,
    ...(link !== undefined && { href: sameOrigin(link, config) }),
    ...(editBody !== undefined && { bodyText: editBody(JSON.stringify(wire.body)) }),
  };
  return sendRequest(request, config) as Promise<CallAnswer<Answer>>;
}

/** A link of the service as an absolute address. Errors: `redirect` if it leads to another origin. */
export function sameOrigin(link: string, { baseUrl, hide }: Pick<ClientConfig, 'baseUrl' | 'hide'>): string {
  const url = URL.canParse(link, baseUrl) ? new URL(link, baseUrl) : undefined;
  if (url?.origin === new URL(baseUrl).origin) return url.href;
  throw new SotraError('redirect', `the service links to another origin: ${hide(link)}`, {
    hint: 'The key is not sent there. Request the pages one by one with the cursors of the answers.',
    outcome: 'unsent',
  });
}

/** The full request: address, headers with the key, body text. */
export function buildRequest(
  wire: WireRequest,
  config: Pick<ClientConfig, 'baseUrl' | 'apiKey' | 'userAgent'>,
): HttpRequest {
  return {
    method: wire.method,
    url: new URL(wire.href ?? config.baseUrl + wire.path),
    headers: {
      accept: 'application/json',
      ...(config.userAgent === null ? {} : { 'user-agent': config.userAgent }),
      ...(config.apiKey === null ? {} : { authorization: `Bearer ${config.apiKey}` }),
      ...(wire.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(wire.body === undefined ? {} : { body: wire.bodyText ?? JSON.stringify(wire.body) }),
  };
}

/** The JSON answer of any request, sent again if that is safe; redirects are followed for a GET on its own origin. Errors as in `requestEndpoint`. */
export async function sendRequest(wire: WireRequest, config: ClientConfig): Promise<CallAnswer> {
  let request = buildRequest(wire, config);
  let redirects = 0;
  let deadlineMs = config.now() + config.maxTimeMs;
  // For `--json`: why each attempt failed, and the wait before the next one.
  const failed: { reason: string; waitedMs: number | null }[] = [];
  for (let attempt = 1; ; ) {
    // Waiting for a turn is not time that the service takes.
    deadlineMs += (await config.takeTurn?.()) ?? 0;
    config.observe({ kind: 'request', request, attempt });
    const result = await attemptOnce(request, config, { deadlineMs, follows: redirects < maxRedirects });
    if ('answer' in result) return { ...result.answer, attempts: attempt };
    if ('redirect' in result) {
      redirects += 1;
      request = { ...request, url: result.redirect };
      continue;
    }
    const { error, failure } = result;
    const nowMs = config.now();
    const limits = { retries: config.retries, maxWaitMs: config.maxWaitMs, leftMs: deadlineMs - nowMs };
    const delay =
      failure && computeRetryDelay(request.method, failure, attempt, limits, { random: config.random, nowMs });
    failed.push({ reason: error.message, waitedMs: delay ?? null });
    if (delay === undefined)
      throw Object.assign(error, { attempts: attempt }, attempt > 1 && { details: { attempts: failed } });
    config.observe({ kind: 'wait', ms: delay, why: error.message });
    await config.sleep(delay, config.signal);
    attempt += 1;
    redirects = 0;
    request = buildRequest(wire, config);
  }
}

interface AttemptFailure {
  error: SotraError;
  /** Why the request may be sent again; absent if it never may. */
  failure?: Failure;
}

/** One request. From 400 on the status decides, whatever the body is. */
async function attemptOnce(
  request: HttpRequest,
  config: ClientConfig,
  { deadlineMs, follows }: { deadlineMs: number; follows: boolean },
): Promise<{ answer: AttemptAnswer } | { redirect: URL } | AttemptFailure> {
  const started = config.now();
  const { timeoutMs, maxBodyBytes: maxBytes, signal } = config;
  const explain = async (error: SotraError, answer?: HttpResponse) =>
    (await config.explain?.(error, { request, answer })) ?? error;
  let response: HttpResponse;
  try {
    response = await config.transport.send(request, { timeoutMs, totalMs: deadlineMs - started, maxBytes, signal });
    const isOk = response.status >= 200 && response.status < 300;
    if (response.bodyError !== undefined && (isOk || signal.aborted)) throw response.bodyError;
  } catch (thrown) {
    if (thrown instanceof SotraError) return { error: thrown };
    if (signal.aborted)
      return { error: new SotraError('interrupted', 'interrupted', { cause: thrown, outcome: 'unknown' }) };
    const error = await explain(sendError(request, thrown, config));
    config.observe({ kind: 'failure', message: error.message, ms: config.now() - started, cause: thrown });
    const kind = readKind(thrown);
    return { error, failure: { network: isUnsent(kind) ? kind : 'broken' } };
  }
  const answer = config.hideKey(response);
  config.observe({ kind: 'answer', ms: config.now() - started, ...answer });
  const { status, headers } = answer;
  if (status >= 200 && status < 300) {
    const read = readAnswer(request.method, answer, config);
    return read instanceof SotraError ? { error: await explain(read, answer) } : { answer: read };
  }
  const redirect = findRedirect(request, answer);
  if (follows && redirect !== undefined && redirect.href !== request.url.href) return { redirect };
  const error = await explain(statusError(request, answer, config), answer);
  return { error, failure: { status, retryAfter: pickHeader(headers, 'retry-after') } };
}

function readAnswer(
  method: string,
  { status, headers, text }: HttpResponse,
  config: ClientConfig,
): AttemptAnswer | SotraError {
  const requestId = readRequestId(headers);
  const isChange = ['PUT', 'DELETE'].includes(method);
  if ((isChange || status === 204) && text.trim() === '')
    return { data: null, text: 'null', ...(isChange && { isEmpty: true }), status, requestId };
  try {
    const data = parseJson(text);
    refuseManyRows(data);
    return { data, text, status, requestId };
  } catch (cause) {
    const start = JSON.stringify(config.hide(text.slice(0, 4000)).slice(0, 120));
    const what = text.trim() === '' ? 'an empty body' : start;
    const found = cause instanceof BoundsError ? cause.message : `a body that is not JSON: ${what}`;
    return new SotraError('bad-answer', `the service answered ${status} with ${found}`, {
      cause,
      status,
      requestId,
      outcome: 'unknown',
      ...(config.includeBodyInError && { body: config.hide(text) }),
    });
  }
}

/** More than any list of the interface has; each takes a line to draw. */
const maxRows = 250_000;

function refuseManyRows(data: unknown): void {
  const lists = [data, ...(isObject(data) ? Object.values(data) : [])];
  if (lists.some((list) => Array.isArray(list) && list.length > maxRows))
    throw new BoundsError('a list of more than 250,000 rows');
}

/**
 * The answer of one endpoint, compared with its schema. Errors: those of `requestEndpoint`; `contract` for a wrong shape if strict (else a warning
 * that names the path).
 */
export async function callAndCheck<P extends Params, Answer>(
  endpoint: Endpoint<string, P, Answer>,
  input: InputOf<P>,
  config: ClientConfig & { strict: boolean },
  change?: RequestChange,
): Promise<CallAnswer<Answer>> {
  // The schema is loaded while the service answers.
  const [answer, schema] = await Promise.all([
    requestEndpoint<P, Answer>(endpoint, input, config, change),
    endpoint.answer(),
  ]);
  const mismatch = answer.isEmpty ? undefined : findMismatch(schema as z.ZodType, answer.data, config.strict);
  if (mismatch === undefined) return answer;
  const message = `${endpoint.method} ${endpoint.path} answered with ${mismatch}`;
  const { status, requestId } = answer;
  if (config.strict) throw new SotraError('contract', message, { status, requestId });
  config.warn?.(message);
  return answer;
}
