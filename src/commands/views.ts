import type { AnyEndpoint } from '../api/endpoints.ts';
import type { AnyView } from '../lib/output/view.ts';
import { uploaded } from '../upload/view.ts';
import * as comment from './comment/view.ts';
import * as feed from './feed/view.ts';
import * as follow from './follow/view.ts';
import * as leaderboard from './leaderboard/view.ts';
import * as position from './position/view.ts';
import * as profile from './profile/view.ts';
import * as webhook from './webhook/view.ts';

/** The rows and columns of each endpoint's answer, for pages and for agents. */
export const views: Readonly<Record<AnyEndpoint['id'], AnyView>> = {
  'leaderboard.list': leaderboard.list,
  'leaderboard.rank': leaderboard.rank,
  'leaderboard.copytraded': leaderboard.copytraded,
  'leaderboard.sections': leaderboard.sections,
  'profile.get': profile.get,
  'profile.positions': position.ofProfile(),
  'profile.followers': profile.followers,
  'profile.follows': profile.follows,
  'profile.set-name': profile.named,
  'profile.delete-name': profile.named,
  'follow.add': follow.targets,
  'follow.remove': follow.targets,
  'follow.bulk': follow.bulk,
  'feed.actor': feed.cards,
  'feed.home': feed.cards,
  'token.positions': position.ofToken(),
  'token.comments': comment.ofToken,
  'position.find': position.one(),
  'position.get': position.one(),
  'comment.post': comment.post,
  'comment.list': comment.list,
  'comment.copy': comment.copy,
  'webhook.register': uploaded,
  'webhook.list': webhook.list,
  'webhook.add-addresses': uploaded,
  'webhook.delete': webhook.deleted,
  'webhook.validate': webhook.validated,
};
