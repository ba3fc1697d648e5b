import { commandsOf } from '../../cli/endpoint-command.ts';
import * as boards from './board-commands.ts';
import * as byHand from './commands.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');

/** How each endpoint's answer is shown; loaded when it is. */
export const views = {
  'leaderboard.list': async () => (await view()).list,
  'leaderboard.rank': async () => (await view()).rank,
  'leaderboard.copytraded': async () => (await import('./copytraded-view.ts')).copytraded,
  'leaderboard.sections': async () => (await view()).sections,
};

/** Every command of this noun. */
export const commands = commandsOf([endpoints.list, endpoints.rank, endpoints.copytraded, endpoints.sections], views, [
  boards.list,
  byHand.sections,
  boards.diff,
]);
