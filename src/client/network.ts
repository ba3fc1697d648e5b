import { EventEmitter } from 'node:events';
import { promisify } from 'node:util';
import type { Dispatcher } from 'undici';
import { isLoopback } from '../api/http-address.ts';
import { SotraError, usageError } from '../errors.ts';
import { collectBytes } from './collect.ts';
import { cutFailure, NetworkFailure, pickHeader, readFailure, readProxyFailure } from './failures.ts';
import { type HttpResponse, type Limits, maxTimerMs, type Transport } from './transport.ts';

type Env = Readonly<Record<string, string | undefined>>;

interface NetworkOptions {
  now: () => number;
  env: Env;
}

/**
 * A transport over real sockets, keeping connections alive until `close`; through a proxy if HTTPS_PROXY, HTTP_PROXY and NO_PROXY say so,
 * but never for loopback addresses. Errors: `usage` for a proxy that cannot be used, once one is needed.
 */
export async function createNetwork({ now, env }: NetworkOptions): Promise<Transport> {
  const { Agent, EnvHttpProxyAgent, request } = await import('undici');
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
    async send({ method, url, headers, body }, limits) {
      const startedMs = now();
      const dispatcher = chooseDispatcher(url);
      const { timeoutMs } = limits;
      const clock = startClock(limits);
      const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
      try {
        const sent = { dispatcher, method: method as 'GET', headers, body: body ?? null, ...timeouts };
        const answer = await request(url, { ...sent, signal: clock.stop });
        const firstByteMs = now() - startedMs;
        if (limits.maxBytes === 0) {
          answer.body.on('error', () => undefined).destroy();
          return { status: answer.statusCode, headers: answer.headers, firstByteMs, text: '', bytes: 0 };
        }
        const encoding = pickHeader(answer.headers, 'content-encoding');
        const read = await readBody(answer.body, encoding, limits.maxBytes).catch((thrown: unknown) => ({
          text: '',
          bytes: 0,
          bodyError: thrown instanceof SotraError ? thrown : (clock.failure(thrown) ?? cutFailure(thrown)),
        }));
        return { status: answer.statusCode, headers: answer.headers, firstByteMs, ...read };
      } catch (thrown) {
        const proxy = dispatcher === direct ? undefined : proxyFor(url, proxies);
        throw clock.failure(thrown) ?? (proxy === undefined ? readFailure(thrown) : readProxyFailure(thrown, proxy));
      } finally {
        clock.end();
      }
    },
    close: async () => void (await Promise.all([direct.destroy(), proxied?.destroy()])),
  };
}

/** Stops a request with its caller, or once its time is used up. By an emitter, as AbortSignal.any takes a tenth of a local call. */
function startClock({ signal, totalMs }: Limits) {
  signal.throwIfAborted();
  const stop = new EventEmitter();
  let isLate = false;
  const abort = () => void stop.emit('abort');
  const timer = setTimeout(
    () => {
      isLate = true;
      abort();
    },
    Math.min(totalMs, maxTimerMs),
  );
  signal.addEventListener('abort', abort);
  return {
    stop,
    /** The failure of a request that took too long. */
    failure: (thrown: unknown): NetworkFailure | undefined => {
      if (isLate) return new NetworkFailure('late', 'no answer in time', thrown);
      const { code = '' } = thrown as { code?: string };
      const isSilent = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'].includes(code);
      return isSilent ? new NetworkFailure('timeout', 'no answer in time', thrown) : undefined;
    },
    end: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    },
  };
}

const utf8 = new TextDecoder();

const decoders = { gzip: 'gunzip', 'x-gzip': 'gunzip', br: 'brotliDecompress', deflate: 'inflate' } as const;

/**
 * The body of an answer. An empty one is empty in any encoding. Errors: `bad-answer` for more than `maxBytes`, compressed or not, and for an
 * encoding that is unknown or does not decode.
 */
async function readBody(
  incoming: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Pick<HttpResponse, 'text' | 'bytes'>> {
  const received = await collectBytes(incoming, maxBytes);
  if (received === undefined) throw tooLarge(maxBytes);
  const name = encoding?.trim().toLowerCase() ?? '';
  const isPlain = received.length === 0 || name === '' || name === 'identity';
  const body = isPlain ? received : await decode(received, name, maxBytes);
  return { text: utf8.decode(body), bytes: body.length };
}

async function decode(body: Uint8Array, name: string, maxBytes: number): Promise<Uint8Array> {
  if (!Object.hasOwn(decoders, name))
    throw new SotraError('bad-answer', `the service answered in an unknown encoding: ${name}`, {
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
    throw new SotraError('bad-answer', `the service answered with ${name} that does not decode: ${code}`, {
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
    const shown = JSON.stringify(address.replace(/^.*@/s, '***@'));
    const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address) ?? [];
    if (scheme !== undefined && !/^(?:https?|socks5?)$/i.test(scheme))
      throw usageError(`${name} ${shown}: ${scheme} is not supported, only http, https and socks5`);
    const meant = /^[\w.-]+:\d+$/.test(address) ? address : 'proxy.example.com:8080';
    throw usageError(`${name} ${shown}: must be an address such as http://${meant}`);
  }
}

/** An address without a path, whose name and password can be decoded: undici throws a programming error for anything else. */
function isProxy(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, pathname, search, hash, username, password } = new URL(address);
  try {
    decodeURIComponent(username + password);
  } catch {
    return false;
  }
  return /^(?:https?|socks5?):$/.test(protocol) && ['', '/'].includes(pathname) && search === '' && hash === '';
}
