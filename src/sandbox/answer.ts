import type { z } from 'zod';
import type { Endpoint, InputOf, Params, WireNames } from '../api/endpoint.ts';
import { decodeRequest } from '../api/request.ts';
import { keepAnswers } from './answers.ts';
import { type Partner, Refusal, type SandboxCall } from './service.ts';
import type { Db } from './store.ts';

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
}

/** A request for a route, however it came. */
export interface Asked {
  /** The authorization header. */
  key: string | undefined;
  /** Absolute. */
  url: string;
  /** Parts of the path by their name, decoded. */
  path: Record<string, string>;
  body: () => string | Promise<string>;
}

/** Largest request body; section "Errors" of the sandbox's promises. */
export const largestBodyBytes = 5 * 1024 * 1024;

/** Answers requests with the JSON text of a 200. Throws Refusal for every documented error. */
export function answerer({ db, now, wire }: ServiceOptions): (route: Route, asked: Asked) => Promise<string> {
  const present = keepAnswers(db, now);
  return async ({ endpoint, handle, isSteady = false }, asked) => {
    const { nowMs, give } = present();
    const answer = async (): Promise<string> => {
      const partner = findPartner(db, asked.key, endpoint.keyless === true);
      const url = new URL(asked.url);
      const body = endpoint.method === 'GET' ? undefined : readBody(await asked.body());
      const decoded = decodeRequest(endpoint, { path: asked.path, query: url.searchParams, body }, wire);
      if (!decoded.ok) throw new Refusal(400, decoded.problem);
      return JSON.stringify(await handle(decoded.input as never, { db, nowMs, partner, url, wire }));
    };
    return isSteady ? give(`${asked.key}\n${asked.url}`, answer) : answer();
  };
}

/** Throws the Refusal of a body that is too large. */
export function refuseBody(): never {
  throw new Refusal(413, `body is larger than ${largestBodyBytes / 1024 / 1024} MB`);
}

/** The answer to what was thrown: that of a Refusal, or 500. Never throws. */
export function refusalOf(thrown: unknown): { status: Refusal['status'] | 500; body: { error: string } } {
  if (thrown instanceof Refusal) return { status: thrown.status, body: { error: thrown.message } };
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return { status: 500, body: { error: `sandbox fault: ${why}` } };
}

/** The text of the answer where no endpoint has the method and path. Never throws. */
export function noEndpoint(method: string, path: string): { error: string } {
  return { error: `no such endpoint: ${method} ${path}` };
}

function readBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 'body is not JSON');
  }
}

const nobody: Partner = { id: '', suffix: '' };

function findPartner(db: Db, header: string | undefined, keyless: boolean): Partner {
  if (header === undefined && keyless) return nobody;
  const key = /^Bearer (.+)$/.exec(header ?? '')?.[1];
  if (key === undefined) throw new Refusal(401, 'missing API key: send Authorization: Bearer <key>');
  const partner = db.get<Partner & Record<string, string>>('SELECT id, suffix FROM partner WHERE key = ?', [key]);
  if (partner === undefined) throw new Refusal(401, 'unknown API key');
  return partner;
}
