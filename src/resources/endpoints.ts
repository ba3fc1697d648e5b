import type { Endpoint } from '../contract/endpoint.ts';
import * as comment from './comment/endpoints.ts';
import * as feed from './feed/endpoints.ts';
import * as follow from './follow/endpoints.ts';
import * as leaderboard from './leaderboard/endpoints.ts';
import * as position from './position/endpoints.ts';
import * as profile from './profile/endpoints.ts';
import * as webhook from './webhook/endpoints.ts';

/** Every endpoint, without what the commands need beside it. */
export const bareEndpoints: readonly Endpoint[] = [
  leaderboard,
  profile,
  follow,
  feed,
  position,
  comment,
  webhook,
].flatMap((module) => Object.values<unknown>(module).filter(isEndpoint));

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === 'object' && value !== null && 'answer' in value;
}
