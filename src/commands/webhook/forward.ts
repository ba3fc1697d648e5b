import type { Command } from '../command.ts';
import { forwardParams } from './params.ts';

export function addForward(webhook: Command): void {
  webhook
    .command('forward')
    .summary('Forward the deliveries that webhook listen stores')
    .description(
      'For a listener that runs without --forward-to. A new target starts with the next delivery.\n' +
        'One process at a time forwards from a local store; from a NATS stream, several share the work and take over from each other.',
    )
    .params(forwardParams, [['forwardTo', 'route']])
    .example('webhook forward --forward-to http://127.0.0.1:3000/hook', 'until Ctrl-C')
    .shares('retries')
    .run(async (input, context) => (await import('./run-forward.ts')).forwardDeliveries(input, context));
}
