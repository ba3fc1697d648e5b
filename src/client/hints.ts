import { longerTimeout } from '../api/duration.ts';
import { isLoopback } from '../api/http-address.ts';
import { BoundsError } from '../api/json.ts';
import type { SotraError } from '../errors.ts';
import { findRedirect, isForeign, type NetworkFailure, pickHeader, readCode, readKind } from './failures.ts';
import { command, shellWord } from './shell.ts';
import type { HttpRequest, HttpResponse, TimeLimits } from './transport.ts';

/** A failed request, and its answer if there was one. */
export interface FailedRequest {
  request: Pick<HttpRequest, 'method' | 'url' | 'headers'>;
  answer?: HttpResponse | undefined;
}

/** What the words of a hint depend on. */
interface HintConfig extends TimeLimits {
  maxWaitMs: number;
  baseUrl: string;
  /** `...1234 from SOTRA_API_KEY`. */
  keyName?: string | undefined;
}

/** Puts the error of a failed request into the words of the command line, with a hint; the library has neither. */
export function explainRequestError(error: SotraError, failed: FailedRequest, config: HintConfig): SotraError {
  const { url } = failed.request;
  const isOfConnection = error.code === 'network';
  const problem = isOfConnection ? describeConnection(url, error.cause) : { hint: findHint(error, failed, config) };
  if (problem.hint === undefined) return error;
  const { kind = '', proxy } = (error.cause ?? {}) as Partial<NetworkFailure>;
  // The name of a service is looked up by the proxy: one without an address or listener was asked without it.
  const isOther = proxy === undefined || ['proxy', 'refused'].includes(kind);
  const bypass = isOther ? '' : ` It may be the proxy ${proxy}: NO_PROXY=${url.hostname} bypasses it.`;
  return Object.assign(error, problem, { hint: problem.hint + bypass });
}

function findHint(error: SotraError, { request, answer }: FailedRequest, config: HintConfig): string | undefined {
  const { code, retryAfterSec, cause } = error;
  const { baseUrl, keyName, timeoutMs, maxTimeMs, maxWaitMs } = config;
  if (code === 'timeout')
    return longerTimeout('Allow more time with', readKind(cause) === 'late' ? maxTimeMs : timeoutMs);
  if (answer === undefined) return undefined;
  if (code === 'redirect') return redirectHint(request, answer);
  if (code === 'bad-answer')
    return cause instanceof BoundsError
      ? 'The interface does not define such an answer: --curl prints a command that shows it.'
      : (versionHint(baseUrl) ?? 'Check that the base URL is the service itself and not a proxy or a web page.');
  if (retryAfterSec !== undefined) return waitHint(retryAfterSec, maxWaitMs);
  if (code === 'rate-limited') return 'Wait, or allow more attempts with --retries.';
  if (code === 'not-found')
    return versionHint(baseUrl) ?? (request.url.pathname.includes('/webhooks/feed/') ? webhookHint : undefined);
  if (code !== 'key-refused' && code !== 'forbidden') return undefined;
  if (isForeign(answer))
    return 'A proxy or a bot check in front of the service refused the request: check the base URL and the network.';
  if (request.headers['authorization'] === undefined) return 'Give a key: SOTRA_API_KEY=... or the key of the context.';
  const key = `The key ${keyName === undefined ? '' : `${keyName} `}`;
  return code === 'forbidden'
    ? `${key}is valid but is not allowed to do this: ask the operator of the service.`
    : `${key}was sent and refused: check SOTRA_API_KEY or the key of the context.`;
}

export const webhookHint = 'sotra webhook list shows the webhooks of your key.';

function redirectHint({ method, url }: FailedRequest['request'], answer: HttpResponse): string {
  if (pickHeader(answer.headers, 'location') === undefined)
    return 'See the answer with --verbose, and check the base URL.';
  if (findRedirect({ method: 'GET', url }, answer) === undefined)
    return 'If you trust the new address, make it the base URL: the key is sent to no other origin.';
  return method === 'GET'
    ? 'Check the base URL; --verbose shows each redirect.'
    : `Check the base URL: a ${method} is not sent again to where it is redirected.`;
}

interface Connection {
  url: URL;
  /** What happened to it, in the words of its library. */
  why: string;
}

interface Problem {
  message: string;
  hint: string;
}

/** What happened to a connection, in our words, and what to do. */
function describeConnection(url: URL, cause: unknown): Problem {
  const [kind, why] = [readKind(cause), String((cause as Error | null)?.message ?? cause)];
  const isOfCode = kind !== 'proxy' && kind !== 'cut';
  const describe = (isOfCode ? problems[readCode(cause)] : undefined) ?? problems[kind];
  return describe?.({ url, why }) ?? { message: `the connection to ${url.origin} failed: ${why}`, hint: checkOften };
}

