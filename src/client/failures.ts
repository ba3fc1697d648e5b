import { longerTimeout } from '../api/duration.ts';
import { isLoopback } from '../api/http-address.ts';
import { isObject, tryParseJson } from '../api/json.ts';
import { type ErrorCode, readMessage, SotraError } from '../errors.ts';
import type { HttpAnswer, HttpRequest } from '../lib/io.ts';
import { isUnsent, readRetryAfter } from './retry.ts';
import { hideSecrets, requestHider } from './secrets.ts';
import { command, shellWord } from './shell.ts';

export const failureKinds = ['refused', 'proxy', 'untrusted', 'plain', 'broken', 'timeout', 'late'] as const;
type FailureKind = (typeof failureKinds)[number];

/**
 * A failed exchange. `refused`, `proxy`, `untrusted` (certificate) and `plain` (no TLS) never reached the service, the others may have;
 * `timeout`: nothing came for too long; `late`: the total time was used up.
 */
export class NetworkFailure extends Error {
  readonly kind: FailureKind;
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

/** What a library of sockets threw, by its code. */
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

/** The same where the request goes by way of a proxy, which may be what failed. */
export function readProxyFailure(error: unknown, proxy: URL): NetworkFailure {
  const { message, address, port, hostname } = error as NodeJS.ErrnoException & Record<string, unknown>;
  const [, status] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  const name = `${proxy.protocol}//${proxy.host}`;
  if (status !== undefined) return new NetworkFailure('proxy', `the proxy ${name} answered ${status}`, error);
  const failure = readFailure(error);
  const host = proxy.hostname.replace(/^\[|\]$/g, '');
  const isProxy = hostname === host || (String(port) === proxy.port && (address === host || !/^[\d.:]+$/.test(host)));
  if (failure.kind !== 'refused' || !isProxy) return failure;
  return new NetworkFailure('proxy', `the proxy ${name} cannot be reached: ${failure.message}`, error);
}

export interface TimeLimits {
  /** Until something comes: the connection, the first byte, the next one. */
  timeoutMs: number;
  /** For the whole call, attempts and waits together. */
  maxTimeMs: number;
}

export function sendError(
  { url: { origin, hostname } }: HttpRequest,
  thrown: unknown,
  { timeoutMs, maxTimeMs }: TimeLimits,
): SotraError {
  const kind = thrown instanceof NetworkFailure ? thrown.kind : 'broken';
  const outcome = isUnsent(kind) ? 'unsent' : 'unknown';
  const more = { cause: thrown, outcome } as const;
  if (kind === 'late' || kind === 'timeout') {
    const limitMs = kind === 'late' ? maxTimeMs : timeoutMs;
    return new SotraError('timeout', `${origin} did not answer within ${limitMs / 1000} s`, {
      ...more,
      hint: longerTimeout('Allow more time with', limitMs),
    });
  }
  const why = readMessage(thrown);
  if (kind === 'untrusted')
    return new SotraError('network', `the certificate of ${origin} is not trusted: ${why}`, {
      ...more,
      hint: /expired|not yet valid/.test(why)
        ? 'Check the clock of this computer: date -u.'
        : 'For a certificate authority of your own, set NODE_EXTRA_CA_CERTS=/path/to/ca.pem.',
    });
  const hint =
    kind === 'plain'
      ? plainHint(origin, hostname)
      : kind === 'proxy'
        ? command`HTTPS_PROXY or HTTP_PROXY names it. NO_PROXY=${hostname} goes without.`
        : 'Check the address (--base-url, SOTRA_BASE_URL or the context) and the network.';
  return new SotraError('network', `cannot reach ${origin}: ${why}`, { ...more, hint });
}

function plainHint(origin: string, hostname: string): string {
  if (isLoopback(hostname)) return `Try ${origin.replace('https:', 'http:')}: what listens there does not speak TLS.`;
  return 'What listens there does not speak TLS: check the port (http:// is allowed to this machine only).';
}

export function readRequestId(headers: HttpAnswer['headers']): string | undefined {
  return pickHeader(headers, 'x-request-id') ?? pickHeader(headers, 'request-id');
}

/** The first value of a header. */
export function pickHeader(headers: HttpAnswer['headers'], name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

export function listHeaders(headers: HttpAnswer['headers']): { name: string; value: string }[] {
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

export interface StatusFailure {
  request: HttpRequest;
  status: number;
  text: string;
  /** Why there is no text. */
  unreadable?: string | undefined;
  headers: HttpAnswer['headers'];
  requestId: string | undefined;
  nowMs: number;
  caller: { maxWaitMs: number; baseUrl: string; keyName?: string | undefined; tellsBody?: boolean | undefined };
}

export function statusError(failure: StatusFailure): SotraError {
  const { request, status, text, headers, requestId, nowMs, caller } = failure;
  const shared = { status, requestId, ...(caller.tellsBody && text !== '' ? { body: hideSecrets(text) } : {}) };
  if (status < 400) {
    const to = pickHeader(headers, 'location');
    const message =
      to === undefined ? `answered ${status}, without an address to go to` : `redirects to ${hideSecrets(to)}`;
    return new SotraError('redirect', `${request.url.origin} ${message}`, {
      ...shared,
      hint:
        to === undefined
          ? 'See the answer with --verbose, and check the base URL.'
          : 'The key is sent to no other origin. If you trust the new address, make it the base URL.',
    });
  }
  const code = findStatusCode(status);
  const message = `${describeAnswer(failure)} (HTTP ${status} from ${request.method} ${request.url.pathname})`;
  const outcome = status === 429 ? 'unsent' : status >= 500 ? 'unknown' : undefined;
  const waitMs = readRetryAfter(pickHeader(headers, 'retry-after'), nowMs);
  const retryAfterSec = waitMs === undefined ? undefined : Math.ceil(waitMs / 1000);
  const hint = waitHint(code, retryAfterSec, caller.maxWaitMs) ?? hintFor(code, failure);
  return new SotraError(code, message, { ...shared, hint, outcome, retryAfterSec });
}

function waitHint(code: ErrorCode, retryAfterSec: number | undefined, maxWaitMs: number): string | undefined {
  if (retryAfterSec === undefined)
    return code === 'rate-limited' ? 'Wait, or allow more attempts with --retries.' : undefined;
  const asked = `The service asks to wait ${retryAfterSec} s`;
  if (retryAfterSec * 1000 <= maxWaitMs) return `${asked}: retry then, or allow more attempts with --retries.`;
  const tooLong = `${asked}, and a call waits at most ${maxWaitMs / 1000} s`;
  const enoughSec = retryAfterSec + 60;
  return enoughSec <= maxTimeoutSec ? `${tooLong}: --timeout ${enoughSec}s waits for it.` : `${tooLong}: retry then.`;
}

/** The largest `--timeout`. */
const maxTimeoutSec = 86_400;

function hintFor(code: ErrorCode, { request, headers, text, caller }: StatusFailure): string | undefined {
  if (code === 'not-found') return versionHint(caller.baseUrl);
  if (code !== 'key-refused' && code !== 'forbidden') return undefined;
  if (isWebPage({ headers, text }))
    return 'A proxy or a bot check in front of the service refused the request: check the base URL and the network.';
  if (request.headers['authorization'] === undefined) return 'Give a key: SOTRA_API_KEY=... or the key of the context.';
  const key = `The key ${caller.keyName === undefined ? '' : `${caller.keyName} `}`;
  return code === 'forbidden'
    ? `${key}is valid but is not allowed to do this: ask the operator of the service.`
    : `${key}was sent and refused: check SOTRA_API_KEY or the key of the context.`;
}

/** A hint for a base URL that ends in the version that paths begin with. */
export function versionHint(baseUrl: string): string | undefined {
  const [, base, version] = /^(.*)\/(v\d+)\/?$/.exec(baseUrl) ?? [];
  return (
    version &&
    `The base URL ends in /${version}, which the paths begin with already: --base-url ${shellWord(base ?? '')}.`
  );
}

/** The longest explanation of the service that an error repeats. */
const maxExplanation = 500;
/** Characters that are searched for secrets. */
const maxRead = 100_000;

function describeAnswer({ text, unreadable, headers, request }: StatusFailure): string {
  if (unreadable !== undefined) return `no explanation that can be read: ${unreadable}`;
  if (text.trim() === '') return 'no explanation given';
  const said = readServiceError(text);
  // JSON may escape any letter of the key.
  const hide = requestHider(request);
  if (said === undefined && isWebPage({ headers, text })) {
    const title = readPageTitle(text);
    return title === undefined ? 'a web page instead of JSON' : `a web page instead of JSON: ${hide(title)}`;
  }
  const explanation = said ?? text.trim();
  const shown = hide(explanation.slice(0, maxRead));
  const more = Math.max(0, shown.length - maxExplanation) + Math.max(0, explanation.length - maxRead);
  return more > 0 ? `${shown.slice(0, maxExplanation)}... (${more} more characters)` : shown;
}

/** What the service says in an error: `{error}`, `{message}` or `{error: {message}}`; `undefined` for anything else. */
export function readServiceError(text: string): string | undefined {
  const body = tryParseJson(text);
  if (!isObject(body)) return undefined;
  const { error, message } = body;
  const texts = [isObject(error) ? error['message'] : error, message];
  return texts.find((said): said is string => typeof said === 'string' && said.trim() !== '');
}

/** Whether an answer is a web page: one of a proxy or a web server, not of the service. */
export function isWebPage({ headers, text }: { headers: HttpAnswer['headers']; text: string }): boolean {
  return /html/i.test(pickHeader(headers, 'content-type') ?? '') || /^\s*<(?:!doctype|html)/i.test(text.slice(0, 200));
}

export function readPageTitle(text: string): string | undefined {
  return /<title[^>]{0,200}>([^<]{1,120})/i.exec(text.slice(0, maxRead))?.[1]?.trim();
}
