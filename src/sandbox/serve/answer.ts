import type { Endpoint, EndpointsOf, WireNames } from '../../api/endpoint.ts';
import { parseJson } from '../../api/json.ts';
import { decodeRequest } from '../../api/request.ts';
import type { Transport } from '../../client/transport.ts';
import { SotraError } from '../../errors.ts';
import type { SandboxOptions } from '../../lib/io.ts';
import { keepSettings, moreChains, storedNow } from '../db/settings.ts';
import { type Db, openDb } from '../db/store.ts';
import { ensureWorld } from '../db/world.ts';
import { refreshTotals } from '../ledger/figures.ts';
import {
  answerError,
  bodyTooLarge,
  cutQuery,
  type Handler,
  type IncomingRequest,
  ignoredHeader,
  makeAnswer,
  maxRequestBytes,
  type Partner,
  printable,
  readBearer,
  type SandboxCall,
  type ServedAnswer,
  ServiceRefusal,
} from '../service/handler.ts';

interface ServiceOptions {
  db: Db;
  now: () => number;
  wire: WireNames;
}

/** The sandbox inside this process: no port, state in one file, which is made with the demo world if absent. */
export async function openSandbox({ file, now, wire, serviceName, layout }: SandboxOptions): Promise<Transport> {
  const db = openDb(file);
  ensureWorld(db, now(), 'demo');
  refreshTotals(db, storedNow(db, now()));
  keepSettings(db, { serviceName, layout });
  return { ...openInside({ db, now, wire }), close: async () => db.close() };
}

/** Sends requests to the sandbox of an open database inside this process. */
export function openInside(options: ServiceOptions): Transport {
  const answer = createService(options);
  return {
    send: async ({ method, url, headers, body = '' }) => {
      const { text, ...rest } = await answer({
        method,
        origin: url.origin,
        target: url.pathname + url.search,
        authorization: headers['authorization'],
        body: () => body,
      });
      return { ...rest, text, bytes: Buffer.byteLength(text) };
    },
    close: async () => undefined,
  };
}

/** The whole sandbox as a function: any request gets an answer, every error body is `{error}`. Errors: those of a damaged database. */
export function createService({ db, now, wire }: ServiceOptions): (request: IncomingRequest) => Promise<ServedAnswer> {
  const respond = async (request: IncomingRequest): Promise<ServedAnswer> => {
    const { target, authorization } = request;
    const { route, path } = await findRoute(request.method, cutQuery(target));
    const { endpoint } = route;
    const partner = findPartner(db, authorization, endpoint.keyless === true);
    const url = new URL(request.origin + target);
    const body = endpoint.method === 'GET' ? undefined : parseBody(await request.body());
    const decoded = decodeRequest(endpoint, { path, query: url.searchParams, body }, wire, moreChains(db));
    if (!decoded.ok) throw new ServiceRefusal(400, decoded.problem);
    const ignored = new Set(decoded.ignored);
    const nowMs = storedNow(db, now());
    const call = { db, nowMs, partner, url, wire, ignore: (what: string) => void ignored.add(what) };
    const answer = await route.handle(decoded.input as never, call);
    return makeAnswer(
      200,
      JSON.stringify(answer),
      ignored.size === 0 ? {} : { [ignoredHeader]: headerText([...ignored]) },
    );
  };
  return (request) =>
    respond(request).catch((thrown: unknown) => {
      if (thrown instanceof SotraError) throw thrown;
      return answerError(thrown);
    });
}

/**
 * The route of a method and a path as it was sent, and the values in the path. Errors: ServiceRefusal 404, 405, and 400 for a value that is no
 * percent-encoded UTF-8, or `.` or `..`, which a client may have taken for a folder.
 */
async function findRoute(
  method: string,
  pathname: string,
): Promise<{ route: SandboxRoute; path: Record<string, string> }> {
  const candidates = (await routesUnder(pathname.split('/')[2] ?? '')).flatMap((route) => {
    const form = new RegExp(`^${route.endpoint.path.replaceAll(/{(\w+)}/g, '(?<$1>[^/]+)')}$`);
    const found = form.exec(pathname);
    return found === null ? [] : [{ route, values: Object.entries(found.groups ?? {}) }];
  });
  const wanted = method === 'HEAD' ? 'GET' : method;
  const found = candidates.find(({ route }) => route.endpoint.method === wanted);
  if (found !== undefined)
    return {
      route: found.route,
      path: Object.fromEntries(found.values.map(([name, part]) => [name, readPart(name, part)])),
    };
  if (candidates.length === 0) throw new ServiceRefusal(404, `no such endpoint: ${method} ${pathname}`);
  const allow = candidates
    .map(({ route }) => route.endpoint.method)
    .sort()
    .join(', ');
  throw new ServiceRefusal(405, `${pathname} takes ${allow}, not ${method}`, { allow });
}

