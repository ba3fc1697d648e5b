import { commandsOf } from '../../cli/endpoint-command.ts';
import * as byHand from './commands.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');
const lists = () => import('./lists-view.ts');

/** How each endpoint's answer is shown; loaded when it is. */
export const views = {
  'profile.get': async () => (await view()).get,
  'profile.followers': async () => (await lists()).followers,
  'profile.follows': async () => (await lists()).follows,
  'profile.set-name': async () => (await view()).named,
  'profile.delete-name': async () => (await view()).named,
};

/** Every command of this noun. */
export const commands = commandsOf(
  [endpoints.get, endpoints.followers, endpoints.follows, endpoints.setName, endpoints.deleteName],
  views,
  [byHand.get, byHand.setName, byHand.deleteName],
);
