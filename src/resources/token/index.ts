import { commandsOf } from '../../cli/endpoint-command.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');

/** How each endpoint's answer is shown; loaded when it is. */
export const views = {
  'token.comments': async () => (await view()).comments,
};

/** Every command of this noun. */
export const commands = commandsOf([endpoints.comments], views, []);
