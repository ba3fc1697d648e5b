import { commandsOf } from '../../cli/endpoint-command.ts';
import { webhookCommands } from './commands.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');

/** How each endpoint's answer is shown; loaded when it is. */
export const views = {
  'webhook.register': async () => (await view()).uploaded,
  'webhook.list': async () => (await view()).list,
  'webhook.add-addresses': async () => (await view()).uploaded,
  'webhook.delete': async () => (await view()).deleted,
  'webhook.validate': async () => (await view()).validated,
};

/** Every command of this noun. */
export const commands = commandsOf(
  [endpoints.register, endpoints.list, endpoints.addAddresses, endpoints.remove, endpoints.validate],
  views,
  [...webhookCommands],
);
