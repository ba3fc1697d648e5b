import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SotraError } from '../../errors.ts';
import type { EventSummary } from './delivery.ts';
import type { Entry, Inbox } from './inbox.ts';
import { matchingSecret, parseHeader, signatureHeader } from './signature.ts';
import { verifyDelivery } from './verify.ts';

export interface Listening {
  inbox: Inbox;
  host: string;
  port: number;
  /** The first are tried first; several while a secret is being changed. */
  secrets: readonly string[];
  /** How old a signature may be; `undefined`: any age. */
  toleranceMs: number | undefined;
  mostBytes: number;
  now: () => number;
  /** Told of every new event once it is safe on disk. */
  onEvents: (events: readonly EventSummary[], entry: Entry, path: string) => void;
  /** Told of every request that was not taken, and of repeats. */
  onOther: (what: string) => void;
}

export interface Listener {
  url: string;
  close: () => Promise<void>;
}

/**
 * Listens for deliveries. 2xx only when the event is safe on disk (or was before); 401 without a fitting signature, 413 over the limit,
 * 405 for anything but POST. Errors: `config` when the port is taken.
 */
export async function startListener(options: Listening): Promise<Listener> {
  const server = createServer((request, response) => {
    answer(request, options).then(
      ({ status, text }) => send(response, status, text),
      (error: unknown) => {
        options.onOther(`a delivery could not be stored: ${error instanceof Error ? error.message : error}`);
        send(response, 500, 'could not be stored');
      },
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', (cause) =>
      reject(
        new SotraError('config', `cannot listen on ${options.host}:${options.port}: ${cause.message}`, {
          hint: 'Choose another port with --port, or --port 0 for a free one.',
          cause,
        }),
      ),
    );
    server.listen(options.port, options.host);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), 2000).unref();
      }),
  };
}

function send(response: ServerResponse, status: number, text: string): void {
  const body = JSON.stringify(status < 300 ? { received: text } : { error: text });
  // A refused body was not read to its end: the connection cannot be used again.
  const closing = status === 413 ? { connection: 'close' } : {};
  response.writeHead(status, { 'content-type': 'application/json', ...closing });
  response.end(body);
}

interface Answer {
  status: number;
  text: string;
}

async function answer(request: IncomingMessage, options: Listening): Promise<Answer> {
  const refuse = (status: number, text: string): Answer => {
    options.onOther(`refused ${request.method} ${request.url}: ${status}, ${text}`);
    return { status, text };
  };
  if (request.method !== 'POST') return refuse(405, 'deliveries are POSTs');
  const body = await readBody(request, options.mostBytes);
  if (body === undefined) return refuse(413, `body is larger than ${options.mostBytes} bytes`);
  const value = request.headers[signatureHeader];
  const header = Array.isArray(value) ? value.join(',') : value;
  const nowMs = options.now();
  const verdict = verifyDelivery({ header, body }, options.secrets, { nowMs, toleranceMs: options.toleranceMs });
  if (!verdict.valid) return refuse(401, verdict.reason ?? 'not valid');
  const path = request.url ?? '/';
  const received = { path, lane: laneOf(path, header ?? '', body, options.secrets), headers: request.rawHeaders, body };
  const { entry, fresh } = await options.inbox.take(received, nowMs);
  if (entry === undefined) {
    options.onOther(`repeat of event ${verdict.eventIds.join(', ')}`);
    return { status: 200, text: 'before' };
  }
  options.onEvents(fresh, entry, path);
  return { status: 200, text: 'now' };
}

/** A webhook is told by where it sends to and what it signs with. */
function laneOf(path: string, header: string, body: Buffer, secrets: readonly string[]): string {
  const parsed = parseHeader(header);
  const secret = 'malformed' in parsed ? '' : (secrets[matchingSecret(parsed, body, secrets)] ?? '');
  return `${path}#${createHash('sha256').update(secret).digest('hex').slice(0, 8)}`;
}

async function readBody(request: IncomingMessage, mostBytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > mostBytes) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
