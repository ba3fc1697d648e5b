import type { Handler, Route } from '../sandbox/http/answer.ts';
import * as comment from './comment/sandbox.ts';
import * as feed from './feed/sandbox.ts';
import * as follow from './follow/sandbox.ts';
import { type AnyEndpoint, endpoints } from './index.ts';
import * as leaderboard from './leaderboard/sandbox.ts';
import * as position from './position/sandbox.ts';
import * as profile from './profile/sandbox.ts';
import * as token from './token/sandbox.ts';
import * as webhook from './webhook/sandbox.ts';

/** How the sandbox answers each endpoint. The compiler asks for one an endpoint. */
const handlers: { [E in AnyEndpoint as E['id']]: Handler<E> } = {
  'leaderboard.list': leaderboard.list,
  'leaderboard.rank': leaderboard.rank,
  'leaderboard.copytraded': leaderboard.copytraded,
  'leaderboard.sections': leaderboard.sections,
  'profile.get': profile.get,
  'profile.followers': profile.followers,
  'profile.follows': profile.follows,
  'profile.set-name': profile.setName,
  'profile.delete-name': profile.deleteName,
  'follow.add': follow.add,
  'follow.remove': follow.remove,
  'follow.bulk': follow.bulk,
  'feed.actor': feed.actor,
  'feed.home': feed.home,
  'token.positions': position.ofToken,
  'token.comments': token.comments,
  'profile.positions': position.ofProfile,
  'position.find': position.find,
  'position.get': position.get,
  'comment.post': comment.post,
  'comment.list': comment.list,
  'comment.copy': comment.copy,
  'webhook.register': webhook.register,
  'webhook.list': webhook.list,
  'webhook.add-addresses': webhook.addAddresses,
  'webhook.delete': webhook.remove,
  'webhook.validate': webhook.validate,
};

/** Answers that are much asked for and follow from the data and the windows of time alone; they may be given twice. */
const steady: readonly AnyEndpoint['id'][] = [
  'leaderboard.list',
  'leaderboard.rank',
  'leaderboard.sections',
  'profile.get',
  'token.positions',
];

/** The sandbox's routes: every endpoint with its handler. */
export const routes: readonly Route[] = endpoints.map((endpoint) => ({
  endpoint,
  handle: handlers[endpoint.id],
  isSteady: steady.includes(endpoint.id),
}));
