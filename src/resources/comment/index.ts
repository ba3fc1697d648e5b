import { commandsOf } from '../../cli/endpoint-command.ts';
import * as byHand from './commands.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');

/** How the answer of each endpoint is shown, in the order of help. */
export const views = {
  post: async () => (await view()).post,
  list: async () => (await view()).list,
  copy: async () => (await view()).copy,
};

/** Every command of this noun. */
export const commands = commandsOf(endpoints, views, [
  byHand.post,
  byHand.list,
  byHand.copy,
  byHand.sign,
  byHand.verify,
]);
