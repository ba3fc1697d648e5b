import { randomUUID } from 'node:crypto';
import { type AnswerOf, type Endpoint, type InputOf, type WireNames, wireName } from '../../api/endpoint.ts';
import { isLocked } from '../../lib/files/database.ts';
import type { Db } from '../db/store.ts';

export interface Partner {
  id: string;
  /** Appended to names that this partner sets, e.g. `.alpha.test`. */
  suffix: string;
}

/** What every answer depends on. */
export interface RequestContext {
  db: Db;
  nowMs: number;
  partner: Partner;
}

/** What a sandbox handler works with. */
export interface SandboxCall extends RequestContext {
  url: URL;
  /** Other names of parameters that this sandbox was started with; links in answers use them. */
  wire: WireNames;
  /** Notes a value of the request that changes nothing, such as `sections=x`, for the header and the log. */
  ignore: (what: string) => void;
}

/** Errors: ServiceRefusal for every documented error. */
export type Handler<E extends Pick<Endpoint, 'params' | 'answer'>> = (
  input: InputOf<E['params']>,
  call: SandboxCall,
) => AnswerOf<E> | Promise<AnswerOf<E>>;

/** Items in an answer when the request does not say how many. */
export const defaultLimits = {
  /** Section "GET /v1/feed/actor". */
  feed: 25,
  /** Wire-facts 3.1, 3.2. */
  leaderboard: 50,
  /** Not found; assumed. */
  positions: 20,
  /** Section "followers and /follows". */
  profiles: 100,
  /** Wire-facts 3.17. */
  comments: 50,
} as const;

export interface IncomingRequest {
  method: string;
  origin: string;
  target: string;
  authorization: string | undefined;
  body: () => string | Promise<string>;
}

/** The address of a request with other values of some query parameters, by their keys in the endpoint; `null` takes one out. */
export function linkWith(
  { url, wire }: SandboxCall,
  endpoint: Pick<Endpoint, 'id' | 'params'>,
  values: Readonly<Record<string, string | null>>,
): string {
  const link = new URL(url);
  for (const [key, value] of Object.entries(values)) {
    const param = endpoint.params[key];
    const name = param === undefined ? key : wireName(endpoint, key, param, wire);
    link.searchParams.delete(name);
    if (value !== null) link.searchParams.set(name, value);
  }
  return link.href;
}

export function cutQuery(target: string): string {
  return target.split(/[?#]/, 1)[0] ?? '';
}

/** The token of an authorization header. The scheme is written in any case (RFC 9110, 11.1). */
export function readBearer(header: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(header ?? '')?.[1];
}

/** Text of a request for a line: percent-encoded except printable ASCII without the space. */
export function printable(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]/gu, (character) =>
    Buffer.from(character).toString('hex').toUpperCase().replaceAll(/../g, '%$&'),
  );
}

export interface ServedAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

export function makeAnswer(status: number, text: string, headers: Readonly<Record<string, string>> = {}): ServedAnswer {
  return { status, headers: { 'content-type': 'application/json', 'x-request-id': randomUUID(), ...headers }, text };
}

type RefusalStatus = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 503;

export class ServiceRefusal extends Error {
  readonly status: RefusalStatus;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: RefusalStatus, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** The answer to an error: its own for a ServiceRefusal, 503 if another process wrote for too long, else 500. */
export function answerError(thrown: unknown): ServedAnswer {
  if (thrown instanceof ServiceRefusal)
    return makeAnswer(thrown.status, JSON.stringify({ error: thrown.message }), thrown.headers);
  if (isLocked(thrown))
    return answerError(new ServiceRefusal(503, 'another process is writing to the database', { 'retry-after': '1' }));
  const why = thrown instanceof Error ? thrown.message : thrown;
  return makeAnswer(500, JSON.stringify({ error: `sandbox fault: ${why}` }));
}

/** Largest request body. */
export const maxRequestBytes = 5 * 1024 * 1024;

export function bodyTooLarge(): ServiceRefusal {
  return new ServiceRefusal(413, `body is larger than ${maxRequestBytes / 1024 / 1024} MB`);
}

/** Lists what had no effect in a request, comma-separated: query names and body fields that the endpoint does not know. */
export const ignoredHeader = 'x-sotra-ignored';

/** Holds the control token of a served sandbox. */
export const controlHeader = 'x-control-token';
