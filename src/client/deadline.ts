import type { Limits } from '../lib/io.ts';
import { NetworkFailure, readFailure, readProxyFailure } from './failures.ts';

/** Acts once, so many milliseconds after the last `refresh`. */
export type StartTimer = (act: () => void, ms: number) => { refresh: () => void; clear: () => void };

export interface Deadline {
  signal: AbortSignal;
  /** To be called whenever something came. */
  renew: () => void;
  /** To be called once the exchange is over. */
  end: () => void;
  /** What was thrown as a failure of the exchange: `timeout` or `late` where a limit ended it. */
  toFailure: (thrown: unknown, proxy?: URL) => NetworkFailure;
}

/** Ends an exchange after `timeoutMs` of silence, `totalMs` in all, and with the signal of its caller. */
export function startDeadline({ timeoutMs, totalMs, signal }: Limits, startSilence: StartTimer = startTimer): Deadline {
  const stop = new AbortController();
  let expired: 'timeout' | 'late' | undefined;
  const expire = (why: typeof expired) => () => {
    expired ??= why;
    stop.abort();
  };
  const silence = startSilence(expire('timeout'), timeoutMs);
  const total = startTimer(expire('late'), totalMs);
  const stopListening = onAbort(signal, expire(undefined));
  return {
    signal: stop.signal,
    renew: silence.refresh,
    end: () => {
      silence.clear();
      total.clear();
      stopListening();
    },
    toFailure: (thrown, proxy) => {
      if (expired !== undefined) return new NetworkFailure(expired, 'no answer in time', thrown);
      return proxy === undefined ? readFailure(thrown) : readProxyFailure(thrown, proxy);
    },
  };
}

/** The longest timer of Node and browsers. */
export const maxTimerMs = 2 ** 31 - 1;

/** Keeps no process alive. */
const startTimer: StartTimer = (act, ms) => {
  const start = () => {
    const timer = setTimeout(act, Math.max(0, Math.min(ms, maxTimerMs)));
    (timer as { unref?: () => void }).unref?.();
    return timer;
  };
  let timer = start();
  return {
    refresh: () => {
      clearTimeout(timer);
      timer = start();
    },
    clear: () => clearTimeout(timer),
  };
};

const waitingFor = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Acts when a signal is aborted, at once where it is already; gives back what ends the wait. Many calls may wait for one signal, and Node warns
 * of many listeners: there is one for all of them.
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
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
