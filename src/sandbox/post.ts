import { type Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { request as secureRequest } from 'node:https';

/** What is read of an answer: its status says all. */
const answerBytes = 64 * 1024;

interface Posting {
  headers: OutgoingHttpHeaders;
  body: string | Uint8Array;
  /** For the whole of it: an answer that trickles would hold up all that wait behind it. */
  answerMs: number;
  /** Keeps connections to http addresses. */
  agent?: Agent | undefined;
  signal?: AbortSignal | undefined;
}

/** What came of a POST: the status of its answer, or why there was none. */
type Posted = { status: number } | { error: Error; late: boolean };

/** POSTs a delivery to a webhook's destination once; `late`: it was taken and not answered in time. Never throws. */
export function postDelivery(url: string, { headers, body, answerMs, agent, signal }: Posting): Promise<Posted> {
  const secure = url.startsWith('https:');
  const outcome = new Promise<Posted>((resolve) => {
    const failed = (error: Error) => resolve({ error, late: false });
    const sent = (secure ? secureRequest : request)(
      url,
      {
        method: 'POST',
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
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
      resolve({ error: new Error(`no answer within ${answerMs / 1000} s`), late: true });
      sent.destroy();
    }, answerMs);
    sent.on('close', () => clearTimeout(late));
    sent.on('error', failed);
    sent.end(body);
  });
  // A header that no request can have is refused before anything is sent.
  return outcome.catch((error: Error) => ({ error, late: false }));
}

/** Whether a destination took what it was sent. Never throws. */
export function isTaken(status: number): boolean {
  return status >= 200 && status < 300;
}
