import type { Endpoint, EndpointsOf } from '../contract/endpoint.ts';
import type { Handler, SandboxRoute } from '../sandbox/http/service.ts';

type LoadRoutes = () => Promise<readonly SandboxRoute[]>;

const leaderboard = () => makeRoutes(import('./leaderboard/endpoints.ts'), import('./leaderboard/sandbox.ts'));
const profile = () => makeRoutes(import('./profile/endpoints.ts'), import('./profile/sandbox.ts'));
const follow = () => makeRoutes(import('./follow/endpoints.ts'), import('./follow/sandbox.ts'));
const feed = () => makeRoutes(import('./feed/endpoints.ts'), import('./feed/sandbox.ts'));
const position = () => makeRoutes(import('./position/endpoints.ts'), import('./position/sandbox.ts'));
const comment = () => makeRoutes(import('./comment/endpoints.ts'), import('./comment/sandbox.ts'));
const webhook = () => makeRoutes(import('./webhook/endpoints.ts'), import('./webhook/sandbox.ts'));

/** The nouns that answer, by the first word of a path behind the version. */
const nouns: Readonly<Record<string, readonly LoadRoutes[]>> = {
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

async function loadRoutes(loads: readonly LoadRoutes[]): Promise<readonly SandboxRoute[]> {
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
  return Object.entries<SandboxRoute['handle']>(await handlers)
    .flatMap(([name, handle]) => {
      const endpoint = known[name as keyof M] as Endpoint | undefined;
      return endpoint === undefined ? [] : [{ endpoint, handle }];
    })
    .sort(byMethod);
}

/** Exports have no fixed order, and a refusal lists the methods of a path in the order of their routes. */
function byMethod(a: SandboxRoute, b: SandboxRoute): number {
  return a.endpoint.method < b.endpoint.method ? 1 : -1;
}
