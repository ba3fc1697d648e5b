import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { parseTime } from '../../api/duration.ts';
import { readMessage } from '../../errors.ts';
import type { Db } from '../../lib/files/database.ts';
import { foreignRefusal, isLocalRequest, readBody, send, startHttpServer } from '../../lib/http-server.ts';
import type { Io } from '../../lib/io.ts';
import { freezeClock, keepSettings, readWireNames, type Settings, storedNow, type Wire } from '../db/settings.ts';
import { ensureWorld } from '../db/world.ts';
import { startDeliverer, stopDeliverer } from '../deliver/deliver.ts';
import { refreshTotals } from '../ledger/figures.ts';
import {
  answerError,
  bodyTooLarge,
  type IncomingRequest,
  ignoredHeader,
  makeAnswer,
  maxRequestBytes,
  printable,
  type ServedAnswer,
  ServiceRefusal,
} from '../service/handler.ts';
import { allRoutes, createService } from './answer.ts';
import { createFaultInjector, type Fault, type FaultyAnswer } from './fault.ts';

export interface WorldOptions extends Settings {
  empty?: boolean | undefined;
  /** A time at which the clock is frozen. */
  asOf?: string | undefined;
}

/** Fills a new database, and stores the settings that a sandbox is started with. */
export function setUpWorld(db: Db, options: WorldOptions, realNowMs: number): void {
  const frozenMs = options.asOf === undefined ? undefined : parseTime(options.asOf);
  if (frozenMs !== undefined) freezeClock(db, frozenMs);
  ensureWorld(db, realNowMs, options.empty ? 'empty' : 'demo');
  keepSettings(db, { ...options, wire: options.wire ?? {} });
}

interface ServeOptions extends Omit<ListenOptions, 'faulty'> {
  db: Db;
  port: number;
  wire: Wire;
  faults: readonly Fault[];
  io: Pick<Io, 'now' | 'sleep'>;
  warn: (text: string) => void;
  /** Answers a request instead of the service. */
  control?: (request: IncomingRequest, headers: IncomingHttpHeaders) => ServedAnswer | undefined;
}

/** Serves a database on 127.0.0.1, and delivers to its webhooks. `close` closes the database too. */
export async function serve({ db, port, wire, faults, io, warn, control, ...listening }: ServeOptions) {
  const stop = new AbortController();
  const sleep = (ms: number) => io.sleep(ms, stop.signal);
  // Loaded now: an update of the program may replace its files while this runs.
  await allRoutes();
  const answer = createService({ db, now: io.now, wire: readWireNames(wire) });
  const server = await listen(async (request, headers) => control?.(request, headers) ?? answer(request), port, {
    faulty: { faults, sleep },
    ...listening,
  });
  const deliverer = startDeliverer({ db, now: io.now, sleep: io.sleep, warn });
  const refreshing = refreshOften(db, io, warn, stop.signal);
  return {
    url: server.url,
    close: async (): Promise<void> => {
      stop.abort();
      await server.close();
      await Promise.all([stopDeliverer(deliverer), refreshing]);
      db.close();
    },
  };
}

const refreshEveryMs = 5 * 60_000;

/** Keeps leaderboards quick while nothing is written. */
async function refreshOften(
  db: Db,
  { now, sleep }: Pick<Io, 'now' | 'sleep'>,
  warn: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      refreshTotals(db, storedNow(db, now()));
    } catch (error) {
      warn(`leaderboards may be slow for now: ${readMessage(error)}`);
    }
    await sleep(refreshEveryMs, signal).catch(() => undefined);
  }
}

export interface ListenOptions {
  /** Faults to inject, and how to wait for those that delay. */
  faulty?: { faults: readonly Fault[]; sleep: (ms: number) => Promise<void> };
  /** Whether a request is exempt from faults and from `onAnswered`. */
  isOwn?: (request: IncomingRequest) => boolean;
  /** Origins whose pages may send requests; default: none. */
  cors?: readonly string[];
  /** Called after each answer, except to requests whose Host or Origin header is refused. */
  onAnswered?: (request: ReceivedRequest, answer: FaultyAnswer, ms: number) => void;
}

