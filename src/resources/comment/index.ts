import { commandsOf } from '../../cli/endpoint-command.ts';
import * as byHand from './commands.ts';
import * as endpoints from './endpoints.ts';

const view = () => import('./view.ts');

/** How each endpoint's answer is shown; loaded when it is. */
export const views = {
  'comment.post': async () => (await view()).post,
  'comment.list': async () => (await view()).list,
  'comment.copy': async () => (await view()).copy,
};

/** Every command of this noun. */
export const commands = commandsOf([endpoints.post, endpoints.list, endpoints.copy], views, [
  byHand.post,
  byHand.list,
  byHand.copy,
  byHand.sign,
  byHand.verify,
]);
