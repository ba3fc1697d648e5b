import { promisify } from 'node:util';
import type { Dispatcher } from 'undici';
import { isHttpAddress, isLoopback } from '../api/http-address.ts';
import { SotraError, usageError } from '../errors.ts';
import { collectBytes, type Env, type Io } from '../lib/io.ts';
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
  const { Agent, EnvHttpProxyAgent, request: sendRequest } = await import('undici');
  const direct = new Agent({ connections: 8 });
  let proxied: Dispatcher | undefined;
  const proxies = readProxies(env);
  const chooseDispatcher = ({ hostname }: URL): Dispatcher => {
    if (isLoopback(hostname)) return direct;
    checkProxies(proxies);
    proxied ??= new EnvHttpProxyAgent({ connections: 8, ...proxies });
    return proxied;
  };
  const exchange = async (request: HttpRequest, limits: Limits, signal: AbortSignal): Promise<HttpResponse> => {
    const { url, method, headers, body = null } = request;
    const { timeoutMs, maxBytes } = limits;
    const dispatcher = chooseDispatcher(url);
    const proxy = dispatcher === direct ? undefined : proxyFor(url, proxies);
    const startedMs = now();
    const sent = { dispatcher, method: method as 'GET', headers, body, signal };
    const received = await sendRequest(url, { ...sent, headersTimeout: timeoutMs, bodyTimeout: timeoutMs }).catch(
      (thrown) => {
        throw nameFailure(thrown, (error) =>
          proxy === undefined ? readFailure(error) : readProxyFailure(error, proxy),
        );
      },
    );
    const answer = { status: received.statusCode, headers: received.headers, firstByteMs: now() - startedMs };
    try {
      const bytes = await collectBytes(received.body, maxBytes);
      if (bytes === undefined) throw tooLarge(maxBytes);
      const decoded = await decode(bytes, pickHeader(answer.headers, 'content-encoding'), maxBytes);
      return { ...answer, text: utf8.decode(decoded), bytes: decoded.length };
    } catch (thrown) {
      return { ...answer, text: '', bytes: 0, bodyError: nameFailure(thrown, cutFailure) };
    }
  };
  return {
    send: async (request, limits) => {
      const late = new AbortController();
      const stop = () => late.abort(new NetworkFailure('late', 'no answer in time', undefined));
      const timer = setTimeout(stop, Math.min(limits.totalMs, maxTimerMs));
      const signal = AbortSignal.any([limits.signal, late.signal]);
      return exchange(request, limits, signal).finally(() => clearTimeout(timer));
    },
    close: async () => void (await Promise.all([direct.destroy(), proxied?.destroy()])),
  };
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
    });
  const decompress = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(
    (await import('node:zlib'))[decoders[name as keyof typeof decoders]],
  );
  try {
    return await decompress(body, { maxOutputLength: maxBytes });
  } catch (cause) {
    const { code } = cause as { code?: string };
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes);
    throw new SotraError('bad-answer', `the service sent ${name} that cannot be decoded: ${code}`, {
      hint: 'A proxy may be the cause: --verbose shows the headers.',
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
