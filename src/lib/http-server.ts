import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isLocalHost } from '../api/http-address.ts';
import { readMessage, SotraError } from '../errors.ts';
import { collectBytes } from './io.ts';

export interface HttpServerOptions {
  /** 0: a free one. */
  port: number;
  /** Default: 127.0.0.1. */
  host?: string | undefined;
  /** How to choose another port. */
  hint?: string | undefined;
  /** Open at once; further ones are closed. Default: 256. */
  maxConnections?: number;
  /** For the header of a request; default 10,000. */
  headersTimeoutMs?: number;
  /** For a whole request with its body; default 30,000. */
  requestTimeoutMs?: number;
  /** Closes a connection that sends more requests at once: Node parses all of them before the first is answered. Default: no limit. */
  maxPipelined?: number;
  /** How long `close` waits for requests in progress; default 0. */
  closeWaitMs?: number;
  /** Called with what `handle` throws, unless the client has gone. It gets 500. */
  onError: (thrown: unknown) => void;
  /** Called for a request that is refused without `handle`, with the status it gets and why. */
  onMalformed?: (status: number, why: string) => void;
}

export interface HttpServer {
  port: number;
  /** `http://host:port`. */
  url: string;
  close: () => Promise<void>;
}

/**
 * Starts an HTTP server. `handle` reads a body with `readBody` and answers with `send`:
 *
 *     const server = await startHttpServer(async (request, response) => {
 *       const body = await readBody(request, maxBytes);
 *       if (body === undefined) return send(response, { status: 413, body: 'too large' });
 *       send(response, { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' });
 *     }, { port: 0, onError: warn });
 *
 * A local server refuses requests that `isLocalRequest` does not accept. Errors: `config` if it cannot listen.
 */
export async function startHttpServer(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  options: HttpServerOptions,
): Promise<HttpServer> {
  const { host, closeWaitMs = 0, onError } = options;
  const timeouts = {
    headersTimeout: options.headersTimeoutMs ?? 10_000,
    requestTimeout: options.requestTimeoutMs ?? 30_000,
    connectionsCheckingInterval: 1000,
  };
  const server = createServer(timeouts, (request, response) => {
    handle(request, response).catch((thrown: unknown) => {
      if (request.socket.destroyed) return;
      onError(thrown);
      if (response.headersSent) response.destroy();
      else
        send(response, {
          status: 500,
          headers: { 'content-type': 'application/json' },
          body: '{"error":"internal error"}',
        });
    });
  });
  server.on('clientError', (error: MalformedRequest, socket) => refuseMalformed(error, socket, options.onMalformed));
  const { maxPipelined } = options;
  if (maxPipelined !== undefined) server.on('connection', createParseLimit(maxPipelined));
  server.maxConnections = options.maxConnections ?? 256;
  // A client such as nc that has ended its side behind the request still gets its answer; the types of Node lack the name.
  Object.assign(server, { httpAllowHalfOpen: true });
  const bound = await listen(server, options);
  const name = host === undefined ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return {
    port: bound,
    url: `http://${name}:${bound}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        if (closeWaitMs === 0) server.closeAllConnections();
        else setTimeout(() => server.closeAllConnections(), closeWaitMs).unref();
      }),
  };
}

/** The port on which a server listens now. Errors: `config` if it cannot. */
async function listen(server: Server, { port, host, hint }: HttpServerOptions): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const place = host === undefined ? (port === 0 ? 'a free port' : `port ${port}`) : `${host}:${port}`;
      const taken = { EADDRINUSE: 'another program listens there', EACCES: 'this user may not use it' }[
        cause.code ?? ''
      ];
      const message = `cannot listen on ${place}: ${taken ?? readMessage(cause)}`;
      const isHost = host !== undefined && taken === undefined;
      reject(new SotraError('config', message, { hint: isHost ? 'Check --host.' : hint, cause }));
    });
    server.listen(port, host ?? '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** The body of a request; `undefined` for more than `maxBytes`: the client can still be answered. Errors: that the client has gone. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return undefined;
  return collectBytes(request.iterator({ destroyOnReturn: false }), maxBytes);
}

export interface Reply {
  status: number;
  headers?: Record<string, string> | undefined;
  body?: string | Uint8Array | undefined;
}

/** How long the rest of a refused body is read. */
const lingerMs = 1000;

/** Answers a request. The rest of its body is read and dropped: most clients read no answer before they have sent everything. */
export function send(response: ServerResponse, { status, headers, body = '' }: Reply): void {
  const request = response.req;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  if (request.complete) {
    response.end(body);
    return;
  }
  response.write(body);
  const late = setTimeout(() => request.socket.destroy(), lingerMs);
  request.once('close', () => clearTimeout(late));
  request.once('end', () => response.end());
  request.resume();
}

/** The end of a request line; JSON never contains it, as its strings have no line ends. */
const requestLineEnd = / HTTP\/1\.\d\r?\n/;
/** How long data is parsed before the event loop goes on: 64 KB of tiny chunks alone take some 20 ms. */
const maxParseMs = 50;

/** Counts the requests in each piece of data before Node's own listener parses it, and lets the connections wait for each other. */
function createParseLimit(maxPipelined: number): (socket: Socket) => void {
  let spentMs = 0;
  return (socket) => {
    const parsers = socket.listeners('data');
    socket.removeAllListeners('data');
    socket.on('data', (data: Buffer) => {
      if (spentMs > maxParseMs) {
        socket.pause();
        socket.unshift(data);
        setImmediate(() => socket.resume());
        return;
      }
      if (data.toString('latin1').split(requestLineEnd, maxPipelined + 2).length > maxPipelined + 1) {
        socket.destroy();
        return;
      }
      if (spentMs === 0) setImmediate(() => (spentMs = 0));
      const startMs = performance.now();
      for (const parse of parsers) parse(data);
      spentMs += performance.now() - startMs;
    });
  };
}

/** `rawPacket`: the data that could not be parsed. */
type MalformedRequest = NodeJS.ErrnoException & { rawPacket?: Buffer };

const tooLarge = [431, 'its header is too large'] as const;
const tooSlow = [408, 'it took too long'] as const;
const notHttp = [400, 'it is not HTTP'] as const;
const overTls = [400, 'it uses TLS, and this server expects plain http'] as const;
/** The first byte of the handshake of TLS. */
const tlsHandshake = 0x16;

/** Answers a request that is not HTTP, too large or too slow. */
function refuseMalformed(
  { code = '', rawPacket }: MalformedRequest,
  socket: Duplex,
  onMalformed: HttpServerOptions['onMalformed'],
): void {
  if (!socket.writable) return void socket.destroy();
  const unreadable = rawPacket?.[0] === tlsHandshake ? overTls : notHttp;
  const [status, why] = { HPE_HEADER_OVERFLOW: tooLarge, ERR_HTTP_REQUEST_TIMEOUT: tooSlow }[code] ?? unreadable;
  const body = JSON.stringify({ error: STATUS_CODES[status] });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n`;
  socket.end(`${head}content-length: ${body.length}\r\n\r\n${body}`);
  onMalformed?.(status, why);
}

export const foreignRefusal = 'Host header: must name this machine';

/**
 * Whether a request names this machine, once, in its Host header and in its target. A web page that reaches a local server by a domain of its
 * own cannot send one.
 */
export function isLocalRequest({ headersDistinct, url = '' }: IncomingMessage): boolean {
  const [host = '', ...others] = headersDistinct['host'] ?? [];
  const [, target = host] = /^\w+:\/\/([^/?#]*)/.exec(url) ?? [];
  return others.length === 0 && isLocalHost(host) && isLocalHost(target);
}
