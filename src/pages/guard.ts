import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { sameText } from '../api/webhook-signature.ts';
import { foreignRefusal, isLocalRequest } from '../lib/http-server.ts';

export const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

/** A page sends it with each request. Unlike a cookie, no browser adds it by itself, and other local ports never get it. */
const sessionHeader = 'x-sotra-session';

/** Only requests with the session are answered. A page gets it once, in exchange for the code in its address. */
export function createGuard() {
  const session = newRunToken();
  let code: string | undefined;
  return {
    /** A code that works once; earlier ones stop working. */
    newCode: (): string => {
      code = newRunToken();
      return code;
    },
    /** The session in exchange for the code; `undefined` for another text. */
    exchange: (given: unknown): string | undefined => {
      if (code === undefined || typeof given !== 'string' || !sameText(given, code)) return undefined;
      code = undefined;
      return session;
    },
    hasSession: ({ headers }: IncomingMessage): boolean => sameText(String(headers[sessionHeader] ?? ''), session),
  };
}

const methods = ['GET', 'HEAD', 'POST'];

/** Why a request is refused even with a session: a page of another site may reach this server by another host name. */
export function refuseForeign(incoming: IncomingMessage) {
  const { method = '', url = '' } = incoming;
  if (!isLocalRequest(incoming) || !url.startsWith('/')) return { status: 403, reason: foreignRefusal };
  return methods.includes(method) ? undefined : { status: 405, reason: `method ${method}: must be GET or POST` };
}

/** Why an API request is refused: it must come from a page of this server. */
export function originRefusal({ method, headers }: IncomingMessage) {
  const { host, origin } = headers;
  if (origin !== undefined && origin !== `http://${host}`)
    return { status: 403, reason: 'Origin header: requests from other pages are refused' };
  if (!['same-origin', 'none', undefined].includes(headers['sec-fetch-site']?.toString()))
    return { status: 403, reason: 'Sec-Fetch-Site header: requests from other pages are refused' };
  if (method === 'POST' && origin === undefined) return { status: 403, reason: 'Origin header: a POST must have one' };
  if (method === 'POST' && headers['content-type'] !== 'application/json')
    return { status: 415, reason: 'Content-Type header: must be application/json' };
  return undefined;
}

/** A secret of one run, which nobody can guess: for the address of a page or a header. */
export function newRunToken(): string {
  return randomBytes(24).toString('base64url');
}
