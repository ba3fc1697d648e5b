import type { HttpRequest } from './http.ts';

/** Thrown instead of sending when the user asked to see the request (`--dry-run`, `--curl`). */
export class RequestPreview extends Error {
  readonly request: HttpRequest;
  constructor(request: HttpRequest) {
    super('the request was not sent');
    this.request = request;
  }
}

/** Headers with the key replaced by `***`. Never throws. */
export function maskHeaders(headers: HttpRequest['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, name === 'authorization' ? 'Bearer ***' : value]),
  );
}

/** The request as it would travel: request line, headers with a masked key, body. Ends with a newline. Never throws. */
export function describeRequest(request: HttpRequest): string {
  const headers = Object.entries(maskHeaders(request.headers)).map(([name, value]) => `${name}: ${value}`);
  const body = request.body === undefined ? [] : ['', request.body];
  return `${[`${request.method} ${request.url.href}`, ...headers, ...body].join('\n')}\n`;
}

/** A curl line that does the same when pasted into a shell; the key is `$SOTRA_API_KEY`. Ends with a newline. Never throws. */
export function curlLine(request: HttpRequest): string {
  // Left alone, curl would read brackets and braces in an address as a pattern.
  const verbatim = /[[\]{}]/.test(request.url.href) ? ['--globoff'] : [];
  const parts = ['curl', '--silent', '--show-error', ...verbatim, '--request', request.method, quote(request.url.href)];
  for (const [name, value] of Object.entries(request.headers))
    parts.push(
      '--header',
      name === 'authorization' ? '"authorization: Bearer $SOTRA_API_KEY"' : quote(`${name}: ${value}`),
    );
  if (request.body !== undefined) parts.push('--data-raw', quote(request.body));
  return `${parts.join(' ')}\n`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
