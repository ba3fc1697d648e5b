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
import * as token from './token/endpoints.ts';
import { views as tokenViews } from './token/index.ts';
import * as webhook from './webhook/endpoints.ts';
import { views as webhookViews } from './webhook/index.ts';

/** Every endpoint, in the order of the commands. */
export const endpoints = [
  leaderboard.list,
  leaderboard.rank,
  leaderboard.copytraded,
  leaderboard.sections,
  profile.get,
  position.ofProfile,
  profile.followers,
  profile.follows,
  profile.setName,
  profile.deleteName,
  follow.add,
  follow.remove,
  follow.bulk,
  feed.actor,
  feed.home,
  position.ofToken,
  token.comments,
  position.find,
  position.get,
  comment.post,
  comment.list,
  comment.copy,
  webhook.register,
  webhook.list,
  webhook.addAddresses,
  webhook.remove,
  webhook.validate,
] as const;

export type AnyEndpoint = (typeof endpoints)[number];

/** How each endpoint's answer is shown. The compiler asks for one an endpoint. */
export const views: Record<AnyEndpoint['id'], () => Promise<AnyView>> = {
  ...leaderboardViews,
  ...profileViews,
  ...followViews,
  ...feedViews,
  ...tokenViews,
  ...positionViews,
  ...commentViews,
  ...webhookViews,
};
