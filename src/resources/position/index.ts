import { commandsOf } from '../../cli/endpoint-command.ts';
import * as byHand from './commands.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');

/** How the answer of each endpoint is shown, in the order of help. */
export const views = {
  ofToken: async () => (await view()).ofToken(),
  ofProfile: async () => (await view()).ofProfile(),
  find: async () => (await view()).one(),
  get: async () => (await view()).one(),
};

/** Every command of this noun, and those about positions of the others. */
export const commands = commandsOf(endpoints, views, [byHand.ofToken, byHand.ofProfile, byHand.find, byHand.get]);
