import { commandsOf } from '../../cli/endpoint-command.ts';
import * as byHand from './commands.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');

/** How the answer of each endpoint is shown, in the order of help. */
export const views = {
  get: async () => (await view()).get,
  followers: async () => (await view()).followers,
  follows: async () => (await view()).follows,
  setName: async () => (await view()).named,
  deleteName: async () => (await view()).named,
};

/** Every command of this noun. */
export const commands = commandsOf(endpoints, views, [byHand.get, byHand.setName, byHand.deleteName]);
