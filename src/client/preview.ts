import { parseJson } from '../api/json.ts';
import type { CallEvent } from './client.ts';
import { listHeaders, readRequestId } from './failures.ts';
import { hideSecrets, maskHeader, maskHeaders, requestHider, secretHider } from './secrets.ts';
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

/** Prints the requests and answers of one call, line by line, for `--verbose`. */
export function watchCall(say: (line: string) => void): (event: CallEvent) => void {
  let hide = secretHider(undefined);
  return (event) => {
    if (event.kind === 'request') hide = requestHider(event.request);
    for (const line of describeEvent(event)) say(hide(line));
  };
}

function describeEvent(event: CallEvent): string[] {
  switch (event.kind) {
    case 'request':
      return describeSent(event.request, event.attempt);
    case 'answer': {
      const { status, ms, bytes, headers, text } = event;
      const shown = listHeaders(headers).map(({ name, value }) => `< ${name}: ${maskHeader(name, value)}`);
      const body = status >= 400 ? [`< ${shorten(text)}`] : [];
      return [`< ${status} in ${Math.round(ms)} ms, ${bytes} bytes${describeParts(event)}`, ...shown, ...body];
    }
    case 'failure':
      return [`! ${event.message} after ${Math.round(event.ms)} ms`];
    case 'wait':
      return [`! waiting ${event.ms} ms: ${event.why}`];
  }
}

function shorten(text: string): string {
  return hideSecrets(text.slice(0, 100_000)).slice(0, 2000);
}

function describeSent({ method, url, headers, body }: HttpRequest, attempt: number): string[] {
  const shown = Object.entries(maskHeaders(headers)).map(([name, value]) => `> ${name}: ${value}`);
  const again = attempt === 1 ? '' : ` (attempt ${attempt})`;
  return [`> ${method} ${url.href}${again}`, ...shown, ...(body === undefined ? [] : [`> ${shorten(body)}`])];
}

function describeParts({ firstByteMs, headers }: Extract<CallEvent, { kind: 'answer' }>): string {
  const requestId = readRequestId(headers);
  const firstByte = firstByteMs === undefined ? '' : ` (first byte ${Math.round(firstByteMs)} ms)`;
  return `${firstByte}${requestId === undefined ? '' : `, request id ${requestId}`}`;
}
