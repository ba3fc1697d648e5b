import { commandsOf } from '../../cli/endpoint-command.ts';
import * as byHand from './commands.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');

/** How each endpoint's answer is shown; loaded when it is. */
export const views = {
  'token.positions': async () => (await view()).ofToken(),
  'profile.positions': async () => (await view()).ofProfile(),
  'position.find': async () => (await view()).one(),
  'position.get': async () => (await view()).one(),
};

/** Every command of this noun, and those about positions of the others. */
export const commands = commandsOf([endpoints.ofToken, endpoints.ofProfile, endpoints.find, endpoints.get], views, [
  byHand.ofToken,
  byHand.ofProfile,
  byHand.find,
  byHand.get,
]);
