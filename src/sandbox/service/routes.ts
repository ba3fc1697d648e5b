import type { Endpoint, EndpointsOf } from '../../api/endpoint.ts';
import type { Handler, SandboxRoute } from './handler.ts';

type LoadRoutes = () => Promise<readonly SandboxRoute[]>;

const leaderboard = () => makeRoutes(import('../../api/leaderboard.ts'), import('./leaderboard.ts'));
const profile = () => makeRoutes(import('../../api/profile.ts'), import('./profile.ts'));
const follow = () => makeRoutes(import('../../api/follow.ts'), import('./follow.ts'));
const feed = () => makeRoutes(import('../../api/feed.ts'), import('./feed.ts'));
const position = () => makeRoutes(import('../../api/position.ts'), import('./position.ts'));
const comment = () => makeRoutes(import('../../api/comment.ts'), import('./comment.ts'));
const webhook = () => makeRoutes(import('../../api/webhook.ts'), import('./webhook.ts'));

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
