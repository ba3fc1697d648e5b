import type { z } from 'zod';
import type { Endpoint, InputOf, Params, WireNames } from '../../contract/endpoint.ts';
import { decodeRequest } from '../../contract/request.ts';
import { parseJson } from '../../model/json.ts';
import { type Db, isLocked } from '../db/store.ts';
import { keepAnswers } from './answers.ts';
import { createRouter } from './router.ts';
import { type Partner, Refusal, type SandboxCall } from './service.ts';

/** How the sandbox answers one endpoint. Throws Refusal for every documented error. */
export type Handler<E extends { params: Params; answer: z.ZodType }> = (
  input: InputOf<E['params']>,
  call: SandboxCall,
) => z.input<E['answer']> | Promise<z.input<E['answer']>>;

/** An endpoint with its handler, types forgotten. */
export interface Route {
  endpoint: Endpoint;
  handle: (input: never, call: SandboxCall) => unknown;
  /** The answer changes with the data and the windows of time alone, and so may be given again as it is. */
  isSteady?: boolean;
}

export interface ServiceOptions {
  db: Db;
  routes: readonly Route[];
  now: () => number;
  wire: WireNames;
  /** Lets a request wait for another process's write while others are answered; without it the database itself waits. */
  sleep?: (ms: number) => Promise<void>;
}

/** A request, however it came. */
export interface IncomingRequest {
  method: string;
  /** Scheme and host, for links in answers. */
  origin: string;
  /** Path and query as they were sent. */
  target: string;
  /** The authorization header. */
  authorization: string | undefined;
  /** Read after the key was checked, and not at all for GET. */
  body: () => string | Promise<string>;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** Largest request body; section "Errors" of the sandbox's promises. */
export const largestBodyBytes = 5 * 1024 * 1024;

/** Names what of a request changed nothing, comma-separated: query names and body fields that the endpoint does not know. */
export const ignoredHeader = 'x-sotra-ignored';

/** How long a write waits for another process's, and between looks. */
const busy = { forMs: 20_000, napMs: 5 };

/** An answer before its headers. */
interface Made {
  text: string;
  ignored: readonly string[];
}

/** The whole sandbox as a function: any request gets an answer, every error body is `{error}`. */
export function answerer({
  db,
  routes,
  now,
  wire,
  sleep,
}: ServiceOptions): (request: IncomingRequest) => Promise<Answer> {
  const present = keepAnswers<Made>(db, now);
  const find = createRouter(routes);
  const respond = async (request: IncomingRequest): Promise<Made> => {
    const { target, authorization } = request;
    const { route, path } = find(request.method, pathOf(target));
    const { endpoint } = route;
    const partner = findPartner(db, authorization, endpoint.keyless === true);
    const { nowMs, give } = present();
    const make = async (): Promise<Made> => {
      const url = new URL(request.origin + target);
      const body = endpoint.method === 'GET' ? undefined : readBody(await request.body());
      const decoded = decodeRequest(endpoint, { path, query: url.searchParams, body }, wire);
      if (!decoded.ok) throw new Refusal(400, decoded.problem);
      const ignored = [...decoded.ignored];
      const call = { db, nowMs, partner, url, wire, ignore: (what: string) => void ignored.push(what) };
      const answer = await whenFree(() => route.handle(decoded.input as never, call), sleep);
      return { text: JSON.stringify(answer), ignored: [...new Set(ignored)] };
    };
    return route.isSteady ? give(`${authorization}\n${request.origin}${target}`, make) : make();
  };
  return async (request) => {
    try {
      const { text, ignored } = await respond(request);
      return answerOf(200, text, ignored.length === 0 ? {} : { [ignoredHeader]: headerText(ignored) });
    } catch (error) {
      return refused(error);
    }
  };
}

/** The path of a target, without its query. */
export function pathOf(target: string): string {
  return target.split(/[?#]/, 1)[0] ?? '';
}

/** The answer to what was thrown: that of a Refusal, or 500. */
export function refused(thrown: unknown): Answer {
  if (thrown instanceof Refusal)
    return answerOf(thrown.status, JSON.stringify({ error: thrown.message }), thrown.headers);
  const why = thrown instanceof Error ? thrown.message : thrown;
  return answerOf(500, JSON.stringify({ error: `sandbox fault: ${why}` }));
}

/** An answer with the headers that each one has. */
export function answerOf(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json', 'x-request-id': crypto.randomUUID(), ...headers },
    text,
  };
}

export function bodyTooLarge(): Refusal {
  return new Refusal(413, `body is larger than ${largestBodyBytes / 1024 / 1024} MB`);
}

/** What `act` gives, once no other process is writing. A handler that met one has changed nothing that it would not find again. */
async function whenFree<T>(act: () => T | Promise<T>, sleep: ServiceOptions['sleep']): Promise<T> {
  for (let leftMs = busy.forMs; ; leftMs -= busy.napMs) {
    try {
      return await act();
    } catch (error) {
      if (!isLocked(error)) throw error;
      if (sleep === undefined || leftMs <= 0)
        throw new Refusal(503, 'another process is writing to the database', { 'retry-after': '1' });
      await sleep(busy.napMs);
    }
  }
}

/** Names as a header holds them: a header has no other bytes than these, and only so many. */
function headerText(names: readonly string[]): string {
  const most = 20;
  const shown = names.slice(0, most).map((name) => printable(name.slice(0, 80)).replaceAll(',', '%2C'));
  return [...shown, ...(names.length > most ? [`(${names.length - most}-more)`] : [])].join(',');
}

/** Text of a request as a line may hold it: percent-encoded but for printable ASCII without the space. */
export function printable(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]/gu, (character) =>
    Buffer.from(character).toString('hex').toUpperCase().replaceAll(/../g, '%$&'),
  );
}

function readBody(text: string): unknown {
  if (text === '') return undefined;
  if (Buffer.byteLength(text) > largestBodyBytes) throw bodyTooLarge();
  try {
    return parseJson(text);
  } catch {
    throw new Refusal(400, 'body is not JSON');
  }
}

const nobody: Partner = { id: '', suffix: '' };

/** The token of an authorization header. The scheme is written in any case (RFC 9110, 11.1). */
export function bearerOf(header: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(header ?? '')?.[1];
}

function findPartner(db: Db, header: string | undefined, keyless: boolean): Partner {
  if (header === undefined && keyless) return nobody;
  const key = bearerOf(header);
  if (key === undefined) throw new Refusal(401, 'missing API key: send Authorization: Bearer <key>');
  const partner = db.get<Partner & Record<string, string>>('SELECT id, suffix FROM partner WHERE key = ?', [key]);
  if (partner === undefined) throw new Refusal(401, 'unknown API key');
  return partner;
}
