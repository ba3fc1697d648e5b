import { commandsOf } from '../../cli/endpoint-command.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');

/** How the answer of each endpoint is shown, in the order of help. */
export const views = {
  comments: async () => (await view()).comments,
};

/** Every command of this noun. */
export const commands = commandsOf(endpoints, views, []);
