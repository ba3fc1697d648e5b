import { parseJson } from '../api/json.ts';
import { maskHeaders } from './secrets.ts';
import { shellLine } from './shell.ts';
import type { HttpRequest } from './transport.ts';

/** A request as text, the key masked: request line, headers, body. */
export function formatRequest({ method, url, headers, body }: HttpRequest): string {
  const shown = Object.entries(maskHeaders(headers)).map(([name, value]) => `${name}: ${value}`);
  return `${[`${method} ${url.href}`, ...shown, ...(body === undefined ? [] : ['', body])].join('\n')}\n`;
}

/** A request with a body that is JSON, or none, as JSON; the key masked. */
export function describeRequest({ method, url, headers, body }: HttpRequest): Record<string, unknown> {
  return { method, url: url.href, headers: maskHeaders(headers), ...(body && { body: parseJson(body) }) };
}

/** The request of a delivery to a webhook; `headers` alternate names and values. */
export function deliveryRequest(to: string, headers: readonly string[], body: string): HttpRequest {
  const named: Record<string, string> = {};
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const [name = '', value = ''] = headers.slice(index, index + 2);
    named[name] = name in named ? `${named[name]}, ${value}` : value;
  }
  return { method: 'POST', url: new URL(to), headers: named, body };
}

/** A curl line that does the same in a shell; the key is `$SOTRA_API_KEY`. */
export function curlLine({ method, url, headers, body }: HttpRequest): string {
  // curl reads brackets and braces as a pattern.
  const verbatim = /[[\]{}]/.test(url.href) ? ['--globoff'] : [];
  const sent = Object.entries(headers).map(([name, value]) =>
    name === 'authorization'
      ? '--header "authorization: Bearer $SOTRA_API_KEY"'
      : shellLine(['--header', `${name}: ${value}`]),
  );
  const words = ['curl', '--silent', '--show-error', ...verbatim, '--request', method, url.href];
  return `${[shellLine(words), ...sent, ...(body === undefined ? [] : [shellLine(['--data-raw', body])])].join(' ')}\n`;
}
