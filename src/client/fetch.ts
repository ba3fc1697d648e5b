import { SotraError } from '../errors.ts';
import { cutFailure, NetworkFailure, readFailure } from './failures.ts';
import { type HttpResponse, maxTimerMs, type Transport } from './transport.ts';

/** A function like the global `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A transport over `fetch`. Errors: also SotraError `redirect` if a browser hides the target of a redirect. */
export function createFetchTransport(fetch: Fetch): Transport {
  return {
    send: async ({ method, url, headers, body }, limits) => {
      const stop = new AbortController();
      const stopAfter = (ms: number, kind: 'late' | 'timeout') => {
        const end = () => stop.abort(new NetworkFailure(kind, 'no answer in time', undefined));
        return setTimeout(end, Math.min(ms, maxTimerMs));
      };
      const late = stopAfter(limits.totalMs, 'late');
      let silence = stopAfter(limits.timeoutMs, 'timeout');
      const restart = () => {
        clearTimeout(silence);
        silence = stopAfter(limits.timeoutMs, 'timeout');
      };
      const nameFailure = (thrown: unknown, read: (error: unknown) => NetworkFailure): Error => {
        if (thrown instanceof SotraError) return thrown;
        if (stop.signal.aborted) return stop.signal.reason;
        // `fetch` wraps what happened to the connection.
        return read((thrown as Error | null)?.cause ?? thrown);
      };
      try {
        const signal = AbortSignal.any([limits.signal, stop.signal]);
        const sent = { method, headers, redirect: 'manual', signal, ...(body !== undefined && { body }) } as const;
        const response = await fetch(url.href, sent);
        if (response.type === 'opaqueredirect')
          throw new SotraError('redirect', `${url.origin} redirects, but a browser does not say where`);
        const read = await readBody(response.body, limits.maxBytes, restart).catch((thrown: unknown) => ({
          text: '',
          bytes: 0,
          bodyError: nameFailure(thrown, cutFailure),
        }));
        return { status: response.status, headers: Object.fromEntries(response.headers), ...read };
      } catch (thrown) {
        throw nameFailure(thrown, readFailure);
      } finally {
        clearTimeout(late);
        clearTimeout(silence);
      }
    },
    close: async () => undefined,
  };
}

/** The body, which `fetch` has decoded already. By a reader: not every browser iterates over a stream. */
async function readBody(
  body: Response['body'],
  maxBytes: number,
  onChunk: () => void,
): Promise<Pick<HttpResponse, 'text' | 'bytes'>> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  try {
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
      onChunk();
      bytes += part.value.length;
      if (bytes > maxBytes)
        throw new SotraError('bad-answer', `the answer is larger than ${maxBytes} bytes (maxBodyBytes)`, {
          outcome: 'unknown',
        });
      text += decoder.decode(part.value, { stream: true });
    }
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
  return { text: text + decoder.decode(), bytes };
}

/** Resolves after `ms` milliseconds. Errors: `interrupted` when the signal aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  // A signal of its own: Node warns of many listeners on one.
  const stop = AbortSignal.any([signal]);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const end = () => {
      clearTimeout(timer);
      reject(new SotraError('interrupted', 'interrupted', { cause: signal.reason }));
    };
    if (stop.aborted) end();
    else stop.addEventListener('abort', end);
  });
}
