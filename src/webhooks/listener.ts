import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  hasSignature,
  readHeader,
  type SignatureHeader,
  signatureHeader,
  untimelyReason,
} from '../api/signature-header.ts';
import { exampleEventId } from '../api/webhook-signature.ts';
import { hideUrlSecrets } from '../client/url-secrets.ts';
import { readMessage } from '../errors.ts';
import { listen } from '../lib/http-server.ts';
import { readEvents } from './events.ts';
import type { Inbox, StoredDelivery } from './inbox.ts';
import { boundConnections, type Reception, shareTurns, sliceInput, startReception } from './reception.ts';

/** A request that was answered with an error. */
export interface RefusedRequest {
  atMs: number;
  method: string;
  path: string;
  /** Names and values in turn. */
  headers: readonly string[];
  status: number;
  reason: string;
  /** Where its signature fits no secret, and it is not large. */
  body: Buffer | undefined;
}

interface ListenerOptions {
  inbox: Inbox;
  host: string;
  port: number;
  /** Several while a secret is being changed. */
  secrets: readonly string[];
  /** How old a signature may be; `undefined`: any age. */
  toleranceMs: number | undefined;
  maxBytes: number;
  now: () => number;
  /** Called with a delivery once its new events are safe. */
  onStored: (delivery: StoredDelivery) => void;
  /** Called for repeats, probes and failures. */
  onOther: (what: string) => void;
  /** Called for refused requests, which anybody may send, and many. */
  onRefused: (refused: RefusedRequest) => void;
  /** Called when a delivery could not be stored: its sender got 503. */
  onDiskError: (error: unknown) => void;
}

/** For the head of a request, and for all of it. */
const [headersMs, requestMs] = [10_000, 30_000];
/** Parsed in one turn of the event loop, for all connections. */
const maxTurnBytes = 32 * 1024;
/** How long a refused sender may go on sending: if the connection closed at once, it might miss the answer. */
const lingerMs = 1000;

/**
 * Listens for deliveries: 2xx only when the event is safe on disk; 401 without a fitting signature, 503 where it could not be stored or
 * too much is being received. Before a signature fits, time, memory and connections are bounded. Errors: `config` when the port is in
 * use.
 */
export async function startListener(options: ListenerOptions) {
  const connections = boundConnections();
  const receive = startReception(options);
  const closing = new WeakSet<Socket>();
  const send = (request: IncomingMessage, response: ServerResponse, reply: Reply) => {
    if (reply.status >= 300) closing.add(request.socket);
    write(request, response, reply);
  };
  const answer = async (request: IncomingMessage, header: SignatureHeader): Promise<Reply | undefined> => {
    const received = await receive(request, header);
    if (received === 'gone') return undefined;
    if (received === 'too-large') return refuse(request, tooLarge(options), options);
    if (received === 'full') return refuse(request, refusals.full, options);
    if ('unsigned' in received) return refuse(request, refusals.unsigned, options, received.unsigned);
    return connections.keep(request.socket, () => store(request, received, options));
  };
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    // It was sent before its sender read the answer that closes the connection.
    if (closing.has(request.socket)) return;
    const header = readHead(request, options);
    if ('status' in header) return send(request, response, header);
    if (request.headers.expect !== undefined) response.writeContinue();
    answer(request, header)
      .catch((error: unknown): Reply => {
        options.onOther(`a delivery could not be stored: ${readMessage(error)}`);
        return { status: 500, text: 'could not be stored' };
      })
      .then((reply) => reply && send(request, response, reply))
      .catch(() => response.destroy());
  };
  const times = { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: 500 };
  const server = createServer(times, handle);
  server.on('checkContinue', handle);
  const takeTurn = shareTurns(maxTurnBytes);
  // Node's own parser, given a stream in the place of its socket.
  const parse = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const stream = sliceInput(socket, takeTurn);
    connections.add(stream);
    for (const each of parse) each.call(server, stream);
  });
  const { host, port } = options;
  const bound = await listen(server, {
    host,
    port,
    hint: 'Choose another port with --port, or --port 0 for a free one.',
  });
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), 2000).unref();
      }),
  };
}

