import { type Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { hideUrlSecrets } from '../client/secrets.ts';
import { readMessage } from '../errors.ts';

/** How much of an answer is read: only its status counts. */
const answerBytes = 64 * 1024;

export interface DeliveryRequest {
  /** Names and values in turn; sent as they are. */
  headers: readonly string[];
  body: string | Uint8Array;
  /** For the whole exchange: a trickling answer would hold up the deliveries behind it. */
  answerMs: number;
  agent?: Agent | undefined;
  signal?: AbortSignal | undefined;
  /** Waits between two of the ten pieces that the body is sent in; absent: it is sent at once. */
  pause?: (() => Promise<void>) | undefined;
}

export interface PostOutcome {
  /** Whether the answer was 2xx. */
  ok: boolean;
  /** `null` without an answer. */
  status: number | null;
  /** Why it was not accepted. */
  error: string | null;
  /** It may have been accepted, and was not answered in time. */
  late: boolean;
  /** No HTTP request can carry it, so that retries are useless. */
  unsendable: boolean;
  /** No connection was made. */
  unreached?: true;
}

export function postDelivery(
  url: string,
  { headers, body, answerMs, agent, signal, pause }: DeliveryRequest,
): Promise<PostOutcome> {
  const secure = url.startsWith('https:');
  const outcome = new Promise<PostOutcome>((resolve) => {
    let [isConnected, isAnswered] = [false, false];
    const fail = (error: Error, late = false) =>
      resolve({ ...unanswered(error), late, ...(isConnected ? {} : { unreached: true }) });
    const failed = (error: Error) => fail(error);
    const sent = (secure ? secureRequest : request)(
      url,
      {
        method: 'POST',
        headers: [...headers, ...ownHeaders(url, headers), 'content-length', String(Buffer.byteLength(body))],
        ...(agent === undefined || secure ? {} : { agent }),
        ...(signal === undefined ? {} : { signal }),
      },
      (answer: IncomingMessage) => {
        isAnswered = true;
        const done = () => resolve(answered(answer));
        let bytes = 0;
        answer.on('error', failed);
        answer.on('end', done);
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes <= answerBytes) return;
          done();
          sent.destroy();
        });
      },
    );
    const late = setTimeout(() => {
      fail(new Error(`no answer within ${answerMs / 1000} s`), true);
      sent.destroy();
    }, answerMs);
    sent.on('close', () => {
      clearTimeout(late);
      // An answer that switches protocols counts as none, and Node reports no error for it.
      failed(new Error(isAnswered ? 'the answer was cut off' : 'the connection was closed without an answer'));
    });
    sent.on('error', failed);
    sent.on('socket', (socket) => {
      isConnected = !socket.connecting;
      // A connection that is used again would collect listeners.
      if (isConnected) return;
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        isConnected = true;
      });
    });
    if (pause === undefined) sent.end(body);
    else sendSlowly(sent, Buffer.from(body), pause).catch(failed);
  });
  // A header that no request can have is refused before anything is sent.
  return outcome.catch((error: Error) => ({ ...unanswered(error), unsendable: true }));
}

async function sendSlowly(sent: ClientRequest, body: Buffer, pause: () => Promise<void>): Promise<void> {
  const size = Math.ceil(body.length / 10);
  for (let at = 0; at < body.length && !sent.destroyed; at += size) {
    if (at > 0) await pause();
    sent.write(body.subarray(at, at + size));
  }
  sent.end();
}

/** Headers that Node adds itself only if the headers are an object. */
function ownHeaders(url: string, headers: readonly string[]): string[] {
  const { auth } = urlToHttpOptions(new URL(url));
  const hasLogin = headers.some((each, index) => index % 2 === 0 && each.toLowerCase() === 'authorization');
  const login = !auth || hasLogin ? [] : ['authorization', `Basic ${Buffer.from(auth).toString('base64')}`];
  return ['host', new URL(url).host, ...login];
}

function answered({ statusCode: status = 0, headers: { location } }: IncomingMessage): PostOutcome {
  const ok = status >= 200 && status < 300;
  const leadsTo =
    status >= 300 && status < 400 && location !== undefined ? `, a redirect to ${hideUrlSecrets(location)}` : '';
  const error = ok ? null : `HTTP ${status}${leadsTo.slice(0, 500)}`;
  return { ok, status, error, late: false, unsendable: false };
}

function unanswered(error: Error): PostOutcome {
  return { ok: false, status: null, error: readMessage(error), late: false, unsendable: false };
}
