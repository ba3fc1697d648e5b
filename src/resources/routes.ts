import type { Handler, Route } from '../sandbox/server.ts';
import { type AnyEndpoint, endpoints } from './index.ts';
import * as leaderboard from './leaderboard/sandbox.ts';
import * as profile from './profile/sandbox.ts';

/** How the sandbox answers each endpoint. The compiler asks for one an endpoint. */
const handlers: { [E in AnyEndpoint as E['id']]: Handler<E> } = {
  'leaderboard.list': leaderboard.list,
  'leaderboard.rank': leaderboard.rank,
  'leaderboard.sections': leaderboard.sections,
  'profile.get': profile.get,
};

/** The sandbox's routes: every endpoint with its handler. */
export const routes: readonly Route[] = endpoints.map((endpoint) => ({ endpoint, handle: handlers[endpoint.id] }));