const checkOften = 'If it happens each time, check the port, and whether the address needs https.';

/** By the code of the system, of TLS or of undici, else by the kind of failure. */
const problems: Readonly<Record<string, (failed: Connection) => Problem>> = {
  ECONNREFUSED: ({ url: { origin, hostname, port } }) => ({
    message: `nothing is listening at ${origin}`,
    hint: isLoopback(hostname)
      ? command`Check host and port, or start a sandbox there: sotra sandbox start --port ${port || '80'}`
      : 'Check host and port (--base-url, SOTRA_BASE_URL or the context).',
  }),
  ECONNRESET: ({ url }) => ({ message: `${url.origin} reset the connection before answering`, hint: checkOften }),
  UND_ERR_SOCKET: ({ url }) => ({ message: `${url.origin} closed the connection before answering`, hint: checkOften }),
  HTTPParserError: ({ url }) => ({ message: `the server at ${url.origin} does not speak HTTP`, hint: checkOften }),
  ENOTFOUND: nameProblem,
  EAI_AGAIN: nameProblem,
  CERT_HAS_EXPIRED: ({ url }) => ({
    message: `the certificate of ${url.origin} has expired, or the clock of this computer is ahead`,
    hint: 'Check the clock: date -u.',
  }),
  CERT_NOT_YET_VALID: ({ url }) => ({
    message: `the certificate of ${url.origin} is not valid yet, or the clock of this computer is behind`,
    hint: 'Check the clock: date -u.',
  }),
  ERR_TLS_CERT_ALTNAME_INVALID: ({ url }) => ({
    message: `the certificate of ${url.origin} is not for ${url.hostname}`,
    hint: 'Check the host of the base URL: another server may answer at its address.',
  }),
  refused: ({ url, why }) => ({
    message: `${url.origin} cannot be reached: ${why}`,
    hint: 'Check the address (--base-url, SOTRA_BASE_URL or the context), the network, a VPN or a firewall.',
  }),
  proxy: ({ url, why }) => ({
    message: `the service was not reached: ${why}`,
    hint: command`HTTPS_PROXY or HTTP_PROXY sets the proxy; NO_PROXY=${url.hostname} bypasses it.`,
  }),
  untrusted: ({ url, why }) => ({
    message: `the certificate of ${url.origin} is not trusted: ${why}`,
    hint: 'For a certificate authority of your own, set NODE_EXTRA_CA_CERTS=/path/to/ca.pem.',
  }),
  plain: ({ url: { origin, hostname } }) => ({
    message: `the server at ${origin} does not use TLS`,
    hint: isLoopback(hostname)
      ? `Try ${origin.replace('https:', 'http:')}.`
      : 'Check the port of the base URL (http:// is allowed for loopback addresses only).',
  }),
  cut: ({ url }) => ({
    message: `${url.origin} closed the connection in the middle of the answer`,
    hint: 'The service or a proxy ended the connection early: try again.',
  }),
};

function nameProblem({ url }: Connection): Problem {
  const hint = 'Check the spelling of the base URL, and the network.';
  return { message: `the name ${url.hostname} has no address`, hint };
}

/** The largest `--timeout`. */
const maxTimeoutSec = 86_400;

function waitHint(retryAfterSec: number, maxWaitMs: number): string {
  const asked = `The service asks to wait ${retryAfterSec} s`;
  if (retryAfterSec * 1000 <= maxWaitMs) return `${asked}: retry then, or allow more attempts with --retries.`;
  const tooLong = `${asked}, and a call waits at most ${maxWaitMs / 1000} s`;
  const enoughSec = retryAfterSec + 60;
  return enoughSec <= maxTimeoutSec ? `${tooLong}: --timeout ${enoughSec}s waits for it.` : `${tooLong}: retry then.`;
}

/** A hint for a base URL that ends in the version that paths begin with. */
export function versionHint(baseUrl: string): string | undefined {
  const ending = splitVersion(baseUrl);
  if (ending === undefined) return undefined;
  const { base, version } = ending;
  return `The base URL ends in /${version}, which the paths already begin with: --base-url ${shellWord(base)}.`;
}

/** A base URL that ends in a version, and what comes before it. */
export function splitVersion(baseUrl: string): { base: string; version: string } | undefined {
  const [, base = '', version] = /^(.*)\/(v\d+)\/?$/.exec(baseUrl) ?? [];
  return version === undefined ? undefined : { base, version };
}
