import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { hasSignature, readHeader, type SignatureHeader, untimelyReason } from '../api/signature-header.ts';
import { exampleEventId, matchingSecret } from '../api/webhook-signature.ts';
import { hideUrlSecrets } from '../client/secrets.ts';
import { readMessage } from '../errors.ts';
import { type HttpServer, type Reply, send, startHttpServer } from '../lib/http-server.ts';
import { nameEvents, readAllEvents, readEvents } from './events.ts';
import { signatureIn } from './forward.ts';
import type { Inbox, StoredDelivery } from './inbox.ts';

/** A request that was answered with an error. */
export interface RefusedRequest {
  atMs: number;
  method: string;
  path: string;
  /** Names and values in turn. */
  headers: readonly string[];
  status: number;
  reason: string;
  /** If its signature fits no secret and it is not large. */
  body: Buffer | undefined;
}

interface ListenerOptions {
  inbox: Inbox;
  host: string;
  port: number;
  /** Several while a secret is being changed. */
  secrets: readonly string[];
  /** How old a signature may be. */
  toleranceMs: number;
  now: () => number;
  /** Called with a delivery once its new events are safe. */
  onStored: (delivery: StoredDelivery) => void;
  /** Called for repeats, probes and failures. */
  onOther: (what: string) => void;
  /** Called for refused requests, which anybody may send, and many. */
  onRefused: (refused: RefusedRequest) => void;
  /** Called for requests that were refused before they could be read, with the status they got and why. */
  onMalformed: (status: number, why: string) => void;
  /** Called when a delivery could not be stored: its sender got 503. */
  onDiskError: (error: unknown) => void;
}

/** Of one delivery. */
const maxDeliveryBytes = 5 * 1024 * 1024;
/** The memory of a chunk beside its bytes. */
const chunkBytes = 256;
/** Of all bodies whose signature is not checked yet. */
const maxMemoryBytes = 32 * 1024 * 1024;
/** Anybody may open connections: idle ones are closed soon. */
const limits = {
  maxConnections: 1000,
  maxPipelined: 4,
  headersTimeoutMs: 5000,
  requestTimeoutMs: 30_000,
  closeWaitMs: 2000,
};
/** Larger bodies are hashed one after the other, so that no sender stops the others for long. */
const quickBytes = 16 * 1024;
/** The largest body that is kept to explain why its signature is wrong. */
const explainedBytes = 32 * 1024;

/**
 * Listens for deliveries: 2xx only when the event is safe on disk; 401 without a matching signature, 503 if it could not be stored or too
 * much is being received. Errors: `config` when the port is in use.
 */
export function startListener(options: ListenerOptions): Promise<HttpServer> {
  const { host, port, inbox, onOther } = options;
  const receive = createReceiver(Math.min(maxDeliveryBytes, inbox.maxBytes ?? maxDeliveryBytes));
  const findSecret = createSecretFinder(options.secrets);
  const answer = async (request: IncomingMessage, header: SignatureHeader): Promise<Reply> => {
    const body = await receive(request);
    if (!Buffer.isBuffer(body)) return refuse(request, body, options);
    const secret = await findSecret(header, body);
    if (secret !== undefined) return store(request, body, { ...options, secret });
    return refuse(request, wrongSignature, options, body.length > explainedBytes ? undefined : body);
  };
  return startHttpServer(
    async (request, response) => {
      const header = checkHead(request, options);
      const reply = 'status' in header ? refuse(request, header, options) : await answer(request, header);
      // What follows a refused request on its connection is dropped.
      const headers = { 'content-type': 'application/json', ...(reply.status >= 300 && { connection: 'close' }) };
      send(response, { ...reply, headers: { ...headers, ...reply.headers } });
    },
    {
      host,
      port,
      ...limits,
      hint: 'Choose another port with --port, or --port 0 for a free one.',
      onError: (error) => onOther(`a request was answered 500: ${readMessage(error)}`),
      onMalformed: options.onMalformed,
    },
  );
}

const failure = (status: number, error: string, headers?: Record<string, string>) => ({
  status,
  headers,
  error,
  body: JSON.stringify({ error }),
});
type Refusal = ReturnType<typeof failure>;

const notPost = failure(405, 'deliveries are POSTs', { allow: 'POST' });
// The same answer for every wrong signature: a forger learns nothing from it.
const wrongSignature = failure(401, 'wrong signature: none in the header matches this body');
const tooMuch = failure(503, 'too much data is being received: send it again', { 'retry-after': '1' });
const notStored = failure(503, 'could not be stored');

const accepted = (received: 'now' | 'before' | 'example'): Reply => ({
  status: 200,
  body: JSON.stringify({ received }),
});

