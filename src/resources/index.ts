import type { ViewsOf } from '../cli/endpoint-command.ts';
import type { Endpoint, EndpointsOf } from '../contract/endpoint.ts';
import type { AnyView } from '../output/view.ts';
import * as comment from './comment/endpoints.ts';
import { views as commentViews } from './comment/index.ts';
import * as feed from './feed/endpoints.ts';
import { views as feedViews } from './feed/index.ts';
import * as follow from './follow/endpoints.ts';
import { views as followViews } from './follow/index.ts';
import * as leaderboard from './leaderboard/endpoints.ts';
import { views as leaderboardViews } from './leaderboard/index.ts';
import * as position from './position/endpoints.ts';
import { views as positionViews } from './position/index.ts';
import * as profile from './profile/endpoints.ts';
import { views as profileViews } from './profile/index.ts';
import * as webhook from './webhook/endpoints.ts';
import { views as webhookViews } from './webhook/views.ts';

type EndpointIn<M> = EndpointsOf<M>[keyof EndpointsOf<M>] & Endpoint;

export type AnyEndpoint =
  | EndpointIn<typeof comment>
  | EndpointIn<typeof feed>
  | EndpointIn<typeof follow>
  | EndpointIn<typeof leaderboard>
  | EndpointIn<typeof position>
  | EndpointIn<typeof profile>
  | EndpointIn<typeof webhook>;

/** The endpoints of a noun that begin the words of another noun's commands, and before which of those they stand. */
const listedBefore: Partial<Record<AnyEndpoint['id'], AnyEndpoint['id']>> = {
  'profile.positions': 'profile.followers',
  'token.positions': 'position.find',
  'token.comments': 'position.find',
};

const listed = inOrder([
  ...withViews(leaderboard, leaderboardViews),
  ...withViews(profile, profileViews),
  ...withViews(follow, followViews),
  ...withViews(feed, feedViews),
  ...withViews(position, positionViews),
  ...withViews(comment, commentViews),
  ...withViews(webhook, webhookViews),
]);

export const endpoints: readonly AnyEndpoint[] = listed.map(({ endpoint }) => endpoint);

export const views = Object.fromEntries(listed.map(({ endpoint, view }) => [endpoint.id, view])) as Record<
  AnyEndpoint['id'],
  () => Promise<AnyView>
>;

interface EndpointView {
  endpoint: AnyEndpoint;
  view: () => Promise<AnyView>;
}

function withViews<M extends object>(module: M, moduleViews: ViewsOf<M>): EndpointView[] {
  return Object.entries<EndpointView['view']>(moduleViews).map(([name, view]) => ({
    endpoint: module[name as keyof M] as AnyEndpoint,
    view,
  }));
}

function inOrder(all: readonly EndpointView[]): EndpointView[] {
  const listedFirst = all.filter(({ endpoint }) => listedBefore[endpoint.id] !== undefined);
  return all
    .filter((one) => !listedFirst.includes(one))
    .flatMap((one) => [...listedFirst.filter(({ endpoint }) => listedBefore[endpoint.id] === one.endpoint.id), one]);
}
