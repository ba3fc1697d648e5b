import { noSignatureFits, readHeader, signatureHeader, signedPrefix, untimelyReason } from '../api/signature-header.ts';

/** The fields that every event has; others depend on its type. */
export interface WebhookEvent {
  eventId: string;
  /** `new-feed-item`, `comment-created`, `copyswap`, or one to come. */
  eventType: string;
  [field: string]: unknown;
}

/** A delivery as received. */
export interface Delivery {
  /** The value of the header `daylight-signature`. */
  header: string | null | undefined;
  /** The body as received: parsed and serialized again it has another signature. */
  body: Uint8Array | ArrayBuffer | string;
  /** The secret of the webhook, or several while one replaces another. */
  secrets: string | readonly string[];
  /** The greatest age of a delivery; default: any. */
  toleranceMs?: number | undefined;
}

export type Verification =
  /** `event` is the body, `events` the events in it. */
  { valid: true; event: unknown; events: WebhookEvent[] } | { valid: false; reason: string };

/**
 * Whether a delivery is signed by one of the secrets and, with a tolerance, recent; compared in constant time. Errors: TypeError for a
 * body that was parsed already, and without secrets.
 */
export async function verifyWebhook({ header, body, secrets, toleranceMs }: Delivery): Promise<Verification> {
  const keys = checkSecrets(secrets);
  const bytes = toBytes(body);
  const refuseDelivery = (reason: string): Verification => ({ valid: false, reason });
  if (typeof (header ?? '') !== 'string') return refuseDelivery('malformed header: it must be one text');
  const parsed = readHeader(header ?? undefined);
  if (typeof parsed === 'string') return refuseDelivery(parsed);
  const prefix = new TextEncoder().encode(signedPrefix(parsed.timestamp));
  const signed = new Uint8Array(prefix.length + bytes.length);
  signed.set(prefix);
  signed.set(bytes, prefix.length);
  const wanted = await Promise.all(keys.map((secret) => sign(secret, signed)));
  const pairs = parsed.signatures.flatMap((given) => wanted.map((each) => isSameSignature(given, each)));
  if (!pairs.includes(true)) return refuseDelivery(noSignatureFits);
  const untimely = untimelyReason(parsed, { nowMs: Date.now(), toleranceMs });
  if (untimely !== undefined) return refuseDelivery(untimely);
  const event = parseObject(bytes);
  if (event === undefined) return refuseDelivery('the body is signed, but is no JSON object');
  return { valid: true, event, events: [event.events ?? event].flat() as WebhookEvent[] };
}

function checkSecrets(secrets: Delivery['secrets']): string[] {
  const list = [secrets].flat();
  if (list.length > 0 && list.every((secret) => typeof secret === 'string' && secret !== '')) return list;
  throw new TypeError('secrets: must be the secret of the webhook, or a list of secrets');
}

/** The object of a body; its sender is known, so that no bounds are needed. */
function parseObject(bytes: Uint8Array): { events?: unknown } | undefined {
  try {
    const value = JSON.parse(new TextDecoder().decode(bytes));
    return Object(value) === value ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A copy: the caller could change the body between the check and the parser. */
function toBytes(body: Delivery['body']): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  // By tag: a test runner or a frame has classes of its own.
  const tag = Object.prototype.toString.call(body).slice(8, -1);
  if (tag === 'ArrayBuffer' || tag === 'Uint8Array') return new Uint8Array(body as Uint8Array).slice();
  const got = ArrayBuffer.isView(body) ? ` (Uint8Array, ArrayBuffer or string), not ${tag}` : '';
  throw new TypeError(`body: must be the bytes or the text as received${got}, before any JSON parser`);
}

/** HMAC-SHA256 as base64url. */
async function sign(secret: string, signed: Uint8Array): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), algorithm, false, ['sign']);
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed));
  return btoa(String.fromCharCode(...digest))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace('=', '');
}

/** Compares every character, so that the time does not show which one differs. */
function isSameSignature(given: string, wanted: string): boolean {
  let difference = given.length ^ wanted.length;
  for (let at = 0; at < wanted.length; at += 1) difference |= given.charCodeAt(at) ^ wanted.charCodeAt(at);
  return difference === 0;
}