/** The signature header of a request, or the refusal that needs no look at the body. */
function checkHead(request: IncomingMessage, { now, toleranceMs }: ListenerOptions): SignatureHeader | Refusal {
  if (request.method !== 'POST') return notPost;
  const header = readHeader(signatureIn(request.rawHeaders));
  if (typeof header === 'string') return failure(401, header);
  if (!hasSignature(header)) return wrongSignature;
  const untimely = untimelyReason(header, { nowMs: now(), toleranceMs });
  return untimely === undefined ? header : failure(401, untimely);
}

/** Receives bodies of senders that nobody knows yet. If all of them take too much memory, the largest one is refused. */
function createReceiver(maxBytes: number): (request: IncomingMessage) => Promise<Buffer | Refusal> {
  const tooLarge = failure(413, `body is larger than ${maxBytes} bytes`);
  const receiving = new Set<{ bytes: number; memory: number; refuse: () => void }>();
  let allMemory = 0;
  const makeRoom = () => {
    if (allMemory <= maxMemoryBytes) return;
    const [largest] = [...receiving].sort((a, b) => b.memory - a.memory);
    largest?.refuse();
  };
  return (request) =>
    new Promise((resolve, reject) => {
      let chunks: Buffer[] = [];
      const end = (result: Buffer | Refusal) => {
        if (receiving.delete(body)) allMemory -= body.memory;
        chunks = [];
        request.off('readable', read);
        resolve(result);
      };
      const body = { bytes: 0, memory: 0, refuse: () => end(tooMuch) };
      const add = (chunk: Buffer) => {
        chunks.push(chunk);
        body.bytes += chunk.length;
        body.memory += chunk.length + chunkBytes;
        allMemory += chunk.length + chunkBytes;
        if (body.bytes > maxBytes) end(tooLarge);
        else makeRoom();
      };
      if (Number(request.headers['content-length'] ?? 0) > maxBytes) return resolve(tooLarge);
      // What came in many small chunks is read as one.
      const read = () => {
        for (let chunk = request.read(); chunk !== null; chunk = request.read()) add(chunk);
      };
      receiving.add(body);
      request.on('readable', read);
      request.once('end', () => end(Buffer.concat(chunks)));
      request.once('close', () => {
        reject(new Error('the sender has gone'));
        end(tooMuch);
      });
    });
}

/** Finds the secret that signed a body, compared in constant time. */
function createSecretFinder(secrets: readonly string[]) {
  let turn: Promise<unknown> = Promise.resolve();
  const nextTurn = () => {
    turn = turn.then(() => setImmediate());
    return turn;
  };
  return async (header: SignatureHeader, body: Buffer): Promise<string | undefined> => {
    let found: string | undefined;
    for (const secret of secrets) {
      if (body.length > quickBytes) await nextTurn();
      if (matchingSecret(header, body, [secret]) === 0) found ??= secret;
    }
    return found;
  };
}

function refuse(request: IncomingMessage, refusal: Refusal, options: ListenerOptions, body?: Buffer): Reply {
  const { method = '', rawHeaders: headers } = request;
  const { status, error: reason } = refusal;
  const [path, atMs] = [readShownPath(request), options.now()];
  options.onRefused({ atMs, method, path, headers, status, reason, body });
  return refusal;
}

/** Without secrets, since it is stored and shown. */
const readShownPath = ({ url = '/' }: IncomingMessage): string => hideUrlSecrets(url);

async function store(
  request: IncomingMessage,
  body: Buffer,
  { inbox, secret, now, onOther, onStored, onDiskError }: ListenerOptions & { secret: string },
): Promise<Reply> {
  const path = readShownPath(request);
  if (isProbe(body)) {
    onOther(`validation probe to ${path}: answered 200, its example event is not stored`);
    return accepted('example');
  }
  const webhook = `${path}#${nameSecret(secret)}`;
  const delivery = { webhook, atMs: now(), headers: request.rawHeaders, body };
  try {
    const [stored] = await inbox.store([delivery]);
    if (stored !== undefined) {
      onStored(stored);
      return accepted('now');
    }
  } catch (error) {
    onDiskError(error);
    return notStored;
  }
  onOther(`repeat of ${nameEvents(readAllEvents(body))}`);
  return accepted('before');
}

function isProbe(body: Buffer): boolean {
  if (!body.includes(exampleEventId)) return false;
  const events = readEvents(body);
  return events.length > 0 && events.every(({ eventId }) => eventId === exampleEventId);
}

/** The end of the name of each webhook that it signs for. */
function nameSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 8);
}
