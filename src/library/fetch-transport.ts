import { SotraError } from '../errors.ts';
import type { Caller } from '../http/client.ts';
import { failureOf, NetworkFailure } from '../http/failures.ts';
import type { Limits, Transport } from '../world.ts';

/** A function like the global `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A transport over `fetch`; `idle` is a signal that never comes. `send` throws NetworkFailure; SotraError `redirect` where a browser keeps the target of a redirect to itself. */
export function fetchTransport(fetch: Fetch, idle: AbortSignal): Transport {
  const timer = startTimer();
  return {
    send: async ({ method, url, headers, body }, limits) => {
      const deadline = startDeadline(limits, timer, idle);
      const init = {
        method,
        headers,
        redirect: 'manual',
        signal: deadline.signal,
        ...(body !== undefined && { body }),
      };
      try {
        const answer = await fetch(url.href, init as RequestInit);
        if (answer.type === 'opaqueredirect')
          throw new SotraError('redirect', `${url.origin} redirects, and a browser does not say where to`);
        return {
          status: answer.status,
          headers: headersOf(answer),
          body: readUntil(answer.body, deadline),
        };
      } catch (thrown) {
        deadline.end();
        throw thrown instanceof SotraError ? thrown : deadline.failure(thrown);
      }
    },
    close: async () => undefined,
  };
}

/** The headers that calls look at: to list all of them takes longer. */
function headersOf({ headers }: Response): Record<string, string | undefined> {
  const names = ['x-request-id', 'request-id', 'retry-after', 'location'];
  return Object.fromEntries(names.map((name) => [name, headers.get(name) ?? undefined]));
}

/** The parts of a body until the deadline. Not every browser iterates over a stream, and a generator costs more than the rest of a call. */
function readUntil(body: Response['body'], deadline: Deadline): AsyncIterable<Uint8Array> {
  const reader = body?.getReader();
  const end: IteratorResult<Uint8Array> = { done: true, value: undefined };
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    try {
      const part = (await reader?.read()) ?? end;
      deadline.renew();
      if (part.done) deadline.end();
      return part as IteratorResult<Uint8Array>;
    } catch (thrown) {
      deadline.end();
      throw deadline.failure(thrown);
    }
  };
  // Called where the reader has enough.
  const stop = async () => {
    deadline.end();
    await reader?.cancel();
    return end;
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: stop }) };
}

interface Deadline {
  signal: AbortSignal;
  renew: () => void;
  end: () => void;
  failure: (thrown: unknown) => NetworkFailure;
}

/** What a timer looks after. */
interface Waiter {
  dueMs: () => number;
  expire: () => void;
}

interface Timer {
  add: (one: Waiter) => void;
  remove: (one: Waiter) => void;
}

/** One timer for all calls of a client, which goes on between them: to set and clear one each would cost a tenth of a call. */
function startTimer(): Timer {
  const waiting = new Set<Waiter>();
  let firesMs = Number.POSITIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    firesMs = Number.POSITIVE_INFINITY;
    const nowMs = Date.now();
    for (const one of waiting) if (one.dueMs() <= nowMs) one.expire();
    for (const one of waiting) fireAt(one.dueMs());
  };
  const fireAt = (dueMs: number) => {
    if (dueMs >= firesMs) return;
    clearTimeout(timer);
    firesMs = dueMs;
    timer = setTimeout(look, Math.max(0, dueMs - Date.now()));
    // Node ends when nothing but this is left.
    (timer as { unref?: () => void }).unref?.();
  };
  return {
    add: (one) => {
      waiting.add(one);
      fireAt(one.dueMs());
    },
    remove: (one) => void waiting.delete(one),
  };
}

/** One signal for both limits and the caller's own signal. */
function startDeadline({ timeoutMs, totalMs, signal }: Limits, timer: Timer, idle: AbortSignal): Deadline {
  const stop = new AbortController();
  const lastMs = Date.now() + totalMs;
  let heardMs = Date.now();
  let expired: 'timeout' | 'late' | undefined;
  const interrupt = () => stop.abort();
  const waiting: Waiter = {
    dueMs: () => Math.min(heardMs + timeoutMs, lastMs),
    expire: () => {
      expired = Date.now() < lastMs ? 'timeout' : 'late';
      end();
      stop.abort();
    },
  };
  const end = () => {
    timer.remove(waiting);
    stopListening();
  };
  timer.add(waiting);
  const stopListening = signal === idle ? () => undefined : onAbort(signal, interrupt);
  return {
    signal: stop.signal,
    renew: () => {
      heardMs = Date.now();
    },
    end,
    failure: (thrown) =>
      expired === undefined
        ? failureOf((thrown as Error | null)?.cause ?? thrown)
        : new NetworkFailure(expired, 'no answer in time', thrown),
  };
}

/** The whole body of an answer, which `fetch` has decoded already. Errors: `bad-answer` for more than `maxBytes`. */
export const readBody: Caller['readBody'] = async (incoming, _, maxBytes) => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of incoming) {
    length += chunk.length;
    if (length > maxBytes)
      throw new SotraError('bad-answer', `the answer is larger than ${maxBytes} bytes (maxBodyBytes)`, {
        outcome: 'unknown',
      });
    chunks.push(chunk);
  }
  const body = chunks.length === 1 && chunks[0] ? chunks[0] : joined(chunks, length);
  return { text: new TextDecoder().decode(body), body };
};

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

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

const waitingFor = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls when a signal is aborted, at once where it is already; gives what ends it. Many calls wait for one signal, and Node warns of many
 * listeners: there is one for all of them.
 */
function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) {
    act();
    return () => undefined;
  }
  const known = waitingFor.get(signal);
  const acts = known ?? new Set();
  if (known === undefined) {
    waitingFor.set(signal, acts);
    signal.addEventListener('abort', () => [...acts].map((each) => each()), { once: true });
  }
  acts.add(act);
  return () => void acts.delete(act);
}