function readPart(name: string, part: string): string {
  const refuse = (text: string, rule: string) => new ServiceRefusal(400, `${name} ${JSON.stringify(text)}: ${rule}`);
  let text: string;
  try {
    text = decodeURIComponent(part);
  } catch {
    throw refuse(part, 'must be percent-encoded UTF-8');
  }
  if (text === '.' || text === '..') throw refuse(text, 'must not be . or ..');
  return text;
}

const noPartner: Partner = { id: '', suffix: '' };

function findPartner(db: Db, header: string | undefined, keyless: boolean): Partner {
  if (header === undefined && keyless) return noPartner;
  const key = readBearer(header);
  if (key === undefined) throw new ServiceRefusal(401, 'missing API key: send Authorization: Bearer <key>');
  const partner = db.get<Partner & Record<string, string>>('SELECT id, suffix FROM partner WHERE key = ?', [key]);
  if (partner === undefined) throw new ServiceRefusal(401, 'unknown API key');
  return partner;
}

function parseBody(text: string): unknown {
  if (text === '') return undefined;
  if (Buffer.byteLength(text) > maxRequestBytes) throw bodyTooLarge();
  try {
    return parseJson(text);
  } catch {
    throw new ServiceRefusal(400, 'body is not JSON');
  }
}

/** Names as a header holds them: a header has no other bytes than these, and only so many. */
function headerText(names: readonly string[]): string {
  const shown = names.slice(0, 20).map((name) => printable(name.slice(0, 80)).replaceAll(',', '%2C'));
  return shown.join(',');
}

interface SandboxRoute {
  endpoint: Endpoint;
  handle: (input: never, call: SandboxCall) => unknown;
}

const leaderboard = () => makeRoutes(import('../../api/leaderboard.ts'), import('../service/leaderboard.ts'));
const profile = () => makeRoutes(import('../../api/profile.ts'), import('../service/profile.ts'));
const follow = () => makeRoutes(import('../../api/follow.ts'), import('../service/follow.ts'));
const feed = () => makeRoutes(import('../../api/feed.ts'), import('../service/feed.ts'));
const position = () => makeRoutes(import('../../api/position.ts'), import('../service/position.ts'));
const comment = () => makeRoutes(import('../../api/comment.ts'), import('../service/comment.ts'));
const webhook = () => makeRoutes(import('../../api/webhook.ts'), import('../service/webhook.ts'));

/** The nouns that answer, by the first word of a path behind the version. */
const nouns: Readonly<Record<string, readonly (typeof leaderboard)[]>> = {
  leaderboard: [leaderboard],
  addresses: [profile, follow, position],
  profiles: [profile],
  feed: [feed],
  tokens: [position, comment],
  position: [position],
  positions: [position],
  'swap-comments': [comment],
  'swap-comment': [comment],
  webhooks: [webhook],
};

/**
 * The sandbox's routes by the first word of their paths behind the version, such as `leaderboard`: every endpoint with its handler, which
 * is the export of the same name. Only their nouns are loaded: one request needs one, and building the schemas of all takes 10 ms.
 */
export async function routesUnder(word: string): Promise<readonly SandboxRoute[]> {
  return loadRoutes(Object.hasOwn(nouns, word) ? (nouns[word] ?? []) : []);
}

/** Every route of the sandbox. */
export async function allRoutes(): Promise<readonly SandboxRoute[]> {
  return loadRoutes([...new Set(Object.values(nouns).flat())]);
}

async function loadRoutes(loads: readonly (typeof leaderboard)[]): Promise<readonly SandboxRoute[]> {
  return (await Promise.all(loads.map((load) => load()))).flat();
}

type HandlersOf<M> = {
  [K in keyof EndpointsOf<M>]: EndpointsOf<M>[K] extends Endpoint ? Handler<EndpointsOf<M>[K]> : never;
};

async function makeRoutes<M extends object>(
  endpoints: Promise<M>,
  handlers: Promise<HandlersOf<M>>,
): Promise<readonly SandboxRoute[]> {
  const known = await endpoints;
  return Object.entries<SandboxRoute['handle']>(await handlers).flatMap(([name, handle]) => {
    const endpoint = known[name as keyof M] as Endpoint | undefined;
    return endpoint === undefined ? [] : [{ endpoint, handle }];
  });
}
