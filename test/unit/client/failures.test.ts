import { expect, test } from 'vitest';
import { readFailure, readProxyFailure, statusError } from '../../../src/client/failures.ts';
import { explainRequestError } from '../../../src/client/hints.ts';
import { secretHider } from '../../../src/client/secrets.ts';

const url = new URL('https://a.example.com/v1/x?y=1');
const request = { method: 'GET', url, headers: { authorization: 'Bearer k' } as Record<string, string> };

const hide = secretHider(undefined);
const config = {
  now: () => 0,
  hide,
  maxWaitMs: 60_000,
  timeoutMs: 30_000,
  maxTimeMs: 600_000,
  baseUrl: 'https://a.example.com',
  keyName: '...cdef from SOTRA_API_KEY',
};
const refusal = (status: number, text: string, headers = {}) => {
  const answer = { status, text, headers: { 'x-request-id': 'r-1', ...headers }, bytes: text.length };
  return explainRequestError(statusError(request, answer, config), { request, answer }, config);
};

const coded = (code: string | undefined, message = 'the reason', more = {}) =>
  Object.assign(new Error(message), { ...(code !== undefined && { code }), ...more });

const thrown: readonly [error: unknown, kind: string, message: string][] = [
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].map(
    (code): [Error, string, string] => [coded(code), 'refused', 'the reason'],
  ),
  ...[
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
  ].map((code): [Error, string, string] => [coded(code), 'untrusted', 'the reason']),
  [coded('ECONNRESET'), 'broken', 'the reason'],
  [coded('ECONNRESET', ''), 'broken', 'ECONNRESET'],
  ['a text', 'broken', 'a text'],
  [new AggregateError([coded('ECONNREFUSED', 'the first'), coded('EPIPE')], 'all'), 'refused', 'the first'],
  [coded('EPROTO', 'long', { reason: 'no shared cipher' }), 'broken', 'the TLS handshake failed: no shared cipher'],
  [coded('X', 'long', { library: 'SSL routines' }), 'broken', 'the TLS handshake failed: X'],
  [
    coded('ERR_SSL_WRONG_VERSION_NUMBER', 'long', { reason: 'wrong version number' }),
    'plain',
    'the TLS handshake failed: wrong version number',
  ],
  [coded('ECONNRESET', 'wrong version number'), 'broken', 'wrong version number'],
];

test.each(thrown)('of a connection that ends with %o the kind is %s: %s', (error, kind, message) => {
  expect(readFailure(error)).toMatchObject({ kind, message, cause: error });
});

const refusedAt = (address: string, port: number) => coded('ECONNREFUSED', 'refused', { address, port });
const cannot = (proxy: string, why: string) => `the proxy ${proxy} cannot be reached: ${why}`;
const [own, named] = ['http://127.0.0.1:81', 'http://p.test:81'];

const proxied: readonly [proxy: string, error: Error, kind: string, message: string][] = [
  [named, coded('X', 'Proxy response (407) !== 200'), 'proxy', 'the proxy http://p.test:81 answered 407'],
  [own, refusedAt('127.0.0.1', 81), 'proxy', cannot(own, 'nothing is listening at 127.0.0.1:81')],
  [own, refusedAt('127.0.0.1', 82), 'refused', 'refused'],
  ['http://[::1]:81', refusedAt('::1', 81), 'proxy', cannot('http://[::1]:81', 'nothing is listening at [::1]:81')],
  [named, refusedAt('10.0.0.1', 81), 'proxy', cannot(named, 'nothing is listening at 10.0.0.1:81')],
  ['http://p1.test:81', refusedAt('10.0.0.1', 82), 'refused', 'refused'],
  ['http://p.test', coded('ENOTFOUND', 'no', { hostname: 'p.test' }), 'proxy', cannot('http://p.test', 'no')],
  ['http://p.test', coded('ENOTFOUND', 'no', { hostname: 'a.example.com' }), 'refused', 'no'],
  ['http://p.test', coded('ECONNRESET', 'gone', { hostname: 'p.test' }), 'broken', 'gone'],
];

test.each(proxied)('through %s, a request that ends with %o is %s: %s', (proxy, error, kind, message) => {
  expect(readProxyFailure(error, new URL(proxy))).toMatchObject({ kind, message, cause: error });
});

test('the error of a redirect names its target', () => {
  const error = refusal(302, '', { location: 'https://b.example.com/' });
  expect(error).toMatchObject({ code: 'redirect', status: 302, requestId: 'r-1' });
  expect(error.message).toBe('https://a.example.com redirects to https://b.example.com/');
  expect(refusal(399, '')).toMatchObject({
    code: 'redirect',
    message: 'https://a.example.com answered 399, without an address to go to',
    hint: 'See the answer with --verbose, and check the base URL.',
  });
});

test('the request id of a service without one of its own is that of the gateway', () => {
  expect(refusal(502, '', { 'x-request-id': undefined, 'cf-ray': '8a2f-FRA' }).requestId).toBe('8a2f-FRA');
});

test.each([
  ['172800', 'The service asks to wait 172800 s, and a call waits at most 60 s: retry then.', 172_800],
  ['86340', 'The service asks to wait 86340 s, and a call waits at most 60 s: --timeout 86400s waits for it.', 86_340],
  ['60', 'The service asks to wait 60 s: retry then, or allow more attempts with --retries.', 60],
  ['soon', 'Wait, or allow more attempts with --retries.', undefined],
])('a Retry-After of %s has the hint %j', (header, hint, retryAfterSec) => {
  const refused = refusal(429, '', { 'retry-after': header });
  expect([refused.hint, refused.retryAfterSec]).toEqual([hint, retryAfterSec]);
});

const bodies: readonly [text: string, shown: string][] = [
  ['{"error":"so"}', 'so'],
  ['{"error":""}', '{"error":""}'],
  ['{"message":"gone"}', 'gone'],
  ['{"error":{"message":"gone"}}', 'gone'],
  ['<!doctype html><title>Just a moment...</title>', 'a web page instead of JSON: Just a moment...'],
  ['{"error":"whsec_abcdefghij"}', 'whsec_***'],
  ['null', 'null'],
  ['', 'no explanation given'],
  ['  <h1>no</h1>\n', '<h1>no</h1>'],
  ['x'.repeat(500), 'x'.repeat(500)],
  [`${'x'.repeat(500)}yz`, `${'x'.repeat(500)}... (2 more characters)`],
];

test.each(bodies)('of the body %j the error shows %j', (text, shown) => {
  expect(refusal(400, text, {}).message).toBe(`${shown} (HTTP 400 from GET /v1/x)`);
});