/** Options of a handler. */
export interface HandlerOptions extends Pick<Delivery, 'secrets' | 'toleranceMs'> {
  /** Called with the events of a delivery; if it throws, the answer is 500 and the service delivers again. */
  onEvents: (events: WebhookEvent[]) => unknown;
  /** The largest body that is read; default 8 MB. */
  maxBodyBytes?: number | undefined;
}

/** A request of node:http, or of a server built on it. */
export interface NodeRequest extends AsyncIterable<Uint8Array | string> {
  method?: string | undefined;
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Set by a body parser. */
  body?: unknown;
  /** The bytes as received, if the server keeps them (Firebase, body-parser's `verify`). */
  rawBody?: unknown;
  /** Whether the stream has been read. */
  readableDidRead?: boolean | undefined;
}

/** An answer of node:http. */
export interface NodeResponse {
  writeHead: (status: number, headers: Record<string, string>) => unknown;
  end: (text: string) => unknown;
}

export interface WebhookHandler {
  /** For servers that speak `fetch`: Hono, workers, Bun, Deno. */
  fetch: (request: Request) => Promise<Response>;
  /** For node:http and Express-like servers: reads `rawBody`, else a body of bytes or text, else the stream if it has not been read. */
  node: (request: NodeRequest, response: NodeResponse) => Promise<void>;
}

/**
 * Answers deliveries: 200 if verified, 401 with the reason if not, 405, 413, 500 if `onEvents` throws or the body was
 * parsed before. Errors: TypeError without secrets or `onEvents`.
 */
export function webhookHandler({
  secrets,
  toleranceMs,
  onEvents,
  maxBodyBytes = 8_388_608,
}: HandlerOptions): WebhookHandler {
  checkSecrets(secrets);
  if (typeof onEvents !== 'function') throw new TypeError('onEvents: must be a function');
  const answer = async (method: string | undefined, header: string | null, body: unknown): Promise<Outcome> => {
    if (method !== 'POST') return [405, 'only POST'];
    try {
      const bytes = await gatherBody(body, maxBodyBytes);
      if (bytes === undefined) return [413, 'too large'];
      const result = await verifyWebhook({ header, body: bytes, secrets, toleranceMs });
      if (!result.valid) return [401, result.reason];
      return await Promise.resolve(result.events)
        .then(onEvents)
        .then(
          (): Outcome => [200],
          (): Outcome => [500, 'not processed'],
        );
    } catch (thrown) {
      return [500, (thrown as Error).message];
    }
  };
  const type = { 'content-type': 'application/json' };
  return {
    fetch: async ({ method, headers, body, bodyUsed }) => {
      const [status, error] = await answer(method, headers.get(signatureHeader), bodyUsed ? alreadyRead : body);
      return new Response(JSON.stringify({ error }), { status, headers: type });
    },
    node: async (request, response) => {
      const header = [request.headers[signatureHeader]].flat().join(',');
      const [status, error] = await answer(request.method, header === '' ? null : header, chooseBody(request));
      response.writeHead(status, type);
      response.end(JSON.stringify({ error }));
    },
  };
}

/** A status, and the error. */
type Outcome = [status: number, error?: string];

/** The body of a request as received, or its stream. */
function chooseBody(request: NodeRequest): unknown {
  const { rawBody, body, readableDidRead } = request;
  if (rawBody !== undefined && rawBody !== null) return rawBody;
  if (typeof body === 'string' || ArrayBuffer.isView(body)) return body;
  return readableDidRead === true ? alreadyRead : request;
}

const alreadyRead = Symbol('already read');

/** The bytes of a stream, or of a body that was read completely; `undefined` for too many. */
async function gatherBody(body: unknown, max: number): Promise<Delivery['body'] | undefined> {
  if (body === alreadyRead)
    throw new TypeError('the body was already read: use this handler before any body parser, or keep rawBody');
  if (!isStream(body)) return (body ?? '') as Delivery['body'];
  const chunks: (Uint8Array | string)[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > max) return undefined;
    chunks.push(chunk);
  }
  return new Blob(chunks).arrayBuffer();
}

function isStream(body: unknown): body is AsyncIterable<Uint8Array | string> {
  return Symbol.asyncIterator in Object(body);
}
