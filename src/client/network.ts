import { promisify } from 'node:util';
import type { Dispatcher } from 'undici';
import { isHttpAddress, isLoopback } from '../api/http-address.ts';
import { SotraError, usageError } from '../errors.ts';
import type { Env, Io } from '../lib/io.ts';
import { cutFailure, NetworkFailure, pickHeader, readFailure, readProxyFailure } from './failures.ts';
import { type HttpRequest, type HttpResponse, type Limits, maxTimerMs, type Transport } from './transport.ts';

/**
 * A transport over real sockets, keeping connections alive until `close`; through a proxy if HTTPS_PROXY, HTTP_PROXY and NO_PROXY say so,
 * but never for loopback addresses. In a test, its replacement. Errors: `usage` for a proxy that cannot be used, once one is needed.
 */
export async function createNetwork({
  now,
  env,
  transport,
}: Pick<Io, 'now' | 'env' | 'transport'>): Promise<Transport> {
  if (transport !== undefined) return transport;
  const { Agent, EnvHttpProxyAgent } = await import('undici');
  const direct = new Agent({ connections: 8 });
  let proxied: Dispatcher | undefined;
  const proxies = readProxies(env);
  const chooseDispatcher = ({ hostname }: URL): Dispatcher => {
    if (isLoopback(hostname)) return direct;
    checkProxies(proxies);
    proxied ??= new EnvHttpProxyAgent({ connections: 8, ...proxies });
    return proxied;
  };
  return {
    async send(request, limits) {
      const dispatcher = chooseDispatcher(request.url);
      const proxy = dispatcher === direct ? undefined : proxyFor(request.url, proxies);
      const { body, problem, ...answer } = await exchange(request, limits, { dispatcher, now }).catch((thrown) => {
        if (proxy === undefined) throw nameFailure(thrown, readFailure);
        const failure = nameFailure(thrown, (error) => readProxyFailure(error, proxy));
        throw Object.assign(failure, { proxy: `${proxy.protocol}//${proxy.host}` });
      });
      try {
        if (problem !== undefined) throw problem;
        const decoded = await decode(body, pickHeader(answer.headers, 'content-encoding'), limits.maxBytes);
        return { ...answer, text: utf8.decode(decoded), bytes: decoded.length };
      } catch (thrown) {
        return { ...answer, text: '', bytes: 0, bodyError: nameFailure(thrown, cutFailure) };
      }
    },
    close: async () => void (await Promise.all([direct.destroy(), proxied?.destroy()])),
  };
}

interface Answer extends Pick<HttpResponse, 'status' | 'headers' | 'firstByteMs'> {
  body: Uint8Array;
  /** Why not all of the body came. */
  problem?: unknown;
}

/** Sends a request and receives the answer. By `dispatch`: with undici's `request` and its stream a local call takes a third longer. */
function exchange(
  { method, url, headers, body }: HttpRequest,
  { timeoutMs, totalMs, maxBytes, signal }: Limits,
  { dispatcher, now }: { dispatcher: Dispatcher; now: () => number },
): Promise<Answer> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const startedMs = now();
    let request: Dispatcher.DispatchController | undefined;
    let stopped: Error | undefined;
    let answer: Omit<Answer, 'body'> | undefined;
    const parts: Buffer[] = [];
    let bytes = 0;
    const end = (problem?: unknown) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      if (answer === undefined) reject(problem);
      else resolve({ ...answer, body: Buffer.concat(parts), problem });
    };
    const stop = (reason: Error) => {
      stopped = reason;
      end(reason);
      request?.abort(reason);
    };
    const abort = () => stop(signal.reason);
    const late = () => stop(new NetworkFailure('late', 'no answer in time', undefined));
    const timer = setTimeout(late, Math.min(totalMs, maxTimerMs));
    signal.addEventListener('abort', abort);
    const target = { origin: url.origin, path: url.pathname + url.search, method: method as 'GET', headers };
    const sent = { ...target, body: body ?? null, headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
    dispatcher.dispatch(sent, {
      onRequestStart: (controller) => {
        request = controller;
        if (stopped !== undefined) controller.abort(stopped);
      },
      onResponseStart: (_, status, received) => {
        // Others announce an answer that is still to come.
        if (status < 200) return;
        answer = { status, headers: received, firstByteMs: now() - startedMs };
        if (maxBytes === 0) end();
      },
      onResponseData: (_, part) => {
        bytes += part.length;
        if (bytes > maxBytes) throw tooLarge(maxBytes);
        parts.push(part);
      },
      onResponseEnd: () => end(),
      onResponseError: (_, error) => end(error),
    });
  });
}

