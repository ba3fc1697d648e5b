import type { Command } from '../cli/command.ts';
import type { AnyView } from '../output/view.ts';
import * as leaderboard from './leaderboard/endpoints.ts';
import * as profile from './profile/endpoints.ts';

/** Every endpoint, in the order of the commands. */
export const endpoints = [leaderboard.list, leaderboard.rank, leaderboard.sections, profile.get] as const;

export type AnyEndpoint = (typeof endpoints)[number];

const leaderboardView = () => import('./leaderboard/view.ts');
const profileView = () => import('./profile/view.ts');

/** How each endpoint's answer is shown; loaded when it is. The compiler asks for one an endpoint. */
export const views: Record<AnyEndpoint['id'], () => Promise<AnyView>> = {
  'leaderboard.list': async () => (await leaderboardView()).list,
  'leaderboard.rank': async () => (await leaderboardView()).rank,
  'leaderboard.sections': async () => (await leaderboardView()).sections,
  'profile.get': async () => (await profileView()).get,
};

/** Commands written by hand: those that are more than one call, or take more than their endpoint; they replace the derived ones. */
export const handWritten: readonly Command[] = [];
