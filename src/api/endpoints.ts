import * as comment from './comment.ts';
import type { Endpoint, EndpointsOf } from './endpoint.ts';
import * as feed from './feed.ts';
import * as follow from './follow.ts';
import * as leaderboard from './leaderboard.ts';
import * as position from './position.ts';
import * as profile from './profile.ts';
import * as webhook from './webhook.ts';

type EndpointIn<M> = Extract<EndpointsOf<M>[keyof EndpointsOf<M>], Endpoint>;

const nouns = { leaderboard, profile, follow, feed, position, comment, webhook };

export type AnyEndpoint = { [Noun in keyof typeof nouns]: EndpointIn<(typeof nouns)[Noun]> }[keyof typeof nouns];

/** Every endpoint of the service. */
export const endpoints: readonly AnyEndpoint[] = Object.values(nouns).flatMap((module) =>
  Object.values<unknown>(module).filter(isEndpoint),
);

function isEndpoint(value: unknown): value is AnyEndpoint {
  return typeof value === 'object' && value !== null && 'answer' in value;
}
