import type { Command } from '../cli/command.ts';
import type { AnyView } from '../output/view.ts';
import * as commentCommands from './comment/commands.ts';
import * as comment from './comment/endpoints.ts';
import * as feedCommands from './feed/commands.ts';
import * as feed from './feed/endpoints.ts';
import * as followCommands from './follow/commands.ts';
import * as follow from './follow/endpoints.ts';
import * as leaderboardBoards from './leaderboard/board-commands.ts';
import * as leaderboardCommands from './leaderboard/commands.ts';
import * as leaderboard from './leaderboard/endpoints.ts';
import * as positionCommands from './position/commands.ts';
import * as position from './position/endpoints.ts';
import * as profileCommands from './profile/commands.ts';
import * as profile from './profile/endpoints.ts';
import * as token from './token/endpoints.ts';
import { webhookCommands } from './webhook/commands.ts';
import * as webhook from './webhook/endpoints.ts';

/** Every endpoint, in the order of the commands. */
export const endpoints = [
  leaderboard.list,
  leaderboard.rank,
  leaderboard.copytraded,
  leaderboard.sections,
  profile.get,
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
  position.ofProfile,
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

const leaderboardView = () => import('./leaderboard/view.ts');
const profileView = () => import('./profile/view.ts');
const followView = () => import('./follow/view.ts');
const positionView = () => import('./position/view.ts');
const commentView = () => import('./comment/view.ts');
const webhookView = () => import('./webhook/view.ts');

/** How each endpoint's answer is shown; loaded when it is. The compiler asks for one an endpoint. */
export const views: Record<AnyEndpoint['id'], () => Promise<AnyView>> = {
  'leaderboard.list': async () => (await leaderboardView()).list,
  'leaderboard.rank': async () => (await leaderboardView()).rank,
  'leaderboard.copytraded': async () => (await import('./leaderboard/copytraded-view.ts')).copytraded,
  'leaderboard.sections': async () => (await leaderboardView()).sections,
  'profile.get': async () => (await profileView()).get,
  'profile.followers': async () => (await import('./profile/lists-view.ts')).followers,
  'profile.follows': async () => (await import('./profile/lists-view.ts')).follows,
  'profile.set-name': async () => (await profileView()).named,
  'profile.delete-name': async () => (await profileView()).named,
  'follow.add': async () => (await followView()).targets,
  'follow.remove': async () => (await followView()).targets,
  'follow.bulk': async () => (await followView()).bulk,
  'feed.actor': async () => (await import('./feed/view.ts')).cards,
  'feed.home': async () => (await import('./feed/view.ts')).cards,
  'token.positions': async () => (await positionView()).ofToken(),
  'token.comments': async () => (await import('./token/view.ts')).comments,
  'profile.positions': async () => (await positionView()).ofProfile(),
  'position.find': async () => (await positionView()).one(),
  'position.get': async () => (await positionView()).one(),
  'comment.post': async () => (await commentView()).post,
  'comment.list': async () => (await commentView()).list,
  'comment.copy': async () => (await commentView()).copy,
  'webhook.register': async () => (await webhookView()).uploaded,
  'webhook.list': async () => (await webhookView()).list,
  'webhook.add-addresses': async () => (await webhookView()).uploaded,
  'webhook.delete': async () => (await webhookView()).deleted,
  'webhook.validate': async () => (await webhookView()).validated,
};

/** Commands written by hand: those that are more than one call, or take more than their endpoint; they replace the derived ones. */
export const handWritten: readonly Command[] = [
  leaderboardBoards.list,
  leaderboardBoards.diff,
  leaderboardCommands.sections,
  profileCommands.get,
  profileCommands.setName,
  followCommands.add,
  followCommands.bulk,
  feedCommands.actor,
  feedCommands.home,
  positionCommands.ofToken,
  positionCommands.ofProfile,
  positionCommands.find,
  positionCommands.get,
  commentCommands.sign,
  commentCommands.post,
  commentCommands.verify,
  commentCommands.copy,
  ...webhookCommands,
];
