import { type Agent, type IncomingMessage, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { urlToHttpOptions } from 'node:url';

/** What is read of an answer: its status says all. */
const answerBytes = 64 * 1024;

interface Posting {
  /** Names and values in turn; sent as they are. */
  headers: readonly string[];
  body: string | Uint8Array;
  /** For the whole of it: an answer that trickles would hold up all that wait behind it. */
  answerMs: number;
  agent?: Agent | undefined;
  signal?: AbortSignal | undefined;
}

/** The status of the answer, or why there was none. */
type Posted =
  | { status: number }
  | {
      error: Error;
      /** It was taken and not answered in time. */
      late: boolean;
      /** No request can carry it, however often it is tried. */
      unsendable: boolean;
    };

export function postDelivery(url: string, { headers, body, answerMs, agent, signal }: Posting): Promise<Posted> {
  const secure = url.startsWith('https:');
  const outcome = new Promise<Posted>((resolve) => {
    const failed = (error: Error) => resolve({ error, late: false, unsendable: false });
    const sent = (secure ? secureRequest : request)(
      url,
      {
        method: 'POST',
        headers: [...headers, ...ownHeaders(url, headers), 'content-length', String(Buffer.byteLength(body))],
        ...(agent === undefined || secure ? {} : { agent }),
        ...(signal === undefined ? {} : { signal }),
      },
      (answer: IncomingMessage) => {
        const done = () => resolve({ status: answer.statusCode ?? 0 });
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
      resolve({ error: new Error(`no answer within ${answerMs / 1000} s`), late: true, unsendable: false });
      sent.destroy();
    }, answerMs);
    sent.on('close', () => {
      clearTimeout(late);
      // An answer that switches protocols counts as none, and Node reports no error for it.
      failed(new Error('the connection was closed without an answer'));
    });
    sent.on('error', failed);
    sent.end(body);
  });
  // A header that no request can have is refused before anything is sent.
  return outcome.catch((error: Error) => ({ error, late: false, unsendable: true }));
}

/** What Node itself adds only to headers that are an object. */
function ownHeaders(url: string, headers: readonly string[]): string[] {
  const { auth } = urlToHttpOptions(new URL(url));
  const hasLogin = headers.some((each, index) => index % 2 === 0 && each.toLowerCase() === 'authorization');
  const login = !auth || hasLogin ? [] : ['authorization', `Basic ${Buffer.from(auth).toString('base64')}`];
  return ['host', new URL(url).host, ...login];
}

export function isTaken(status: number): boolean {
  return status >= 200 && status < 300;
}
