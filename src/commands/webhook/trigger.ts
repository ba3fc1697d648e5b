import type { Command } from '../command.ts';
import { triggerParams } from './params.ts';
import { triggered } from './view.ts';

export function addTrigger(webhook: Command): void {
  webhook
    .command('trigger')
    .summary('Send a signed event of the sandbox')
    .description(
      'The event is about a position of the sandbox. It goes to the webhooks of the sandbox, or once to the URL of --to, signed with the secret ' +
        'of the webhook for that URL unless --secret-file names another. Exit 9 if it is not accepted.',
    )
    .params(triggerParams)
    .example('webhook trigger new-feed-item --sandbox', 'to every webhook of the sandbox')
    .example(
      'webhook trigger comment-created --to http://127.0.0.1:4242/hook --secret-file hook.secret',
      'to one address',
    )
    .shares('dryRun', 'curl', 'timeout')
    .changes()
    .prints(triggered)
    .run(async (input, context) => (await import('./run-trigger.ts')).triggerEvent(input, context));
}
