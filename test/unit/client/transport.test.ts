import { getEventListeners } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { generate } from 'selfsigned';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { StartTimer } from '../../../src/client/deadline.ts';
import { createTransport } from '../../../src/client/transport.ts';
import { openPort } from '../../support/harness.ts';
import { long } from '../../support/size.ts';

interface Surroundings {
  env?: Record<string, string>;
  now?: () => number;
  startTimer?: StartTimer;
}

async function transportOf({ env = {}, now = Date.now, ...timer }: Surroundings = {}) {
  const transport = await createTransport({ now, node: process.versions.node, env, ...timer });
  onTestFinished(() => transport.close());
  const send = (url: string, { method = 'GET', body, ...limits }: Sending = {}) =>
    transport.send(
      { method, url: new URL(url), headers: {}, ...(body === undefined ? {} : { body }) },
      { timeoutMs: 20_000, totalMs: 60_000, signal: new AbortController().signal, ...limits },
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

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString();
}

const echo: RequestListener = (request, response) => {
  let heard = '';
  request.on('data', (chunk) => {
    heard += chunk;
  });
  request.on('end', () => response.end(`${request.method} ${request.url} ${JSON.stringify(heard)}`));
};

test('a body is sent where there is one, and none where there is none', async () => {
  const url = `http://127.0.0.1:${await openPort(createServer(echo))}/a?b=c`;
  const { send } = await transportOf();
  expect(await textOf((await send(url, { method: 'POST', body: 'gm' })).body)).toBe('POST /a?b=c "gm"');
  expect(await textOf((await send(url)).body)).toBe('GET /a?b=c ""');
});

test('an answer says when its first byte came', async () => {
  const port = await openPort(createServer(echo));
  let ticks = 0;
  const { send } = await transportOf({ now: () => ++ticks });
  expect((await send(`http://127.0.0.1:${port}/`)).firstByteMs).toBe(1);
});

test('close ends the connections that were kept', async () => {
  const server = createServer(echo);
  server.keepAliveTimeout = 60_000;
  const ended = new Promise<void>((resolve) => {
    server.on('connection', (socket: Socket) => socket.on('close', () => resolve()));
  });
  const url = `http://127.0.0.1:${await openPort(server)}/`;
  const { send, close } = await transportOf();
  await textOf((await send(url)).body);
  await close();
  await ended;
});

test('an answer may take longer than the time without a word, as long as something comes', async () => {
  const server = createServer((_, response) => {
    const parts = ['a', 'b', 'c', 'd'];
    const timer = setInterval(() => {
      const part = parts.shift();
      if (part !== undefined) return response.write(part);
      clearInterval(timer);
      response.end();
    }, 300);
  });
  const { send } = await transportOf();
  const { body } = await send(`http://127.0.0.1:${await openPort(server)}/`, { timeoutMs: 1100 });
  expect(await textOf(body)).toBe('abcd');
});

test('silence before the answer and inside it ends in a timeout', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/begun') response.write('a');
  });
  const url = `http://127.0.0.1:${await openPort(server)}`;
  const { send } = await transportOf();
  const late = { kind: 'timeout', message: 'no answer in time' };
  await expect(send(url, { timeoutMs: 50 })).rejects.toMatchObject(late);
  const { body } = await send(`${url}/begun`, { timeoutMs: 500 });
  await expect(textOf(body)).rejects.toMatchObject(late);
});

test('a port where nobody listens is refused, by address and by name', async () => {
  const server = createServer(echo);
  const port = await openPort(server);
  await new Promise((resolve) => server.close(resolve));
  const { send } = await transportOf();
  const message = `connect ECONNREFUSED 127.0.0.1:${port}`;
  await expect(send(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ kind: 'refused', message });
  await expect(send(`http://localhost:${port}/`)).rejects.toMatchObject({
    kind: 'refused',
    message: expect.stringMatching(/^connect ECONNREFUSED /),
  });
});

long('all of an exchange may take so long and no longer, before the answer and inside it', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/begun') response.write('a');
  });
  const url = `http://127.0.0.1:${await openPort(server)}`;
  const { send } = await transportOf();
  const late = { kind: 'late', message: 'no answer in time' };
  await expect(send(url, { totalMs: 50 })).rejects.toMatchObject(late);
  await expect(send(url, { totalMs: -1 })).rejects.toMatchObject(late);
  const { body } = await send(`${url}/begun`, { totalMs: 1000 });
  await expect(textOf(body)).rejects.toMatchObject(late);
});

test('a limit that no timer can count to is a long one', async () => {
  const { send } = await transportOf();
  const url = `http://127.0.0.1:${await openPort(createServer(echo))}/`;
  expect(await textOf((await send(url, { totalMs: 10_000_000_000 })).body)).toBe('GET / ""');
});

