import { SotraError, usageError } from '../errors.ts';

export function isHttpAddress(text: string): boolean {
  try {
    const { protocol, username, password } = new URL(text);
    // Node throws for a name or password that is badly percent-encoded.
    decodeURIComponent(username + password);
    return /^https?:$/.test(protocol);
  } catch {
    return false;
  }
}

/** Ends the error about a text that is no address: a host without a scheme gets one. */
export function suggestScheme(text: string): string {
  const isHost = /^(?:localhost|\[::1\]|[\w-]+(?:\.[\w-]+)+|[\w-]+(?=:\d))(?::\d+)?(?:[/?]\S{0,200})?$/.test(text);
  return isHost ? `; did you mean ${/^(?:localhost|127\.|\[)/.test(text) ? 'http' : 'https'}://${text}?` : '';
}

export function readOrigin(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).origin : undefined;
}

/** True for a host name that cannot leave this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** Whether a Host header names this machine itself; a web page that reaches it through its own host name cannot send one. */
export function isLocalHost(host: string): boolean {
  return isLoopback(host.toLowerCase().replace(/:\d+$/, ''));
}

/** Whether a text is the origin of pages as browsers send it. */
export function isOrigin(text: string): boolean {
  return isHttpAddress(text) && new URL(text).origin === text;
}

export const originForm = 'must be the origin of pages: scheme, host and port alone, such as http://localhost:5173';

/** The normal form of RFC 3986 (6.2.2 and 6.2.3), without a fragment; other text as it is. */
export function normalizeDestination(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.hash = '';
  return url.href.replace(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : code.toUpperCase();
  });
}

/** Whether a service may mean the same destination: it may store it without user and without trailing slash. */
export function sameDestination(one: string, other: string): boolean {
  return bare(one) === bare(other);
}

function bare(text: string): string {
  const normal = normalizeDestination(text);
  if (!URL.canParse(normal)) return normal;
  const { protocol, host, pathname, search } = new URL(normal);
  return `${protocol}//${host}${pathname.replace(/\/$/, '')}${search}`;
}

/**
 * The base URL without a trailing slash. Errors: `usage` if it is not an http(s) URL or carries a user, query or fragment;
 * `insecure-url` for plain http off this machine.
 */
export function checkBaseUrl(text: string): string {
  if (!isHttpAddress(text))
    throw usageError(`base URL ${text}: must be an address such as https://api.example.com${suggestScheme(text)}`);
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw usageError(`base URL ${url.origin}${url.pathname}: must not carry a user, a query or a fragment`);
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new SotraError('insecure-url', `base URL ${text}: plain http would send the API key in the clear`, {
      hint: `Use https://${url.host}; http is allowed to this machine only (localhost, 127.0.0.1, [::1]).`,
    });
  return url.href.replace(/(?<!\/)\/+$/, '');
}

/** An API key as it is sent. Errors: `config` for what no header can hold. */
export function requireSendableKey(key: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new SotraError('config', 'the API key holds spaces, line ends or characters outside ASCII', {
    hint: 'Set it again without the surrounding text, e.g. SOTRA_API_KEY="$(cat key.txt)".',
  });
}
