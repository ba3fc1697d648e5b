import { isObject, tryParseJson } from '../api/json.ts';
import { type ErrorCode, readMessage, SotraError } from '../errors.ts';
import { isUnsent, readRetryAfter } from './retry.ts';
import type { HttpRequest, HttpResponse, TimeLimits } from './transport.ts';

export const failureKinds = ['refused', 'proxy', 'untrusted', 'plain', 'broken', 'cut', 'timeout', 'late'] as const;
type FailureKind = (typeof failureKinds)[number];

/**
 * A failed exchange. `refused`, `proxy`, `untrusted` (certificate) and `plain` (no TLS) never reached the service, the others may have.
 * `broken`: the connection ended before the answer began; `cut`: in the middle of its body; `timeout`: nothing came for too long; `late`: the
 * total time was used up.
 */
export class NetworkFailure extends Error {
  readonly kind: FailureKind;
  /** The proxy that the request went through, unless NO_PROXY names its host. */
  proxy?: string;
  constructor(kind: FailureKind, message: string, cause: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

const unsentCodes = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

/** The message of OpenSSL is for developers; its reason alone is a sentence. */
function isTls(error: unknown): boolean {
  const { code, library, message } = error as { code?: string; library?: string; message?: string };
  return (
    library !== undefined || code === 'EPROTO' || /^ERR_SSL_/.test(code ?? '') || /SSL routines/.test(message ?? '')
  );
}

/** The error of a network library as a failure, by its code. */
export function readFailure(error: unknown): NetworkFailure {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const { code } = (first ?? {}) as { code?: string };
  const message = first instanceof Error ? first.message : undefined;
  const tls = isTls(first) ? `the TLS handshake failed: ${(first as { reason?: string }).reason ?? code}` : undefined;
  const text = tls ?? (message === undefined || message === '' ? (code ?? String(error)) : message);
  const isPlain = tls !== undefined && /wrong version number|packet length too long/.test(text);
  if (unsentCodes.includes(code ?? '')) return new NetworkFailure('refused', text, error);
  if (/CERT|UNABLE_TO_(VERIFY|GET_ISSUER)|SELF_SIGNED/.test(code ?? ''))
    return new NetworkFailure('untrusted', text, error);
  return new NetworkFailure(isPlain ? 'plain' : 'broken', text, error);
}

/** An answer whose body ended too soon. */
export function cutFailure(error: unknown): NetworkFailure {
  return new NetworkFailure('cut', `the answer is cut off: ${readFailure(error).message}`, error);
}

/** The same for a request through a proxy, which may itself have failed. */
export function readProxyFailure(error: unknown, proxy: URL): NetworkFailure {
  const { message, address, port, hostname } = error as NodeJS.ErrnoException & Record<string, unknown>;
  const [, status] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  const name = `${proxy.protocol}//${proxy.host}`;
  if (status !== undefined) return new NetworkFailure('proxy', `the proxy ${name} answered ${status}`, error);
  const failure = readFailure(error);
  const host = proxy.hostname.replace(/^\[|\]$/g, '');
  const isProxy = hostname === host || (String(port) === proxy.port && (address === host || !/^[\d.:]+$/.test(host)));
  if (failure.kind !== 'refused' || !isProxy) return failure;
  return new NetworkFailure('proxy', `the proxy ${name} cannot be reached: ${readMessage(error)}`, error);
}

/** The kind of a failed exchange. */
export function readKind(thrown: unknown): FailureKind {
  return thrown instanceof NetworkFailure ? thrown.kind : 'broken';
}

/** The code of the first cause of a failure, of the system, of TLS or of undici; empty without one. */
export function readCode(failure: unknown): string {
  const { cause } = (failure ?? {}) as { cause?: unknown };
  const first = cause instanceof AggregateError ? cause.errors[0] : cause;
  // The errors of undici's parser have a name alone.
  const { name, code = name } = (first ?? {}) as { name?: string; code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** The error of a request that got no answer. */
export function sendError(
  { url: { origin } }: Pick<HttpRequest, 'url'>,
  thrown: unknown,
  { timeoutMs, maxTimeMs }: TimeLimits,
): SotraError {
  const kind = readKind(thrown);
  const details = { cause: thrown, outcome: isUnsent(kind) ? 'unsent' : 'unknown' } as const;
  if (kind !== 'late' && kind !== 'timeout')
    return new SotraError('network', `cannot reach ${origin}: ${(thrown as Error | null)?.message ?? thrown}`, details);
  const limitMs = kind === 'late' ? maxTimeMs : timeoutMs;
  return new SotraError('timeout', `${origin} did not answer within ${limitMs / 1000} s`, details);
}

/** Of the service, else of the proxy or gateway in front of it. */
const requestIdHeaders = ['x-request-id', 'request-id', 'x-correlation-id', 'x-amzn-requestid', 'cf-ray'];

export function readRequestId(headers: HttpResponse['headers']): string | undefined {
  return requestIdHeaders.map((name) => pickHeader(headers, name)).find((id) => id !== undefined);
}

/** The first value of a header. */
export function pickHeader(headers: HttpResponse['headers'], name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

export function listHeaders(headers: HttpResponse['headers']): { name: string; value: string }[] {
  return Object.entries(headers).flatMap(([name, values = []]) => [values].flat().map((value) => ({ name, value })));
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

/** The error code of an HTTP status from 400 on. */
export function findStatusCode(status: number): ErrorCode {
  return statusCodes[status] ?? (status >= 500 ? 'server-error' : 'request-refused');
}

interface StatusConfig {
  now: () => number;
  hide: (text: string) => string;
  includeBodyInError?: boolean | undefined;
}

/** The error of an answer from 300 on; of a redirect that may be followed, that it was followed too often. */
export function statusError(request: HttpRequest, answer: HttpResponse, config: StatusConfig): SotraError {
  const { status, text, headers } = answer;
  const shared = {
    status,
    requestId: readRequestId(headers),
    ...(config.includeBodyInError && text !== '' ? { body: config.hide(text) } : {}),
  };
  if (status < 400)
    return new SotraError('redirect', `${request.url.origin} ${describeRedirect(request, answer, config)}`, shared);
  const code = findStatusCode(status);
  const message = `${quoteExplanation(answer, config)} (HTTP ${status} from ${request.method} ${request.url.pathname})`;
  const outcome = status === 429 ? 'unsent' : status >= 500 ? 'unknown' : undefined;
  const waitMs = readRetryAfter(pickHeader(headers, 'retry-after'), config.now());
  const retryAfterSec = waitMs === undefined ? undefined : Math.ceil(waitMs / 1000);
  return new SotraError(code, message, { ...shared, outcome, retryAfterSec });
}

/** How many redirects in a row are followed. */
export const maxRedirects = 5;

/** Where an answer redirects to, if it may be followed: a GET on the same origin. */
export function findRedirect(
  { method, url }: Pick<HttpRequest, 'method' | 'url'>,
  { status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
): URL | undefined {
  const location = pickHeader(headers, 'location');
  const isRedirect = method === 'GET' && [301, 302, 303, 307, 308].includes(status);
  if (!isRedirect || location === undefined || !URL.canParse(location, url.href)) return undefined;
  const next = new URL(location, url);
  return next.origin === url.origin ? next : undefined;
}

function describeRedirect(request: HttpRequest, answer: HttpResponse, { hide }: StatusConfig): string {
  const followed = findRedirect(request, answer);
  if (followed !== undefined)
    return `redirects in a circle, or more than ${maxRedirects} times, at last to ${hide(followed.pathname)}`;
  const to = pickHeader(answer.headers, 'location');
  return to === undefined ? `answered ${answer.status}, without an address to go to` : `redirects to ${hide(to)}`;
}

/** The longest explanation of the service that an error repeats. */
const maxExplanation = 500;
/** Characters that are searched for secrets. */
const maxRead = 100_000;

function quoteExplanation(answer: HttpResponse, config: StatusConfig): string {
  const { text, bodyError } = answer;
  if (bodyError !== undefined) return `the explanation cannot be read: ${bodyError.message}`;
  if (text.trim() === '') return 'no explanation given';
  const said = readServiceError(text);
  if (said === undefined && isWebPage(answer)) {
    const title = readPageTitle(text);
    return config.hide(`a web page instead of JSON${title === undefined ? '' : `: ${title}`}`);
  }
  const explanation = said ?? text.trim();
  const shown = config.hide(explanation.slice(0, maxRead));
  const more = Math.max(0, shown.length - maxExplanation) + Math.max(0, explanation.length - maxRead);
  return more > 0 ? `${shown.slice(0, maxExplanation)}... (${more} more characters)` : shown;
}

/** Whether an answer is a web page: one of a proxy or a web server, not of the service. */
export function isWebPage({ headers, text }: Pick<HttpResponse, 'headers' | 'text'>): boolean {
  const type = [headers['content-type']].flat().join();
  return /html/i.test(type) || /^\s*<(?:!doctype|html)/i.test(text.slice(0, 200));
}

/** Whether a proxy or a web server refused the request: with a web page, or with text that is not JSON. A service may send a 401 as text. */
export function isForeign(answer: Pick<HttpResponse, 'status' | 'headers' | 'text'>): boolean {
  const { status, text } = answer;
  return isWebPage(answer) || (status !== 401 && text.trim() !== '' && tryParseJson(text) === undefined);
}

/** The title of a web page. */
export function readPageTitle(text: string): string | undefined {
  return /<title[^>]{0,200}>([^<]{1,120})/i.exec(text.slice(0, 100_000))?.[1]?.trim();
}

/** The message in an error of the service: `{error}`, `{message}`, `{error: {message}}` or `{detail}`; `undefined` for anything else. */
export function readServiceError(text: string): string | undefined {
  const body = tryParseJson(text);
  if (!isObject(body)) return undefined;
  const { error, message, detail } = body;
  const texts = [isObject(error) ? error['message'] : error, message, detail];
  return texts.find((said): said is string => typeof said === 'string' && said.trim() !== '');
}
