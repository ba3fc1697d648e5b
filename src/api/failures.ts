import { type ErrorCode, SotraError } from '../errors.ts';
import { type HttpAnswer, type HttpRequest, NetworkFailure } from './http.ts';
import { hideSecrets } from './secrets.ts';

/** Times that a call may take. */
export interface TimeLimits {
  /** Until something comes: the connection, the first byte, the next one. */
  timeoutMs: number;
  /** For the whole call, attempts and waits together. */
  maxTimeMs: number;
}

/** The error of a request that got no answer, or not all of one. Never throws. */
export function sendError(
  { url: { origin } }: HttpRequest,
  thrown: unknown,
  { timeoutMs, maxTimeMs }: TimeLimits,
): SotraError {
  const kind = thrown instanceof NetworkFailure ? thrown.kind : 'broken';
  const outcome = kind === 'refused' || kind === 'untrusted' ? 'unsent' : 'unknown';
  const more = { cause: thrown, outcome } as const;
  if (kind === 'late')
    return new SotraError('timeout', `${origin}: not done within ${maxTimeMs / 1000} s`, {
      ...more,
      hint: 'Give the whole call longer with --max-time 30m.',
    });
  if (kind === 'timeout')
    return new SotraError('timeout', `${origin} did not answer within ${timeoutMs / 1000} s`, {
      ...more,
      hint: 'Give it longer with --timeout 60s.',
    });
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  if (kind === 'untrusted')
    return new SotraError('network', `the certificate of ${origin} is not trusted: ${why}`, {
      ...more,
      hint: 'Where it is signed by an authority of your own: NODE_EXTRA_CA_CERTS=/path/to/ca.pem.',
    });
  return new SotraError('network', `cannot reach ${origin}: ${why}`, {
    ...more,
    hint: 'Check the address (--base-url, SOTRA_BASE_URL or the context) and the network.',
  });
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

/** The error that an answer's status stands for. Never throws. */
export function statusError(
  request: HttpRequest,
  status: number,
  text: string,
  headers: HttpAnswer['headers'],
  requestId: string | undefined,
): SotraError {
  if (status < 400)
    return new SotraError('redirect', `${request.url.origin} redirects to ${headerOf(headers, 'location')}`, {
      hint: 'A key is sent along only for a GET on the same origin: set the base URL to the address that answers.',
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
    if (typeof body?.error === 'string') return hideSecrets(body.error);
  } catch {
    // Not the documented form: the start of the body says more than nothing.
  }
  return text.trim() === '' ? 'no explanation given' : hideSecrets(text.trim()).slice(0, 200);
}
