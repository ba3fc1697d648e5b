import type { Caller } from '../client/client.ts';
import { type Deadline, onAbort, startDeadline } from '../client/deadline.ts';
import { SotraError } from '../errors.ts';
import type { Transport } from '../lib/io.ts';

/** A function like the global `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A transport over `fetch`. `send` throws NetworkFailure; SotraError `redirect` where a browser keeps the target of a redirect to itself. */
export function createFetchTransport(fetch: Fetch): Transport {
  return {
    send: async ({ method, url, headers, body }, limits) => {
      const deadline = startDeadline(limits);
      const { signal } = deadline;
      try {
        const answer = await fetch(url.href, {
          ...{ method, headers, signal, redirect: 'manual' },
          ...(body !== undefined && { body }),
        });
        if (answer.type === 'opaqueredirect')
          throw new SotraError('redirect', `${url.origin} redirects, and a browser does not say where to`);
        const read = Object.fromEntries(answer.headers);
        return { status: answer.status, headers: read, body: readUntil(answer.body, deadline) };
      } catch (thrown) {
        deadline.end();
        throw thrown instanceof SotraError ? thrown : toFailure(thrown, deadline);
      }
    },
    close: async () => undefined,
  };
}

/** `fetch` wraps what happened to the connection. */
function toFailure(thrown: unknown, deadline: Deadline) {
  return deadline.toFailure((thrown as Error | null)?.cause ?? thrown);
}

/** The parts of a body until the deadline. By a reader: not every browser iterates over a stream. */
async function* readUntil(body: Response['body'], deadline: Deadline): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  try {
    for (;;) {
      const part = await reader?.read();
      deadline.renew();
      if (part === undefined || part.done) return;
      yield part.value;
    }
  } catch (thrown) {
    throw toFailure(thrown, deadline);
  } finally {
    deadline.end();
    // Called too where the reader has enough.
    await reader?.cancel().catch(() => undefined);
  }
}

/** The whole body of an answer, which `fetch` has decoded already. Errors: `bad-answer` for more than `maxBytes`. */
export const readFetchBody: Caller['readBody'] = async (incoming, _, maxBytes) => {
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for await (const chunk of incoming) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new SotraError('bad-answer', `the answer is larger than ${maxBytes} bytes (maxBodyBytes)`, {
        outcome: 'unknown',
      });
    text += decoder.decode(chunk, { stream: true });
  }
  return { text: text + decoder.decode(), bytes };
};

/** Resolves after so many milliseconds. Errors: `interrupted` at the signal. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      stopListening();
      resolve();
    }, ms);
    const stopListening = onAbort(signal, () => {
      clearTimeout(timer);
      reject(new SotraError('interrupted', 'interrupted', { cause: signal.reason }));
    });
  });
}