test('a request that its caller stops ends there, before it is sent, before the answer and inside it', async () => {
  const stop = new AbortController();
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    if (url === '/begun') response.write('a');
    else stop.abort();
  });
  const url = `http://127.0.0.1:${await openPort(server)}`;
  const { send } = await transportOf();
  const stopped = { kind: 'broken', message: 'This operation was aborted' };
  await expect(send(`${url}/first`, { signal: stop.signal })).rejects.toMatchObject(stopped);
  await expect(send(`${url}/second`, { signal: stop.signal })).rejects.toMatchObject(stopped);
  const later = new AbortController();
  const { body } = await send(`${url}/begun`, { signal: later.signal });
  later.abort();
  await expect(textOf(body)).rejects.toMatchObject(stopped);
  expect(asked).toEqual(['/first', '/begun']);
});

test('of exchanges that are over no timer is left, and no more than one listener on the signal of their caller', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/cut') request.socket.destroy();
    else if (request.url === '/begun') response.write('a');
    else response.end('gm');
  });
  const url = `http://127.0.0.1:${await openPort(server)}`;
  let timers = 0;
  const startTimer: StartTimer = () => {
    timers += 1;
    return {
      refresh: () => undefined,
      clear: () => {
        timers -= 1;
      },
    };
  };
  const { send } = await transportOf({ startTimer });
  const { signal } = new AbortController();
  const held = () => [timers, getEventListeners(signal, 'abort').length];
  const whole = await send(url, { signal });
  expect(held()).toEqual([1, 1]);
  await textOf(whole.body);
  expect(held()).toEqual([0, 1]);
  await expect(send(`${url}/cut`, { signal })).rejects.toMatchObject({ kind: 'broken' });
  expect(held()).toEqual([0, 1]);
  for await (const part of (await send(`${url}/begun`, { signal })).body) {
    expect(Buffer.from(part).toString()).toBe('a');
    break;
  }
  expect(held()).toEqual([0, 1]);
});

/** A proxy that leads everything to one port, and keeps what it was asked for. */
async function proxyTo(port: number, host = '127.0.0.1') {
  const asked: string[] = [];
  const proxy = createServer(({ method, url }, response) => {
    asked.push(`${method} ${url}`);
    response.end('by the proxy');
  });
  proxy.on('connect', ({ url = '' }, socket: Socket) => {
    asked.push(`CONNECT ${url}`);
    const upstream = connect(port, host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
    onTestFinished(() => void socket.destroy());
  });
  return { url: `http://127.0.0.1:${await openPort(proxy)}`, asked };
}

const nowhere = 'http://127.0.0.1:9';
const environments: readonly [(proxy: string) => Record<string, string>, uses: boolean][] = [
  [(proxy) => ({ HTTP_PROXY: proxy }), true],
  [(proxy) => ({ http_proxy: proxy }), true],
  [(proxy) => ({ http_proxy: proxy, HTTP_PROXY: nowhere }), true],
  [(proxy) => ({ http_proxy: '', HTTP_PROXY: proxy }), true],
  [(proxy) => ({ HTTP_PROXY: proxy, HTTPS_PROXY: nowhere }), true],
  [(proxy) => ({ HTTPS_PROXY: proxy }), false],
  [(proxy) => ({ HTTP_PROXY: proxy, NO_PROXY: 'a.test, 127.0.0.2\tb.test' }), false],
  [(proxy) => ({ HTTP_PROXY: proxy, no_proxy: '127.0.0.2' }), false],
  [(proxy) => ({ HTTP_PROXY: proxy, NO_PROXY: 'a.test' }), true],
  [(proxy) => ({ HTTP_PROXY: proxy, NO_PROXY: '*' }), false],
  [(proxy) => ({ HTTP_PROXY: proxy, NO_PROXY: '*.test' }), true],
  [() => ({}), false],
];

// 127.0.0.2 stands for a machine elsewhere: only Linux has it without being told.
test.skipIf(process.platform !== 'linux').each(environments)(
  'an environment decides about the proxy: %s',
  async (env, uses) => {
    const port = await openPort(createServer(echo), '127.0.0.2');
    const proxy = await proxyTo(port, '127.0.0.2');
    const { send } = await transportOf({ env: env(proxy.url) });
    await textOf((await send(`http://127.0.0.2:${port}/`)).body);
    expect(proxy.asked.length > 0).toBe(uses);
  },
);

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
const ownHosts: readonly [host: string, address: string][] = [
  ['127.0.0.1', '127.0.0.1'],
  ['localhost', '127.0.0.1'],
  ...(hasIpv6 ? [['[::1]', '::1'] as [string, string]] : []),
];

test.each(ownHosts)('%s is asked without the proxy', async (host, address) => {
  const port = await openPort(createServer(echo), address);
  const proxy = await proxyTo(port);
  const { send } = await transportOf({ env: { HTTP_PROXY: proxy.url } });
  expect(await textOf((await send(`http://${host}:${port}/`)).body)).toBe('GET / ""');
  expect(proxy.asked).toEqual([]);
});

test('a service behind TLS is asked through HTTPS_PROXY; a certificate that nobody vouches for is not trusted', async () => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'service.test' }]);
  const asked: string[] = [];
  const service = createSecureServer({ key, cert }, ({ url = '' }, response) => {
    asked.push(url);
    response.end();
  });
  const proxy = await proxyTo(await openPort(service));
  const { send } = await transportOf({ env: { HTTPS_PROXY: proxy.url } });
  await expect(send('https://service.test/')).rejects.toMatchObject({
    kind: 'untrusted',
    message: expect.stringMatching(/certificate/),
  });
  expect([proxy.asked, asked]).toEqual([['CONNECT service.test:443'], []]);
});

