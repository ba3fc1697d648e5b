import type { Command } from '../command.ts';
import { replayed } from './event-view.ts';
import { replayParams } from './params.ts';

export function addReplay(webhook: Command): void {
  webhook
    .command('replay')
    .summary('Send stored deliveries again, with their original bytes and headers')
    .description(
      'The signature is the original one: a receiver with a tolerance rejects it once it is too old.\n' +
        '--failed sends the deliveries that were set aside because a target did not accept them; those accepted now count as forwarded.\n' +
        'Each delivery is tried three times. Nothing more is sent after one that is not answered within --timeout. Exit 10 if one is not ' +
        'accepted.',
    )
    .params(replayParams)
    .example('webhook replay --since 1h --to http://127.0.0.1:3000/hook', 'the last hour again')
    .shares('dryRun', 'curl', 'timeout', 'retries')
    .changes()
    .prints(replayed)
    .run(async (input, context) => (await import('./run-replay.ts')).replayEvents(input, context));
}
