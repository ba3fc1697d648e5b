import { createServer, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createNetwork } from '../../../src/client/network.ts';
import { openPort, proxyTo } from '../../support/harness.ts';

interface Surroundings {
  env?: Record<string, string>;
  now?: () => number;
}

async function transportOf({ env = {}, now = Date.now }: Surroundings = {}) {
  const transport = await createNetwork({ now, env });
  onTestFinished(() => transport.close());
  const send = (url: string, { method = 'GET', body, ...limits }: Sending = {}) =>
    transport.send(
      { method, url: new URL(url), headers: {}, ...(body === undefined ? {} : { body }) },
      { timeoutMs: 20_000, totalMs: 60_000, maxBytes: 1024, signal: new AbortController().signal, ...limits },
    );
  return { ...transport, send };
}

interface Sending {
  method?: string;
  body?: string;
  timeoutMs?: number;
  totalMs?: number;
  signal?: AbortSignal;
}

const echo: RequestListener = async (request, response) => {
  response.end(`${request.method} ${request.url} ${JSON.stringify(await text(request))}`);
};

test('close ends the connections that were kept', async () => {
  const server = createServer(echo);
  server.keepAliveTimeout = 60_000;
  const ended = new Promise<void>((resolve) => {
    server.on('connection', (socket: Socket) => socket.on('close', () => resolve()));
  });
  const url = `http://127.0.0.1:${await openPort(server)}/`;
  const { send, close } = await transportOf();
  (await send(url)).text;
  await close();
  await ended;
});

test('an answer may take longer than the idle timeout, as long as data arrives', async () => {
  const server = createServer((_, response) => {
    const parts = ['a', 'b', 'c', 'd'];
    const timer = setInterval(() => {
      const part = parts.shift();
      if (part !== undefined) return response.write(part);
      clearInterval(timer);
      response.end();
    }, 150);
  });
  const { send } = await transportOf();
  const { text } = await send(`http://127.0.0.1:${await openPort(server)}/`, { timeoutMs: 400 });
  expect(text).toBe('abcd');
});

test('no data before or during the answer is a timeout', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/begun') response.write('a');
  });
  const url = `http://127.0.0.1:${await openPort(server)}`;
  const { send } = await transportOf();
  const late = { kind: 'timeout', message: 'no answer in time' };
  const begun = send(`${url}/begun`, { timeoutMs: 500 });
  await expect(send(url, { timeoutMs: 50 })).rejects.toMatchObject(late);
  expect(await begun).toMatchObject({ status: 200, bodyError: late });
});

test('a limit longer than the longest timer works', async () => {
  const { send } = await transportOf();
  const url = `http://127.0.0.1:${await openPort(createServer(echo))}/`;
  expect((await send(url, { totalMs: 10_000_000_000 })).text).toBe('GET / ""');
});

test('a request that its caller aborts ends at once: before it is sent, before the answer and during it', async () => {
  const stop = new AbortController();
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    if (url === '/begun') response.write('a');
    else stop.abort();
  });
  const url = `http://127.0.0.1:${await openPort(server)}`;
  const { send } = await transportOf();
  await expect(send(`${url}/first`, { signal: stop.signal })).rejects.toThrow('aborted');
  await expect(send(`${url}/second`, { signal: stop.signal })).rejects.toThrow('aborted');
  const later = new AbortController();
  const begun = send(`${url}/begun`, { signal: later.signal });
  while (asked.length < 2) await new Promise(setImmediate);
  later.abort();
  await expect(begun).rejects.toThrow('aborted');
  expect(asked).toEqual(['/first', '/begun']);
});

const nowhere = 'http://127.0.0.1:9';
const environments: readonly [(proxy: string) => Record<string, string>, uses: boolean][] = [
  [(proxy) => ({ HTTP_PROXY: proxy }), true],
  [(proxy) => ({ http_proxy: proxy }), true],
  [(proxy) => ({ http_proxy: proxy, HTTP_PROXY: nowhere }), true],
  [(proxy) => ({ http_proxy: '', HTTP_PROXY: proxy }), true],
  [(proxy) => ({ HTTP_PROXY: proxy, HTTPS_PROXY: nowhere }), true],
  [(proxy) => ({ HTTPS_PROXY: proxy }), false],
  [(proxy) => ({ HTTP_PROXY: proxy, NO_PROXY: 'a.test, service.test\tb.test' }), false],
  [(proxy) => ({ HTTP_PROXY: proxy, no_proxy: 'service.test' }), false],
  [(proxy) => ({ HTTP_PROXY: proxy, NO_PROXY: '.test' }), false],
  [(proxy) => ({ HTTP_PROXY: proxy, NO_PROXY: 'a.test' }), true],
  [(proxy) => ({ HTTP_PROXY: proxy, NO_PROXY: '*' }), false],
  [(proxy) => ({ HTTP_PROXY: proxy, NO_PROXY: '*.test' }), false],
];

