import type { Command } from '../command.ts';
import { shown } from './event-view.ts';
import { showParams } from './params.ts';

export function addShow(webhook: Command): void {
  webhook
    .command('show')
    .summary('Show a stored event: headers, body, signature, forwarding')
    .params(showParams)
    .example('webhook show 2f1d', 'the event whose id starts with 2f1d')
    .prints(shown)
    .run(async (input, context) => (await import('./run-show.ts')).showEvent(input, context));
}