interface Reply {
  status: number;
  text: string;
  headers?: Record<string, string>;
}

function write(request: IncomingMessage, response: ServerResponse, { status, text, headers }: Reply): void {
  if (response.headersSent || response.destroyed) return;
  const isTaken = status < 300;
  const body = JSON.stringify(isTaken ? { received: text } : { error: text });
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(isTaken ? {} : { connection: 'close' }),
    ...headers,
  });
  // What follows a refused request is not read.
  if (!isTaken) response.once('finish', () => request.socket.pause());
  if (isTaken || request.complete) {
    response.end(body);
    return;
  }
  // The rest of the request is read and dropped, or the sender might not see the answer.
  response.write(body);
  const linger = setTimeout(() => request.socket.destroy(), lingerMs);
  request.once('close', () => clearTimeout(linger));
  request.once('end', () => response.end());
  request.resume();
}

const refusals = {
  method: { status: 405, text: 'deliveries are POSTs', headers: { allow: 'POST' } },
  // The same for every wrong signature, so that nobody learns what is right about one.
  unsigned: { status: 401, text: 'wrong signature: none in the header fits this body' },
  full: { status: 503, text: 'too much is being received: send it again', headers: { 'retry-after': '1' } },
} as const satisfies Record<string, Reply>;

/** The signature header of a request, or the refusal that needs no look at the body. */
function readHead(request: IncomingMessage, options: ListenerOptions): SignatureHeader | Reply {
  const { method, headers } = request;
  if (method !== 'POST') return refuse(request, refusals.method, options);
  const value = headers[signatureHeader];
  const header = readHeader(Array.isArray(value) ? value.join(',') : value);
  if (typeof header === 'string') return refuse(request, { status: 401, text: header }, options);
  if (!hasSignature(header)) return refuse(request, refusals.unsigned, options);
  const text = untimelyReason(header, { nowMs: options.now(), toleranceMs: options.toleranceMs });
  if (text !== undefined) return refuse(request, { status: 401, text }, options);
  return Number(headers['content-length'] ?? 0) > options.maxBytes
    ? refuse(request, tooLarge(options), options)
    : header;
}

function refuse(request: IncomingMessage, reply: Reply, options: ListenerOptions, body?: Buffer): Reply {
  const { method = '', rawHeaders: headers } = request;
  const { status, text: reason } = reply;
  const [path, atMs] = [readShownPath(request), options.now()];
  options.onRefused({ atMs, method, path, headers, status, reason, body });
  return reply;
}

/** Without what is secret in it: it is stored and shown. */
const readShownPath = ({ url = '/' }: IncomingMessage): string => hideUrlSecrets(url);

function tooLarge({ maxBytes }: ListenerOptions): Reply {
  return { status: 413, text: `body is larger than ${maxBytes} bytes` };
}

async function store(
  request: IncomingMessage,
  { body, secret }: Extract<Reception, { secret: number }>,
  options: ListenerOptions,
): Promise<Reply> {
  const path = readShownPath(request);
  if (isProbe(body)) {
    options.onOther(`validation probe to ${path}: answered 200, its example event is not stored`);
    return { status: 200, text: 'example' };
  }
  const webhook = `${path}#${nameSecret(options.secrets[secret] ?? '')}`;
  const delivery = { webhook, atMs: options.now(), headers: request.rawHeaders, body };
  const stored = await options.inbox.store([delivery]).catch(options.onDiskError);
  if (stored === undefined) return { status: 503, text: 'could not be stored' };
  const [fresh] = stored;
  if (fresh === undefined) {
    options.onOther(`repeat of event ${listEventIds(body).join(', ')}`);
    return { status: 200, text: 'before' };
  }
  options.onStored(fresh);
  return { status: 200, text: 'now' };
}

function isProbe(body: Buffer): boolean {
  if (!body.includes(exampleEventId)) return false;
  const ids = listEventIds(body);
  return ids.length > 0 && ids.every((id) => id === exampleEventId);
}

const listEventIds = (body: Buffer) => readEvents(body).map(({ eventId }) => eventId);

/** The end of the name of each webhook that it signs for. */
function nameSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 8);
}
