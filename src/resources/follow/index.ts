import { commandsOf } from '../../cli/endpoint-command.ts';
import * as byHand from './commands.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');

/** How the answer of each endpoint is shown, in the order of help. */
export const views = {
  add: async () => (await view()).targets,
  remove: async () => (await view()).targets,
  bulk: async () => (await view()).bulk,
};

/** Every command of this noun. */
export const commands = commandsOf(endpoints, views, [byHand.add, byHand.bulk]);
