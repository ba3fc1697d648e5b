import { type LookupOptions, lookup } from 'node:dns';
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import type { buildConnector, Dispatcher } from 'undici';
import { usageError } from '../errors.ts';
import type { Limits, Timing, Transport } from '../world.ts';
import { failureOf, NetworkFailure } from './failures.ts';

interface TransportOptions {
  now: () => number;
  node: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Node's own timer when absent; tests bring theirs. */
  startTimer?: StartTimer;
}

/** Acts once, so many milliseconds after the last `refresh`. */
export type StartTimer = (act: () => void, ms: number) => { refresh: () => void; clear: () => void };

/**
 * A transport over real sockets, keeping connections alive until `close`; through a proxy where HTTPS_PROXY, HTTP_PROXY and NO_PROXY say
 * so, but never to this machine. `send` throws NetworkFailure.
 */
export async function createTransport({
  now,
  node,
  env,
  startTimer = nodeTimer,
}: TransportOptions): Promise<Transport> {
  // Before Node 22 a short process waits at exit for V8 to optimize undici's parser (about 60 ms).
  if (Number.parseInt(node, 10) < 22) setFlagsFromString('--liftoff-only');
  const { default: buildConnector } = await import('undici/lib/core/connect.js');
  const { connect, takeLatest } = timedConnector(now, buildConnector);
  const agent = (await proxied(env)) ?? (await direct(connect));
  const ask = await requester(agent);
  return {
    async send(request, limits) {
      const started = now();
      const deadline = startDeadline(limits, startTimer);
      try {
        const answer = await ask({
          origin: request.url.origin,
          path: request.url.pathname + request.url.search,
          method: request.method as 'GET',
          headers: request.headers,
          body: request.body ?? null,
          // undici counts in whole seconds; our limits are exact.
          headersTimeout: 0,
          bodyTimeout: 0,
          signal: deadline.signal,
        });
        const timing = { ...takeLatest(started), firstByteMs: now() - started };
        return { status: answer.statusCode, headers: answer.headers, body: readUntil(answer.body, deadline), timing };
      } catch (error) {
        deadline.end();
        throw networkFailure(error, deadline);
      }
    },
    close: () => agent.destroy(),
  };
}

const connectTimeoutMs = 10_000;

async function direct(connect: buildConnector.connector): Promise<Dispatcher> {
  const { default: Agent } = await import('undici/lib/dispatcher/agent.js');
  return new Agent({ connections: 8, connect });
}

async function proxied(env: TransportOptions['env']): Promise<Dispatcher | undefined> {
  const named = (name: string) => env[name.toLowerCase()] || env[name] || undefined;
  const [httpsProxy, httpProxy, noProxy] = [named('HTTPS_PROXY'), named('HTTP_PROXY'), named('NO_PROXY')];
  if ((httpsProxy === undefined && httpProxy === undefined) || noProxy === '*') return undefined;
  for (const [name, address] of Object.entries({ HTTPS_PROXY: httpsProxy, HTTP_PROXY: httpProxy }))
    if (address !== undefined && !isProxy(address))
      throw usageError(
        `${name} ${JSON.stringify(address.replace(/^.*@/s, '***@'))}: must be an address such as http://proxy.example.com:8080`,
      );
  const { default: EnvHttpProxyAgent } = await import('undici/lib/dispatcher/env-http-proxy-agent.js');
  const { default: Pool } = await import('undici/lib/dispatcher/pool.js');
  const { default: ask } = await import('undici/lib/api/api-connect.js');
  return new EnvHttpProxyAgent({
    connections: 8,
    noProxy: ['localhost', '127.0.0.1', '[::1]', noProxy].join(),
    connect: { timeout: connectTimeoutMs },
    // undici's index adds this to every dispatcher: how to ask the proxy for a tunnel.
    clientFactory: (origin, options) => Object.assign(new Pool(origin, options), { connect: ask }),
    ...(httpProxy && { httpProxy }),
    ...(httpsProxy && { httpsProxy }),
  });
}

/** undici reports anything but a bare address as an error of its caller. */
function isProxy(address: string): boolean {
  const { protocol, pathname, search, hash, username, password } = URL.canParse(address)
    ? new URL(address)
    : new URL('x:');
  const isReadable = [username, password].every(isUtf8);
  const isBare = ['', '/'].includes(pathname) && search === '' && hash === '';
  return /^(?:https?|socks5?):/.test(protocol) && isBare && isReadable;
}

function isUtf8(escaped: string): boolean {
  try {
    return decodeURIComponent(escaped) !== undefined;
  } catch {
    return false;
  }
}

