import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { foreignRefusal, isLocalRequest, startServer } from '../../lib/start-server.ts';
import { type Fault, type FaultyAnswer, withFaults } from './fault.ts';
import {
  bodyTooLarge,
  type IncomingRequest,
  ignoredHeader,
  makeAnswer,
  maxBodyBytes,
  refused,
  type ServedAnswer,
  ServiceRefusal,
} from './service.ts';

export interface ListenOptions {
  /** Faults to inject, asked for at each request, and how to wait for those that delay. */
  faulty?: { faults: () => readonly Fault[]; sleep: (ms: number) => Promise<void> };
  /** Whether no fault meets a request and nobody is told of it. */
  isOwn?: (request: IncomingRequest, headers: IncomingMessage['headers']) => boolean;
  /** The origins of pages that may ask; default: none. */
  cors?: readonly string[];
  /** Called with every request once it is answered; not with those that are no HTTP. */
  onAnswered?: (request: HeardRequest, answer: FaultyAnswer, ms: number) => void;
  /** Whether bodies are read that nobody asks for, for `onAnswered`. */
  readsBodies?: boolean;
}

/** A request as it came. */
export interface HeardRequest extends IncomingRequest {
  headers: IncomingHttpHeaders;
  /** Its body as far as it was read, and whole. */
  text?: string;
}

/** Time to send the head and the whole of a request, connections at once, and how long the rest of a refused body is read. */
const limits = { headMs: 10_000, requestMs: 30_000, checkMs: 1000, connections: 1000, lingerMs: 1000 };

/**
 * Serves on 127.0.0.1; port 0 takes a free one. A Host header that names another machine gets 403, so that no web page can reach it by a
 * name of its own. Errors: `config` when the port is taken.
 */
export async function listen(
  answer: (request: IncomingRequest, headers: IncomingMessage['headers']) => Promise<ServedAnswer>,
  port: number,
  { faulty, isOwn, cors = [], onAnswered, readsBodies = false }: ListenOptions = {},
) {
  const toPage = async (request: IncomingRequest, { headers }: IncomingMessage): Promise<ServedAnswer> => {
    const isPreflight = request.method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
    const made = isPreflight ? makeAnswer(204, '') : await answer(request, headers);
    return {
      ...made,
      headers: { ...made.headers, ...pageHeaders(cors.find((each) => each === headers.origin) ?? cors[0] ?? '') },
    };
  };
  const injectFaults = faulty && withFaults(faulty.faults, faulty.sleep);
  const server = createServer(
    { headersTimeout: limits.headMs, requestTimeout: limits.requestMs, connectionsCheckingInterval: limits.checkMs },
    (incoming, outgoing) => {
      const startedMs = performance.now();
      const request = readRequest(incoming);
      if (request instanceof ServiceRefusal) return send(refused(request), incoming, outgoing);
      const whole = cors.length === 0 ? () => answer(request, incoming.headers) : () => toPage(request, incoming);
      const own = isOwn?.(request, incoming.headers) === true;
      const answered = () => (own || injectFaults === undefined ? whole() : injectFaults(request, whole));
      (readsBodies && !own ? Promise.resolve(request.body()).then(answered, answered) : answered())
        .catch(refused)
        .then((made) => {
          if (!own) onAnswered?.(request, made, performance.now() - startedMs);
          send(made, incoming, outgoing);
        })
        .catch(() => outgoing.destroy());
    },
  );
  server.maxConnections = limits.connections;
  // Who ends its side behind a request, as nc does, still gets the answer; the types of Node do not name it.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('clientError', refuseMalformed);
  const started = await startServer(server, {
    port,
    hint: 'Choose another port with --port, or --port 0 for a free one.',
  });
  return { url: `http://127.0.0.1:${started.port}`, close: started.close };
}

/** What lets pages of an origin ask, and read what errors tell. */
function pageHeaders(origin: string): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET, POST, PUT, DELETE',
    'access-control-allow-headers': 'authorization, content-type',
    'access-control-expose-headers': `x-request-id, retry-after, ${ignoredHeader}`,
    vary: 'origin',
  };
}

const hostForm = /^(\[[\da-f:.]*\]|[\w.-]*)(:\d+)?$/i;

/** A request to this machine by its Host header, of which there is one, and by its target, which may hold an address too. */
function readRequest(incoming: IncomingMessage): HeardRequest | ServiceRefusal {
  const { method = '', url = '', headers } = incoming;
  const { host = '' } = headers;
  if (!hostForm.test(host)) return new ServiceRefusal(400, 'Host header: not a host');
  if (!isLocalRequest(incoming)) return new ServiceRefusal(403, foreignRefusal);
  const origin = `http://${host}`;
  if (!URL.canParse(origin)) return new ServiceRefusal(400, 'Host header: not a host');
  let reading: Promise<string> | undefined;
  const request: HeardRequest = {
    method,
    origin,
    target: url.replace(/^\w+:\/\/[^/?#]*/, ''),
    headers,
    authorization: headers.authorization,
    body: () => {
      reading ??= gatherBody(incoming).then((text) => {
        request.text = text;
        return text;
      });
      return reading;
    },
  };
  return request;
}

async function gatherBody(incoming: IncomingMessage): Promise<string> {
  if (Number(incoming.headers['content-length'] ?? 0) > maxBodyBytes) throw bodyTooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // The answer to a body that is too large still needs the connection.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) throw bodyTooLarge();
      chunks.push(chunk);
    }
  } catch (cause) {
    throw cause instanceof ServiceRefusal ? cause : new ServiceRefusal(400, 'body ends too early');
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new ServiceRefusal(400, 'body is not UTF-8');
  }
}

/** Answers at once, and keeps the connection until the rest of a refused body has come, so that the sender reads the answer. */
function send({ status, headers, text, cut }: FaultyAnswer, incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (cut === 'all') return void outgoing.destroy();
  const bytes = Buffer.byteLength(text);
  outgoing.writeHead(status, { ...headers, 'content-length': bytes });
  if (cut === 'half')
    return void outgoing.write(Buffer.from(text).subarray(0, Math.floor(bytes / 2)), () => outgoing.destroy());
  // As a text it goes out in one piece with the head.
  if (incoming.complete) return void outgoing.end(text);
  outgoing.write(text);
  const late = setTimeout(() => incoming.socket.destroy(), limits.lingerMs);
  incoming.once('close', () => clearTimeout(late));
  incoming.once('end', () => outgoing.end());
  incoming.resume();
}

/** What is no HTTP, or too much or too slow of it. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  const status = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[error.code ?? ''] ?? 400;
  if (!socket.writable) return void socket.destroy();
  const text = JSON.stringify({ error: STATUS_CODES[status] });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n`;
  socket.end(`${head}content-length: ${text.length}\r\n\r\n${text}`);
}
