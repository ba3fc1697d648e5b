import { commandsOf } from '../../cli/endpoint-command.ts';
import * as byHand from './commands.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');

/** How each endpoint's answer is shown; loaded when it is. */
export const views = {
  'follow.add': async () => (await view()).targets,
  'follow.remove': async () => (await view()).targets,
  'follow.bulk': async () => (await view()).bulk,
};

/** Every command of this noun. */
export const commands = commandsOf([endpoints.add, endpoints.remove, endpoints.bulk], views, [byHand.add, byHand.bulk]);
