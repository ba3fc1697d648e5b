import { safeText } from '../output/safe-text.ts';
import type { HttpRequest } from '../world.ts';
import type { CallEvent } from './client.ts';
import { headerOf } from './failures.ts';
import { answerHead, type Exchange } from './har.ts';
import { maskHeaders } from './preview.ts';
import { hideSecrets, secretHider } from './secrets.ts';
import type { Trace } from './trace.ts';

export interface Watching {
  /** `--verbose`: a line of what happens. */
  say: ((line: string) => void) | undefined;
  /** `--include`: holds status and headers of each answer, until they are printed; an answer that is asked for again goes. */
  heads: Set<{ text: string }> | undefined;
  /** `--trace-file`. */
  trace: Trace | undefined;
  now: () => number;
}

/** Tells of one call's requests and answers to whoever asked to see them. One observer is one call. */
export function watchCall({ say, heads, trace, now }: Watching): (event: CallEvent) => void {
  let sent: Omit<Exchange, 'outcome'> | undefined;
  let why: string | undefined;
  let hide = secretHider(undefined);
  let head = { text: '' };
  return (event) => {
    if (event.kind === 'request') hide = secretHider(event.request.headers['authorization']?.replace(/^Bearer /, ''));
    if (say !== undefined) for (const line of describeEvent(event)) say(hide(line));
    if (event.kind === 'request') sent = { startedMs: now(), request: event.request, attempt: event.attempt, why };
    else if (event.kind === 'wait') {
      why = event.why;
      heads?.delete(head);
    } else {
      if (sent !== undefined) trace?.add({ ...sent, outcome: event });
      if (event.kind !== 'answer') return;
      head = { text: safeHead(event) };
      heads?.add(head);
    }
  };
}

function safeHead(event: Extract<CallEvent, { kind: 'answer' }>): string {
  return hideSecrets(answerHead(event)).split('\n').map(safeText).join('\n');
}

function describeEvent(event: CallEvent): string[] {
  switch (event.kind) {
    case 'request':
      return describeSent(event.request, event.attempt);
    case 'answer': {
      const { status, ms, bytes, headers, text } = event;
      const shown = Object.entries(headers).map(([name, value]) => `< ${name}: ${[value].flat().join(', ')}`);
      const body = status >= 400 ? [`< ${shortened(text)}`] : [];
      return [`< ${status} in ${Math.round(ms)} ms, ${bytes} bytes${describeParts(event)}`, ...shown, ...body];
    }
    case 'failure':
      return [`! ${event.message} after ${Math.round(event.ms)} ms`];
    case 'wait':
      return [`! waiting ${event.ms} ms: ${event.why}`];
  }
}

/** The start of a text, without secrets, however long it is. */
function shortened(text: string): string {
  return hideSecrets(text.slice(0, 100_000)).slice(0, 2000);
}

function describeSent({ method, url, headers, body }: HttpRequest, attempt: number): string[] {
  const shown = Object.entries(maskHeaders(headers)).map(([name, value]) => `> ${name}: ${value}`);
  const again = attempt === 1 ? '' : ` (attempt ${attempt})`;
  return [`> ${method} ${url.href}${again}`, ...shown, ...(body === undefined ? [] : [`> ${shortened(body)}`])];
}

/** ` (dns 1, connect 3, first byte 12 ms), request id abc`; without what is not known. */
function describeParts({ timing, headers }: Extract<CallEvent, { kind: 'answer' }>): string {
  const parts = [
    timing?.dnsMs === undefined ? [] : [`dns ${Math.round(timing.dnsMs)}`],
    timing?.connectMs === undefined ? [] : [`connect ${Math.round(timing.connectMs)}`],
    timing === undefined ? [] : [`first byte ${Math.round(timing.firstByteMs)}`],
  ].flat();
  const requestId = headerOf(headers, 'x-request-id') ?? headerOf(headers, 'request-id');
  return `${parts.length === 0 ? '' : ` (${parts.join(', ')} ms)`}${requestId === undefined ? '' : `, request id ${requestId}`}`;
}