/** A request as it came. */
export interface ReceivedRequest extends IncomingRequest {
  headers: IncomingHttpHeaders;
  /** Its body, if it was read to its end. */
  text?: string;
}

/**
 * Serves on 127.0.0.1; port 0 takes a free one. No web page can reach it: a request for another host, and one from a page whose origin is not
 * in `cors`, is answered 403. Errors: `config` when the port is taken.
 */
export async function listen(
  answer: (request: IncomingRequest, headers: IncomingMessage['headers']) => Promise<ServedAnswer>,
  port: number,
  { faulty, isOwn, cors = [], onAnswered }: ListenOptions = {},
) {
  const toPage = async (request: IncomingRequest, { headers }: IncomingMessage): Promise<ServedAnswer> => {
    const isPreflight = request.method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
    const made = isPreflight ? makeAnswer(204, '') : await answer(request, headers);
    return {
      ...made,
      headers: { ...made.headers, ...pageHeaders(cors.find((each) => each === headers.origin) ?? cors[0] ?? '') },
    };
  };
  const injectFaults = faulty && createFaultInjector(faulty.faults, faulty.sleep);
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const startedMs = performance.now();
    const request = readRequest(incoming, cors);
    if (request instanceof ServiceRefusal) return sendAnswer(answerError(request), outgoing);
    const whole = cors.length === 0 ? () => answer(request, incoming.headers) : () => toPage(request, incoming);
    const own = isOwn?.(request) === true;
    const answering = own || injectFaults === undefined ? whole() : injectFaults(request, whole);
    const made: FaultyAnswer = await answering.catch(answerError);
    if (!own) onAnswered?.(request, made, performance.now() - startedMs);
    sendAnswer(made, outgoing);
  };
  return startHttpServer(handle, {
    port,
    hint: 'It may be a sandbox: see sotra sandbox status. Or choose another port with --port; 0 is a free one.',
    maxConnections: 1000,
    onError: () => undefined,
  });
}

/** Lets pages of an origin send requests and read errors. */
function pageHeaders(origin: string): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET, POST, PUT, DELETE',
    'access-control-allow-headers': 'authorization, content-type',
    'access-control-expose-headers': `x-request-id, retry-after, ${ignoredHeader}`,
    vary: 'origin',
  };
}

/** The request, or why it is refused: Host header, target and Origin header must name this server or an origin of `cors`. */
function readRequest(incoming: IncomingMessage, cors: readonly string[]): ReceivedRequest | ServiceRefusal {
  const { method = '', url = '', headers } = incoming;
  const origin = `http://${headers.host}`;
  if (!isLocalRequest(incoming) || !URL.canParse(origin)) return new ServiceRefusal(403, foreignRefusal);
  const from = headers.origin ?? origin;
  if (from !== origin && !cors.includes(from))
    return new ServiceRefusal(
      403,
      `Origin header: requests from pages of ${printable(from)} are refused; allow them with --cors`,
    );
  let reading: Promise<string> | undefined;
  const request: ReceivedRequest = {
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
  const bytes = await readBody(incoming, maxRequestBytes).catch(() => {
    throw new ServiceRefusal(400, 'body ends too early');
  });
  if (bytes === undefined) throw bodyTooLarge();
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ServiceRefusal(400, 'body is not UTF-8');
  }
}

function sendAnswer({ status, headers, text, cut }: FaultyAnswer, outgoing: ServerResponse): void {
  if (cut === undefined) send(outgoing, { status, headers, body: text });
  else if (cut === 'all') outgoing.destroy();
  else {
    const bytes = Buffer.from(text);
    outgoing.writeHead(status, { ...headers, 'content-length': bytes.length });
    outgoing.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => outgoing.destroy());
  }
}
