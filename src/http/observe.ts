import { STATUS_CODES } from 'node:http';
import { safeText } from '../model/safe-text.ts';
import type { HttpAnswer, HttpRequest } from '../world.ts';
import type { CallEvent } from './client.ts';
import { listHeaders, readRequestId } from './failures.ts';
import { maskHeader, maskHeaders } from './preview.ts';
import { hideSecrets, requestHider, secretHider } from './secrets.ts';

interface WatchOptions {
  /** `--verbose`. */
  say: ((line: string) => void) | undefined;
  /** `--include`: status and headers of each answer until they are printed; those of a retried answer are removed. */
  heads: Set<{ text: string }> | undefined;
}

/** Reports the requests and answers of one call. */
export function watchCall({ say, heads }: WatchOptions): (event: CallEvent) => void {
  let hide = secretHider(undefined);
  let head = { text: '' };
  return (event) => {
    if (event.kind === 'request') hide = requestHider(event.request);
    if (say !== undefined) for (const line of describeEvent(event)) say(hide(line));
    if (event.kind === 'wait') heads?.delete(head);
    if (event.kind !== 'answer') return;
    head = { text: hideSecrets(answerHead(event)).split('\n').map(safeText).join('\n') };
    heads?.add(head);
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

/** Status line and headers; ends with an empty line. */
export function answerHead({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>): string {
  const lines = listHeaders(headers).map(({ name, value }) => `${name}: ${value}`);
  return `${[`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(), ...lines].join('\n')}\n\n`;
}
