import * as comment from './comment.ts';
import type { Endpoint, EndpointsOf } from './endpoint.ts';
import * as feed from './feed.ts';
import * as follow from './follow.ts';
import * as leaderboard from './leaderboard.ts';
import * as position from './position.ts';
import * as profile from './profile.ts';
import * as webhook from './webhook.ts';

type EndpointIn<M> = EndpointsOf<M>[keyof EndpointsOf<M>] & Endpoint;

export type AnyEndpoint =
  | EndpointIn<typeof comment>
  | EndpointIn<typeof feed>
  | EndpointIn<typeof follow>
  | EndpointIn<typeof leaderboard>
  | EndpointIn<typeof position>
  | EndpointIn<typeof profile>
  | EndpointIn<typeof webhook>;

/** Every endpoint of the service. */
export const endpoints: readonly AnyEndpoint[] = [
  leaderboard,
  profile,
  follow,
  feed,
  position,
  comment,
  webhook,
].flatMap((module) => Object.values<unknown>(module).filter(isEndpoint));

function isEndpoint(value: unknown): value is AnyEndpoint {
  return typeof value === 'object' && value !== null && 'answer' in value;
}
