import type { WireNames } from '../../contract/endpoint.ts';
import { decodeRequest } from '../../contract/request.ts';
import { type Db, isLocked } from '../../files/database.ts';
import { parseJson } from '../../model/json.ts';
import { moreChains, sandboxNow } from '../db/clock.ts';
import {
  type Answer,
  answerOf,
  bearerOf,
  bodyTooLarge,
  decodePart,
  type IncomingRequest,
  ignoredHeader,
  maxBodyBytes,
  type Partner,
  pathOf,
  printable,
  Refusal,
  type Route,
  refused,
} from './service.ts';

export interface ServiceOptions {
  db: Db;
  /** By the first word of their paths behind the version. */
  routesUnder: (word: string) => Promise<readonly Route[]>;
  now: () => number;
  wire: WireNames;
  /** Lets a request wait for another process's write while others are answered; without it the database itself waits. */
  sleep?: (ms: number) => Promise<void>;
}

const busy = { forMs: 20_000, napMs: 5 };

/** The whole sandbox as a function: any request gets an answer, every error body is `{error}`. */
export function answerer({
  db,
  routesUnder,
  now,
  wire,
  sleep,
}: ServiceOptions): (request: IncomingRequest) => Promise<Answer> {
  const find = createRouter(routesUnder);
  const respond = async (request: IncomingRequest): Promise<Answer> => {
    const { target, authorization } = request;
    const { route, path } = await find(request.method, pathOf(target));
    const { endpoint } = route;
    const partner = findPartner(db, authorization, endpoint.keyless === true);
    const url = new URL(request.origin + target);
    const body = endpoint.method === 'GET' ? undefined : readBody(await request.body());
    const decoded = decodeRequest(endpoint, { path, query: url.searchParams, body }, wire, moreChains(db));
    if (!decoded.ok) throw new Refusal(400, decoded.problem);
    const ignored = new Set(decoded.ignored);
    const nowMs = sandboxNow(db, now());
    const call = { db, nowMs, partner, url, wire, ignore: (what: string) => void ignored.add(what) };
    const answer = await whenFree(() => route.handle(decoded.input as never, call), sleep);
    return answerOf(
      200,
      JSON.stringify(answer),
      ignored.size === 0 ? {} : { [ignoredHeader]: headerText([...ignored]) },
    );
  };
  return (request) => respond(request).catch(refused);
}

/**
 * Finds the route of a method and a path as it was sent. Errors: Refusal 404, 405, and 400 for a part that is no percent-encoded UTF-8, or
 * `.` or `..`, which a client may have taken for a folder.
 */
function createRouter(routesUnder: ServiceOptions['routesUnder']) {
  const known = new Map<string, readonly { route: Route; words: readonly string[] }[]>();
  const tableOf = async (word: string) => {
    const table = (await routesUnder(word)).map((route) => ({ route, words: route.endpoint.path.split('/') }));
    if (table.length > 0) known.set(word, table);
    return table;
  };
  return async (method: string, pathname: string): Promise<{ route: Route; path: Record<string, string> }> => {
    const given = pathname.split('/');
    const [, , word = ''] = given;
    const fitting = (known.get(word) ?? (await tableOf(word))).filter(({ words }) => fits(words, given));
    const wanted = method === 'HEAD' ? 'GET' : method;
    const found = fitting.find(({ route }) => route.endpoint.method === wanted);
    if (found !== undefined) {
      const parts = found.words.flatMap((word, index) =>
        isName(word) ? [[word.slice(1, -1), given[index] ?? ''] as const] : [],
      );
      return {
        route: found.route,
        path: Object.fromEntries(parts.map(([name, part]) => [name, readPart(name, part)])),
      };
    }
    if (fitting.length === 0) throw new Refusal(404, `no such endpoint: ${method} ${pathname}`);
    const allow = fitting.map(({ route }) => route.endpoint.method).join(', ');
    throw new Refusal(405, `${pathname} takes ${allow}, not ${method}`, { allow });
  };
}

const isName = (word: string) => word.startsWith('{');

function fits(words: readonly string[], given: readonly string[]): boolean {
  return (
    words.length === given.length &&
    words.every((word, index) => (isName(word) ? given[index] !== '' : word === given[index]))
  );
}

function readPart(name: string, part: string): string {
  const text = decodePart(part);
  if (text === undefined) throw new Refusal(400, `${name} ${JSON.stringify(part)}: must be percent-encoded UTF-8`);
  if (text === '.' || text === '..') throw new Refusal(400, `${name} ${JSON.stringify(text)}: must not be . or ..`);
  return text;
}

const nobody: Partner = { id: '', suffix: '' };

function findPartner(db: Db, header: string | undefined, keyless: boolean): Partner {
  if (header === undefined && keyless) return nobody;
  const key = bearerOf(header);
  if (key === undefined) throw new Refusal(401, 'missing API key: send Authorization: Bearer <key>');
  const partner = db.get<Partner & Record<string, string>>('SELECT id, suffix FROM partner WHERE key = ?', [key]);
  if (partner === undefined) throw new Refusal(401, 'unknown API key');
  return partner;
}

function readBody(text: string): unknown {
  if (text === '') return undefined;
  if (Buffer.byteLength(text) > maxBodyBytes) throw bodyTooLarge();
  try {
    return parseJson(text);
  } catch {
    throw new Refusal(400, 'body is not JSON');
  }
}

/** What `act` gives, once no other process is writing. A handler that met one has changed nothing that it would not find again. */
export async function whenFree<T>(act: () => T | Promise<T>, sleep: ServiceOptions['sleep']): Promise<T> {
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
  const max = 20;
  const shown = names.slice(0, max).map((name) => printable(name.slice(0, 80)).replaceAll(',', '%2C'));
  return [...shown, ...(names.length > max ? [`(${names.length - max}-more)`] : [])].join(',');
}