test.each(environments)('an environment decides about the proxy: %s', async (env, uses) => {
  const proxy = await proxyTo(await openPort(createServer(echo)));
  const { send } = await transportOf({ env: env(proxy.url) });
  // Without the proxy nothing answers for this name.
  await send('http://service.test/').catch(() => undefined);
  expect(proxy.asked.length > 0).toBe(uses);
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
const ownHosts: readonly [host: string, address: string][] = [
  ['127.0.0.1', '127.0.0.1'],
  ['localhost', '127.0.0.1'],
  ...(process.platform === 'linux' ? [['127.0.0.2', '127.0.0.2'] as [string, string]] : []),
  ...(hasIpv6 ? [['[::1]', '::1'] as [string, string]] : []),
];

test.each(ownHosts)('%s is asked without the proxy', async (host, address) => {
  const port = await openPort(createServer(echo), address);
  const proxy = await proxyTo(port);
  const { send } = await transportOf({ env: { HTTP_PROXY: proxy.url } });
  expect((await send(`http://${host}:${port}/`)).text).toBe('GET / ""');
  expect(proxy.asked).toEqual([]);
});

const badProxies: readonly [address: string, shown: string][] = [
  ['proxy.test', 'proxy.test'],
  ['http://proxy.test/path', 'http://proxy.test/path'],
  ['http://proxy.test/?a', 'http://proxy.test/?a'],
  ['http://me:%ff@proxy.test', 'http://***@proxy.test'],
  ['proxy.test:8080', 'proxy.test:8080'],
  ['socks5h://me:secret@p.test:1', 'socks5h://***@p.test:1'],
  ['ftp://p.test:1', 'ftp://p.test:1'],
];

test.each(badProxies)(
  'the proxy %s is refused before anything is sent, but not for loopback',
  async (address, shown) => {
    const { send } = await transportOf({ env: { HTTP_PROXY: address } });
    await expect(send('http://service.test/')).rejects.toMatchObject({
      code: 'usage',
      message: `HTTP_PROXY "${shown}": must be an http, https or socks5 address such as http://proxy.example.com:8080`,
    });
    const port = await openPort(createServer(echo));
    expect((await send(`http://127.0.0.1:${port}/`)).text).toBe('GET / ""');
  },
);

const nowhereElse = 'http://127.0.0.1:10';
const unreached: readonly [url: string, env: Record<string, string>, kind: string, message: RegExp][] = [
  ['http://service.test/', { HTTP_PROXY: nowhere }, 'proxy', /^the proxy http:\/\/127\.0\.0\.1:9 cannot be reached/],
  ['https://service.test/', { HTTPS_PROXY: nowhere }, 'proxy', /^the proxy .*:9 cannot be reached/],
  ['https://service.test/', { HTTP_PROXY: nowhere }, 'proxy', /^the proxy .*:9 cannot be reached/],
  ['https://service.test/', { HTTPS_PROXY: nowhere, HTTP_PROXY: nowhereElse }, 'proxy', /^the proxy .*:9 cannot/],
  ['http://service.test/', { HTTPS_PROXY: nowhereElse, HTTP_PROXY: nowhere }, 'proxy', /^the proxy .*:9 cannot/],
  ['http://127.0.0.1:9/', {}, 'refused', /ECONNREFUSED/],
];

test.each(unreached)('%s with %j and no listener is %s', async (url, env, kind, message) => {
  const { send } = await transportOf({ env });
  await expect(send(url)).rejects.toMatchObject({ kind, message: expect.stringMatching(message) });
});

test('NO_PROXY=* goes without the proxies of the process too', async () => {
  vi.stubEnv('HTTP_PROXY', nowhere);
  vi.stubEnv('NO_PROXY', '');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { send } = await transportOf({ env: { HTTP_PROXY: nowhere, NO_PROXY: '*' } });
  const url = `http://127.0.0.1:${await openPort(createServer(echo))}/`;
  expect((await send(url)).text).toBe('GET / ""');
});
