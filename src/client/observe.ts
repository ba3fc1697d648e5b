import type { CallEvent } from './client.ts';
import { listHeaders, readRequestId } from './failures.ts';
import { hideSecrets, maskHeader, maskHeaders, requestHider, secretHider } from './secrets.ts';
import type { HttpRequest } from './transport.ts';

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
