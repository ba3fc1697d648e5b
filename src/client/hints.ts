import { longerTimeout } from '../api/duration.ts';
import { isLoopback } from '../api/http-address.ts';
import type { ErrorCode } from '../errors.ts';
import { command, shellWord } from './shell.ts';
import type { HttpRequest, HttpResponse } from './transport.ts';

/** The hints of the command line for failed requests; the library has none. */
export const hints = {
  ofNetwork,
  ofStatus,
  ofTimeout: (limitMs: number) => longerTimeout('Allow more time with', limitMs),
  ofRedirect: (to: string | undefined) =>
    to === undefined
      ? 'See the answer with --verbose, and check the base URL.'
      : 'If you trust the new address, make it the base URL: the key is sent to no other origin.',
  ofOtherOrigin: () => 'The key is not sent there. Request the pages one by one with the cursors that --json shows.',
  ofBadAnswer: (isTooMuch: boolean, baseUrl: string) =>
    isTooMuch
      ? 'The interface does not define such an answer: --curl prints a command that shows it.'
      : (versionHint(baseUrl) ?? 'Check that the base URL is the service itself and not a proxy or a web page.'),
  describePage,
};

export type Hints = typeof hints;

interface NetworkFacts {
  kind: string;
  /** What happened to the connection, in the words of its library. */
  why: string;
  url: URL;
  cause: unknown;
}

interface Problem {
  problem: string;
  hint: string;
}

/** What happened to a connection, in our words, and what to do. */
function ofNetwork(facts: NetworkFacts): Problem {
  const { kind, why, url, cause } = facts;
  const isOfCode = kind !== 'proxy' && kind !== 'cut';
  const describe = (isOfCode ? problems[readCode(cause)] : undefined) ?? problems[kind];
  return describe?.(facts) ?? { problem: `the connection to ${url.origin} failed: ${why}`, hint: checkOften };
}

/** The code of the first cause of a failure, of the system, of TLS or of undici; empty without one. */
export function readCode(failure: unknown): string {
  const { cause } = (failure ?? {}) as { cause?: unknown };
  const first = cause instanceof AggregateError ? cause.errors[0] : cause;
  // The errors of undici's parser have a name alone.
  const { name, code = name } = (first ?? {}) as { name?: string; code?: unknown };
  return typeof code === 'string' ? code : '';
}

const checkOften = 'If it happens each time, check the port, and whether the address needs https.';

/** By the code of the system, of TLS or of undici, else by the kind of failure. */
const problems: Readonly<Record<string, (facts: NetworkFacts) => Problem>> = {
  ECONNREFUSED: ({ url: { origin, hostname, port } }) => ({
    problem: `nothing is listening at ${origin}`,
    hint: isLoopback(hostname)
      ? command`Check host and port, or start a sandbox there: sotra sandbox start --port ${port || '80'}`
      : 'Check host and port (--base-url, SOTRA_BASE_URL or the context).',
  }),
  ECONNRESET: ({ url }) => ({ problem: `${url.origin} reset the connection before it answered`, hint: checkOften }),
  UND_ERR_SOCKET: ({ url }) => ({
    problem: `${url.origin} closed the connection before it answered`,
    hint: checkOften,
  }),
  HTTPParserError: ({ url }) => ({ problem: `the server at ${url.origin} does not speak HTTP`, hint: checkOften }),
  ENOTFOUND: nameProblem,
  EAI_AGAIN: nameProblem,
  CERT_HAS_EXPIRED: ({ url }) => ({
    problem: `the certificate of ${url.origin} has expired, or the clock of this computer is ahead`,
    hint: 'Check the clock: date -u.',
  }),
  CERT_NOT_YET_VALID: ({ url }) => ({
    problem: `the certificate of ${url.origin} is not valid yet, or the clock of this computer is behind`,
    hint: 'Check the clock: date -u.',
  }),
  refused: ({ url, why }) => ({
    problem: `${url.origin} cannot be reached: ${why}`,
    hint: 'Check the address (--base-url, SOTRA_BASE_URL or the context), the network, a VPN or a firewall.',
  }),
  proxy: ({ url, why }) => ({
    problem: `the service was not reached: ${why}`,
    hint: command`HTTPS_PROXY or HTTP_PROXY sets the proxy; NO_PROXY=${url.hostname} bypasses it.`,
  }),
  untrusted: ({ url, why }) => ({
    problem: `the certificate of ${url.origin} is not trusted: ${why}`,
    hint: 'For a certificate authority of your own, set NODE_EXTRA_CA_CERTS=/path/to/ca.pem.',
  }),
  plain: ({ url: { origin, hostname } }) => ({
    problem: `the server at ${origin} does not use TLS`,
    hint: isLoopback(hostname)
      ? `Try ${origin.replace('https:', 'http:')}.`
      : 'Check the port of the base URL (http:// is allowed for loopback addresses only).',
  }),
  cut: ({ url }) => ({
    problem: `${url.origin} closed the connection in the middle of the answer`,
    hint: 'The service or a proxy ended the connection early: try again.',
  }),
};

function nameProblem({ url }: NetworkFacts): Problem {
  const hint = 'Check the spelling of the base URL, and the network.';
  return { problem: `the name ${url.hostname} has no address`, hint };
}

interface StatusFacts extends PageFacts {
  request: HttpRequest;
  retryAfterSec: number | undefined;
  config: { maxWaitMs: number; baseUrl: string; keyName?: string | undefined };
}

function ofStatus(code: ErrorCode, { request, headers, text, retryAfterSec, config }: StatusFacts): string | undefined {
  if (retryAfterSec !== undefined) return waitHint(retryAfterSec, config.maxWaitMs);
  if (code === 'rate-limited') return 'Wait, or allow more attempts with --retries.';
  if (code === 'not-found') return versionHint(config.baseUrl);
  if (code !== 'key-refused' && code !== 'forbidden') return undefined;
  if (isWebPage({ headers, text }))
    return 'A proxy or a bot check in front of the service refused the request: check the base URL and the network.';
  if (request.headers['authorization'] === undefined) return 'Give a key: SOTRA_API_KEY=... or the key of the context.';
  const key = `The key ${config.keyName === undefined ? '' : `${config.keyName} `}`;
  return code === 'forbidden'
    ? `${key}is valid but is not allowed to do this: ask the operator of the service.`
    : `${key}was sent and refused: check SOTRA_API_KEY or the key of the context.`;
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

type PageFacts = Pick<HttpResponse, 'headers' | 'text'>;

/** Whether an answer is a web page: one of a proxy or a web server, not of the service. */
export function isWebPage({ headers, text }: PageFacts): boolean {
  const type = [headers['content-type']].flat().join();
  return /html/i.test(type) || /^\s*<(?:!doctype|html)/i.test(text.slice(0, 200));
}

/** The title of a web page. */
export function readPageTitle(text: string): string | undefined {
  return /<title[^>]{0,200}>([^<]{1,120})/i.exec(text.slice(0, 100_000))?.[1]?.trim();
}

function describePage(answer: PageFacts): string | undefined {
  if (!isWebPage(answer)) return undefined;
  const title = readPageTitle(answer.text);
  return title === undefined ? 'a web page instead of JSON' : `a web page instead of JSON: ${title}`;
}
