import type { HttpRequest } from '../io.ts';
import { parseJson } from '../model/json.ts';
import { secretParameter } from '../model/secret-names.ts';
import { shellLine } from '../model/shell.ts';
import { hidden, hideUrlSecrets } from '../model/url-secrets.ts';

interface PreviewNote {
  text: string;
  facts: Readonly<Record<string, unknown>>;
}

/** Thrown instead of sending, for `--dry-run` and `--curl`. */
export class RequestPreview extends Error {
  readonly request: HttpRequest;
  readonly about: PreviewNote | undefined;
  constructor(request: HttpRequest, about?: PreviewNote) {
    super('the request was not sent');
    this.request = request;
    this.about = about;
  }
  /** Request line, headers with a masked key, body. */
  toText(): string {
    const { method, url, headers, body } = this.request;
    const shown = Object.entries(maskHeaders(headers)).map(([name, value]) => `${name}: ${value}`);
    return `${[`${method} ${url.href}`, ...shown, ...(body === undefined ? [] : ['', body])].join('\n')}\n`;
  }
  toCurl(): string {
    return curlLine(this.request);
  }
  /** As JSON, the key masked. Takes a body that is JSON. */
  toObject(): Record<string, unknown> {
    const { method, url, headers, body } = this.request;
    const request = { method, url: url.href, headers: maskHeaders(headers), ...(body && { body: parseJson(body) }) };
    return this.about === undefined ? request : { ...this.about.facts, request };
  }
}

/** The preview of a delivery to a webhook; `headers` alternate names and values. */
export function deliveryPreview(to: string, headers: readonly string[], body: string): RequestPreview {
  const named: Record<string, string> = {};
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const [name = '', value = ''] = headers.slice(index, index + 2);
    named[name] = name in named ? `${named[name]}, ${value}` : value;
  }
  return new RequestPreview({ method: 'POST', url: new URL(to), headers: named, body });
}

/** By their names; that of a delivery's signature says nothing without the secret, and has to be compared. */
const secretHeader = new RegExp(`^(?:set-)?cookie$|^(?!idempotency-key$|.*signature$)${secretParameter}$`, 'i');

/** A header with its secret replaced by `***`. */
export function maskHeader(name: string, value: string): string {
  if (/^authorization$/i.test(name)) return `${/^\w+(?= )/.exec(value)?.[0] ?? 'Bearer'} ${hidden}`;
  return secretHeader.test(name) ? hidden : hideUrlSecrets(value);
}

export function maskHeaders(headers: HttpRequest['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, maskHeader(name, value)]));
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
