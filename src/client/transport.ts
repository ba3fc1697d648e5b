import { setFlagsFromString } from 'node:v8';
import { usageError } from '../errors.ts';
import type { Transport } from '../lib/io.ts';
import { type Deadline, type StartTimer, startDeadline } from './deadline.ts';

type Env = Readonly<Record<string, string | undefined>>;

interface TransportOptions {
  now: () => number;
  node: string;
  env: Env;
  /** Times the silence; tests bring their own. */
  startTimer?: StartTimer;
}

/**
 * A transport over real sockets, keeping connections alive until `close`; through a proxy where HTTPS_PROXY, HTTP_PROXY and NO_PROXY say
 * so, but never to this machine. `send` throws NetworkFailure. Errors: `usage` for a proxy that is no address.
 */
export async function createTransport({ now, node, env, startTimer }: TransportOptions): Promise<Transport> {
  const proxies = readProxies(env);
  // Before Node 22 a short process waits at exit for V8 to optimize undici's parser (about 60 ms).
  if (Number.parseInt(node, 10) < 22) setFlagsFromString('--liftoff-only');
  const undici = await import('undici');
  const dispatcher = new undici.EnvHttpProxyAgent({ connections: 8, ...proxies });
  return {
    async send({ method, url, headers, body }, limits) {
      const started = now();
      const deadline = startDeadline(limits, startTimer);
      try {
        const answer = await undici.request(url, {
          dispatcher,
          method: method as 'GET',
          headers,
          body: body ?? null,
          // undici counts in whole seconds; our limits are exact.
          headersTimeout: 0,
          bodyTimeout: 0,
          signal: deadline.signal,
        });
        const { statusCode: status, headers: received, body: incoming } = answer;
        return { status, headers: received, body: readUntil(incoming, deadline), firstByteMs: now() - started };
      } catch (thrown) {
        deadline.end();
        throw deadline.toFailure(thrown, proxyFor(url, proxies));
      }
    },
    close: () => dispatcher.destroy(),
  };
}

async function* readUntil(body: AsyncIterable<Uint8Array>, deadline: Deadline): AsyncIterable<Uint8Array> {
  deadline.renew();
  try {
    for await (const chunk of body) {
      deadline.renew();
      yield chunk;
    }
  } catch (thrown) {
    throw deadline.toFailure(thrown);
  } finally {
    deadline.end();
  }
}

/** An empty address is no proxy, also where the process has one in its environment. */
function readProxies(env: Env): { httpProxy: string; httpsProxy: string; noProxy: string } {
  const read = (name: string) => env[name.toLowerCase()] || env[name] || '';
  const [httpProxy, httpsProxy, noProxy] = [read('HTTP_PROXY'), read('HTTPS_PROXY'), read('NO_PROXY')];
  if (noProxy === '*') return { httpProxy: '', httpsProxy: '', noProxy };
  for (const [name, address] of Object.entries({ HTTPS_PROXY: httpsProxy, HTTP_PROXY: httpProxy }))
    if (address !== '' && !isProxy(address))
      throw usageError(
        `${name} ${JSON.stringify(address.replace(/^.*@/s, '***@'))}: must be an address such as http://${/^[\w.-]+:\d+$/.test(address) ? address : 'proxy.example.com:8080'}`,
      );
  return { httpProxy, httpsProxy, noProxy: ['localhost', '127.0.0.1', '[::1]', noProxy].join() };
}

/** The proxy that requests to an address may take; whether NO_PROXY excepts it is undici's to say. */
function proxyFor({ protocol }: URL, { httpProxy, httpsProxy }: ReturnType<typeof readProxies>): URL | undefined {
  const proxy = protocol === 'https:' ? httpsProxy || httpProxy : httpProxy;
  return proxy === '' ? undefined : new URL(proxy);
}

/** A bare address, whose name and password can be decoded: undici reports anything else as an error of its caller. */
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