const badProxies = [
  ['HTTP_PROXY', 'proxy.test', 'HTTP_PROXY "proxy.test"'],
  ['HTTPS_PROXY', 'ftp://proxy.test', 'HTTPS_PROXY "ftp://proxy.test"'],
  ['HTTPS_PROXY', 'xhttp://proxy.test', 'HTTPS_PROXY "xhttp://proxy.test"'],
  ['HTTP_PROXY', 'http://proxy.test/path', 'HTTP_PROXY "http://proxy.test/path"'],
  ['HTTP_PROXY', 'http://proxy.test/?a', 'HTTP_PROXY "http://proxy.test/?a"'],
  ['HTTP_PROXY', 'http://proxy.test/#a', 'HTTP_PROXY "http://proxy.test/#a"'],
  ['HTTP_PROXY', 'http://me:%ff@proxy.test', 'HTTP_PROXY "***@proxy.test"'],
  ['HTTP_PROXY', 'http://%ff:me@proxy.test', 'HTTP_PROXY "***@proxy.test"'],
] as const;

test.each(badProxies)('%s=%s is refused before anything is sent, without its password', async (name, address, said) => {
  await expect(transportOf({ env: { [name]: address } })).rejects.toMatchObject({
    code: 'usage',
    message: `${said}: must be an address such as http://proxy.example.com:8080`,
  });
});

const nowhereElse = 'http://127.0.0.1:10';
const unreached: readonly [url: string, env: Record<string, string>, kind: string, message: RegExp][] = [
  ['http://service.test/', { HTTP_PROXY: nowhere }, 'proxy', /^the proxy http:\/\/127\.0\.0\.1:9 cannot be reached/],
  ['https://service.test/', { HTTPS_PROXY: nowhere }, 'proxy', /^the proxy .*:9 cannot be reached/],
  ['https://service.test/', { HTTP_PROXY: nowhere }, 'proxy', /^the proxy .*:9 cannot be reached/],
  ['https://service.test/', { HTTPS_PROXY: nowhere, HTTP_PROXY: nowhereElse }, 'proxy', /^the proxy .*:9 cannot/],
  ['http://service.test/', { HTTPS_PROXY: nowhereElse, HTTP_PROXY: nowhere }, 'proxy', /^the proxy .*:9 cannot/],
  ['http://127.0.0.1:9/', {}, 'refused', /ECONNREFUSED/],
];

test.each(unreached)('%s with %j, where nobody listens, is %s', async (url, env, kind, message) => {
  const { send } = await transportOf({ env });
  await expect(send(url)).rejects.toMatchObject({ kind, message: expect.stringMatching(message) });
});

test('NO_PROXY=* goes without the proxies of the process too', async () => {
  vi.stubEnv('HTTP_PROXY', nowhere);
  vi.stubEnv('NO_PROXY', '');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { send } = await transportOf({ env: { HTTP_PROXY: nowhere, NO_PROXY: '*' } });
  const url = `http://127.0.0.1:${await openPort(createServer(echo))}/`;
  expect(await textOf((await send(url)).body)).toBe('GET / ""');
});

test.each(['proxy.test:8080/a', '!proxy.test:8080'])(
  '%s is refused with an address like no part of it',
  async (proxy) => {
    await expect(transportOf({ env: { HTTP_PROXY: proxy } })).rejects.toThrow('such as http://proxy.example.com:8080');
  },
);

test('a proxy without http:// is refused with the address that is meant', async () => {
  await expect(transportOf({ env: { HTTP_PROXY: 'proxy.test:8080' } })).rejects.toMatchObject({
    code: 'usage',
    message: 'HTTP_PROXY "proxy.test:8080": must be an address such as http://proxy.test:8080',
  });
});

test.each(['http://p.test', 'https://p.test:1/', 'socks5://me:you@p.test:1', 'socks://p.test:1'])(
  '%s is taken for a proxy',
  async (address) => {
    await transportOf({ env: { HTTPS_PROXY: address } });
  },
);
