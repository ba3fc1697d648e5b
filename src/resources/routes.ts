import type { Endpoint, EndpointsOf } from '../contract/endpoint.ts';
import type { Handler, Route } from '../sandbox/http/service.ts';
import * as comment from './comment/endpoints.ts';
import * as commentHandlers from './comment/sandbox.ts';
import * as feed from './feed/endpoints.ts';
import * as feedHandlers from './feed/sandbox.ts';
import * as follow from './follow/endpoints.ts';
import * as followHandlers from './follow/sandbox.ts';
import * as leaderboard from './leaderboard/endpoints.ts';
import * as leaderboardHandlers from './leaderboard/sandbox.ts';
import * as position from './position/endpoints.ts';
import * as positionHandlers from './position/sandbox.ts';
import * as profile from './profile/endpoints.ts';
import * as profileHandlers from './profile/sandbox.ts';
import * as webhook from './webhook/endpoints.ts';
import * as webhookHandlers from './webhook/sandbox.ts';

/** Answers that are often asked for and depend on the data and the windows of time alone: they may be reused. */
const steady: readonly Endpoint[] = [
  leaderboard.list,
  leaderboard.rank,
  leaderboard.sections,
  profile.get,
  position.ofToken,
];

/** The sandbox's routes: every endpoint with its handler, which is the export of the same name. */
export const routes: readonly Route[] = [
  ...routesOf(leaderboard, leaderboardHandlers),
  ...routesOf(profile, profileHandlers),
  ...routesOf(follow, followHandlers),
  ...routesOf(feed, feedHandlers),
  ...routesOf(position, positionHandlers),
  ...routesOf(comment, commentHandlers),
  ...routesOf(webhook, webhookHandlers),
];

type HandlersOf<M> = {
  [K in keyof EndpointsOf<M>]: EndpointsOf<M>[K] extends Endpoint ? Handler<EndpointsOf<M>[K]> : never;
};

function routesOf<M extends object>(endpoints: M, handlers: HandlersOf<M>): Route[] {
  return Object.entries<Route['handle']>(handlers)
    .flatMap(([name, handle]) => {
      const endpoint = endpoints[name as keyof M] as Endpoint | undefined;
      return endpoint === undefined ? [] : [{ endpoint, handle, isSteady: steady.includes(endpoint) }];
    })
    .sort(byMethod);
}

/** Exports have no fixed order, and a refusal lists the methods of a path in the order of their routes. */
function byMethod(a: Route, b: Route): number {
  return a.endpoint.method < b.endpoint.method ? 1 : -1;
}
