import type { Endpoint } from '../contract/endpoint.ts';
import * as comment from '../resources/comment/endpoints.ts';
import * as feed from '../resources/feed/endpoints.ts';
import * as follow from '../resources/follow/endpoints.ts';
import * as leaderboard from '../resources/leaderboard/endpoints.ts';
import * as position from '../resources/position/endpoints.ts';
import * as profile from '../resources/profile/endpoints.ts';
import * as webhook from '../resources/webhook/endpoints.ts';

/** Every endpoint, without what the commands need beside it. */
export const clientEndpoints: readonly Endpoint[] = [
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

/** Where the method of an endpoint stands in a client: `webhook.add-addresses` is `client.webhook.addAddresses`. */
export function methodName({ id }: Pick<Endpoint, 'id'>): [noun: string, verb: string] {
  const [noun = '', verb = ''] = id.split('.');
  return [noun, verb.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
}