async function requester(
  agent: Dispatcher,
): Promise<(options: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData>> {
  const { default: request } = await import('undici/lib/api/api-request.js');
  return (options) =>
    new Promise((resolve, reject) =>
      request.call(agent, options, (error, answer) => (error === null ? resolve(answer) : reject(error))),
    );
}

type ConnectTimes = Pick<Timing, 'dnsMs' | 'connectMs'>;

/** A connector that measures; `takeLatest` gives the times of a new connection to one request only. */
function timedConnector(now: () => number, build: typeof buildConnector) {
  const made: { at: number; times: ConnectTimes }[] = [];
  const looked: Pick<Timing, 'dnsMs'>[] = [];
  const find = (hostname: string, options: LookupOptions, done: (...found: never[]) => void) => {
    const started = now();
    lookup(hostname, options, (...found: unknown[]) => {
      looked.push({ dnsMs: now() - started });
      done(...(found as never[]));
    });
  };
  const connecting = build({ lookup: find as never, port: 0, timeout: connectTimeoutMs });
  const connect: buildConnector.connector = (options, callback) => {
    const started = now();
    connecting(options, (...[error, socket]: Parameters<buildConnector.Callback>) => {
      if (error !== null) return callback(error, null);
      made.push({ at: now(), times: { ...looked.pop(), connectMs: now() - started } });
      callback(null, withoutContinue(socket));
    });
  };
  const takeLatest = (since: number): ConnectTimes => {
    const latest = made.findIndex(({ at }) => at >= since);
    return latest === -1 ? {} : (made.splice(latest, 1)[0]?.times ?? {});
  };
  return { connect, takeLatest };
}

const interim = /^HTTP\/1\.1 100 [^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n/;
/** More than any interim answer has. */
const maxInterimCharacters = 16_384;

/** Removes `100 Continue` before an answer: HTTP allows it unasked, and undici fails on it. */
function withoutContinue<S extends Socket>(socket: S): S {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  const push = socket.push.bind(socket);
  let isNext = false;
  let held = '';
  socket.write = (...args: unknown[]) => {
    isNext = true;
    return write(...args);
  };
  socket.push = (chunk: Uint8Array | null, encoding?: BufferEncoding) => {
    if (!isNext) return push(chunk, encoding);
    held += chunk === null ? '' : Buffer.from(chunk).toString('latin1');
    for (let match = interim.exec(held); match !== null; match = interim.exec(held)) held = held.slice(match[0].length);
    const isBegun = 'HTTP/1.1 100 '.startsWith(held.slice(0, 13)) && held.length < maxInterimCharacters;
    if (chunk !== null && isBegun) return true;
    isNext = false;
    const rest = Buffer.from(held, 'latin1');
    held = '';
    const goesOn = push(rest);
    return chunk === null ? push(null) : goesOn;
  };
  return socket;
}

interface Deadline {
  signal: AbortSignal;
  expired: () => 'timeout' | 'late' | undefined;
  renew: () => void;
  end: () => void;
}

/** The longest timer of Node. */
const maxTimerMs = 2 ** 31 - 1;

/** One signal for all limits: signals made of signals were the largest cost of a thousand exchanges. */
function startDeadline({ timeoutMs, totalMs, signal }: Limits, startTimer: StartTimer): Deadline {
  const stop = new AbortController();
  let expiry: 'timeout' | 'late' | undefined;
  const endFor = (why: typeof expiry) => () => {
    expiry ??= why;
    stop.abort();
  };
  const interrupted = endFor(undefined);
  const silence = startTimer(endFor('timeout'), timeoutMs);
  const total = setTimeout(endFor('late'), Math.max(0, Math.min(totalMs, maxTimerMs))).unref();
  if (signal.aborted) interrupted();
  else signal.addEventListener('abort', interrupted);
  return {
    signal: stop.signal,
    expired: () => expiry,
    renew: silence.refresh,
    end: () => {
      silence.clear();
      clearTimeout(total);
      signal.removeEventListener('abort', interrupted);
    },
  };
}

const nodeTimer: StartTimer = (act, ms) => {
  const timer = setTimeout(act, ms).unref();
  return { refresh: () => void timer.refresh(), clear: () => clearTimeout(timer) };
};

async function* readUntil(body: AsyncIterable<Uint8Array>, deadline: Deadline): AsyncIterable<Uint8Array> {
  deadline.renew();
  try {
    for await (const chunk of body) {
      deadline.renew();
      yield chunk;
    }
  } catch (error) {
    throw networkFailure(error, deadline);
  } finally {
    deadline.end();
  }
}

function networkFailure(error: unknown, { expired }: Deadline): NetworkFailure {
  const late = expired();
  return late === undefined ? failureOf(error) : new NetworkFailure(late, 'no answer in time', error);
}
