import { commandsOf } from '../../cli/endpoint-command.ts';
import * as byHand from './commands.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');

/** How the answer of each endpoint is shown, in the order of help. */
export const views = {
  list: async () => (await view()).list,
  rank: async () => (await view()).rank,
  copytraded: async () => (await view()).copytraded,
  sections: async () => (await view()).sections,
};

/** Every command of this noun. */
export const commands = commandsOf(endpoints, views, [byHand.list, byHand.sections, byHand.diff]);
