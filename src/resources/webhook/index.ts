import { commandsOf } from '../../cli/endpoint-command.ts';
import { webhookCommands } from './commands.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');

/** How the answer of each endpoint is shown, in the order of help. */
export const views = {
  register: async () => (await view()).uploaded,
  list: async () => (await view()).list,
  addAddresses: async () => (await view()).uploaded,
  remove: async () => (await view()).deleted,
  validate: async () => (await view()).validated,
};

/** Every command of this noun. */
export const commands = commandsOf(endpoints, views, webhookCommands);