/** An error as a failure; `read`: of one that is not about time. */
function nameFailure(error: unknown, read: (error: unknown) => NetworkFailure): Error {
  if (error instanceof SotraError || error instanceof NetworkFailure) return error;
  const { code = '' } = error as { code?: string };
  const isSilent = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'].includes(code);
  return isSilent ? new NetworkFailure('timeout', 'no answer in time', error) : read(error);
}

const utf8 = new TextDecoder();

const decoders = { gzip: 'gunzip', 'x-gzip': 'gunzip', br: 'brotliDecompress', deflate: 'inflate' } as const;

/** A body without its encoding; an empty one is empty in any. Errors: `bad-answer` for more than `maxBytes`, and for what does not decode. */
async function decode(body: Uint8Array, encoding: string | undefined, maxBytes: number): Promise<Uint8Array> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (body.length === 0 || name === '' || name === 'identity') return body;
  if (!Object.hasOwn(decoders, name))
    throw new SotraError('bad-answer', `the service answered in an unsupported encoding: ${name}`, {
      hint: 'Supported: gzip, deflate and br. A proxy may be the cause.',
      outcome: 'unknown',
    });
  const decompress = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(
    (await import('node:zlib'))[decoders[name as keyof typeof decoders]],
  );
  try {
    return await decompress(body, { maxOutputLength: maxBytes });
  } catch (cause) {
    const { code } = cause as { code?: string };
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes);
    throw new SotraError('bad-answer', `the service sent ${name} that cannot be decoded or is cut off`, {
      hint: 'A proxy may be the cause: --verbose shows the headers.',
      outcome: 'unknown',
      cause,
    });
  }
}

function tooLarge(maxBytes: number): SotraError {
  return new SotraError('bad-answer', `the answer is larger than ${formatSize(maxBytes)}`, {
    hint: 'Request fewer items with --limit.',
    outcome: 'unknown',
  });
}

function formatSize(bytes: number): string {
  if (bytes % 1024 ** 2 === 0) return `${bytes / 1024 ** 2} MB`;
  return bytes % 1024 === 0 ? `${bytes / 1024} KB` : `${bytes} bytes`;
}

interface Proxies {
  httpProxy: string;
  httpsProxy: string;
  noProxy: string;
}

/** An empty address is no proxy, even if the process has one in its environment. */
function readProxies(env: Env): Proxies {
  const read = (name: string) => env[name.toLowerCase()] || env[name] || '';
  const noProxy = read('NO_PROXY');
  // undici reads a * only if it is the whole list.
  const isForNone = noProxy.split(/[,\s]/).includes('*');
  if (isForNone) return { httpProxy: '', httpsProxy: '', noProxy };
  return { httpProxy: read('HTTP_PROXY'), httpsProxy: read('HTTPS_PROXY'), noProxy };
}

/** The proxy for an address; undici decides whether NO_PROXY excepts it. */
function proxyFor({ protocol }: URL, { httpProxy, httpsProxy }: Proxies): URL | undefined {
  const proxy = protocol === 'https:' ? httpsProxy || httpProxy : httpProxy;
  return proxy === '' ? undefined : new URL(proxy);
}

function checkProxies({ httpProxy, httpsProxy }: Proxies): void {
  for (const [name, address] of Object.entries({ HTTPS_PROXY: httpsProxy, HTTP_PROXY: httpProxy })) {
    if (address === '' || isProxy(address)) continue;
    const shown = JSON.stringify(address.replace(/^([a-z0-9+.-]*:\/\/)?.*@/is, '$1***@'));
    throw usageError(
      `${name} ${shown}: must be an http, https or socks5 address such as http://proxy.example.com:8080`,
    );
  }
}

/** An address without a path: undici throws a programming error for anything else. */
function isProxy(address: string): boolean {
  const plain = address.replace(/^socks5?:/i, 'http:');
  if (!isHttpAddress(plain)) return false;
  const { pathname, search, hash } = new URL(plain);
  return pathname + search + hash === '/';
}
