import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { z } from 'zod';
import type { Endpoint, InputOf, Params, WireNames } from '../api/endpoint.ts';
import { decodeRequest } from '../api/request.ts';
import { keepAnswers } from './answers.ts';
import type { Socketed } from './fault.ts';
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

export interface ServerOptions {
  db: Db;
  routes: readonly Route[];
  now: () => number;
  wire: WireNames;
}

/** Largest request body; section "Errors" of the sandbox's promises. */
const largestBodyBytes = 5 * 1024 * 1024;

/** The sandbox as an HTTP application, for a socket or for in-process requests. Every error body is `{error}`. */
export function createApp({ db, routes, now, wire }: ServerOptions): Hono<{ Bindings: Partial<Socketed> }> {
  const app = new Hono<{ Bindings: Partial<Socketed> }>();
  const tooLarge = () => {
    throw new Refusal(413, `body is larger than ${largestBodyBytes / 1024 / 1024} MB`);
  };
  // Not on GET, where looking for a body costs more than the answer.
  app.on(['POST', 'PUT', 'PATCH', 'DELETE'], '*', bodyLimit({ maxSize: largestBodyBytes, onError: tooLarge }));
  const present = keepAnswers(db, now);
  for (const { endpoint, handle, isSteady = false } of routes) {
    app.on(endpoint.method, endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'), async (c) => {
      const { nowMs, give } = present();
      // As the socket has it, where there is one: the request would make all of its headers anew for it.
      const key = c.env?.incoming?.headers.authorization ?? c.req.header('authorization');
      const answer = async (): Promise<string> => {
        const partner = findPartner(db, key, endpoint.keyless === true);
        const url = new URL(c.req.url);
        const body = endpoint.method === 'GET' ? undefined : readBody(await c.req.text());
        const decoded = decodeRequest(endpoint, { path: c.req.param(), query: url.searchParams, body }, wire);
        if (!decoded.ok) throw new Refusal(400, decoded.problem);
        return JSON.stringify(await handle(decoded.input as never, { db, nowMs, partner, url, wire }));
      };
      const text = isSteady ? await give(`${key}\n${c.req.url}`, answer) : await answer();
      return new Response(text, {
        headers: { 'content-type': 'application/json', 'x-request-id': crypto.randomUUID() },
      });
    });
  }
  app.notFound((c) => c.json({ error: `no such endpoint: ${c.req.method} ${c.req.path}` }, 404));
  app.onError((error, c) => {
    const headers = { 'x-request-id': crypto.randomUUID() };
    if (error instanceof Refusal) return c.json({ error: error.message }, error.status, headers);
    return c.json({ error: `sandbox fault: ${error.message}` }, 500, headers);
  });
  return app;
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
