import type { IncomingMessage } from 'node:http';
import { isLocalHost, otherHostRefusal } from '../model/http-address.ts';
import { newRunToken } from '../model/run-token.ts';
import { sameText } from '../model/webhook-signature.ts';

/** Why a request is not answered. */
export interface Refusal {
  status: number;
  reason: string;
}

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

/**
 * Who may ask: requests to this machine by its own name (a page of another site may reach it by another), from no page but ours, with the
 * cookie that was given once for the token in the address.
 */
export function createGuard() {
  const session = newRunToken();
  let token: string | undefined = newRunToken();
  const cookieName = (port: number) => `sotra-${port}`;
  return {
    token,
    /** The cookie in exchange for the token, which is useless from then on; `undefined` for another text. */
    exchange: (given: string, port: number): string | undefined => {
      if (token === undefined || !sameText(given, token)) return undefined;
      token = undefined;
      return `${cookieName(port)}=${session}; Path=/; HttpOnly; SameSite=Strict`;
    },
    hasSession: ({ headers }: IncomingMessage, port: number): boolean => {
      const cookies = (headers.cookie ?? '').split(';').map((each) => each.trim());
      const given = cookies.find((each) => each.startsWith(`${cookieName(port)}=`));
      return given !== undefined && sameText(given.slice(cookieName(port).length + 1), session);
    },
  };
}

const methods = ['GET', 'HEAD', 'POST'];

/** Why a request is refused whoever sends it; `undefined` where it is not. */
export function refusalOf({ method = '', headers, headersDistinct, url = '' }: IncomingMessage): Refusal | undefined {
  const { host = '', origin } = headers;
  const hosts = headersDistinct['host'] ?? [];
  if (hosts.length !== 1 || !isLocalHost(host) || !url.startsWith('/'))
    return { status: 403, reason: otherHostRefusal };
  // A page of another port of this machine would be sent with our cookie.
  if (origin !== undefined && origin !== `http://${host}`)
    return { status: 403, reason: 'Origin header: other pages may not ask' };
  if (!['same-origin', 'none', undefined].includes(headers['sec-fetch-site']?.toString()))
    return { status: 403, reason: 'Sec-Fetch-Site header: other pages may not ask' };
  if (!methods.includes(method)) return { status: 405, reason: `method ${method}: must be GET or POST` };
  if (method === 'POST' && origin === undefined)
    return { status: 403, reason: 'Origin header: a page must say that it is ours' };
  if (method === 'POST' && headers['content-type'] !== 'application/json')
    return { status: 415, reason: 'Content-Type header: must be application/json' };
  return undefined;
}
