import { commandsOf } from '../../cli/endpoint-command.ts';
import * as byHand from './commands.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');

/** How each endpoint's answer is shown; loaded when it is. */
export const views = {
  'feed.actor': async () => (await view()).cards,
  'feed.home': async () => (await view()).cards,
};

/** Every command of this noun. */
export const commands = commandsOf([endpoints.actor, endpoints.home], views, [byHand.actor, byHand.home]);
