import type { Command } from '../command.ts';
import { events as view } from './event-view.ts';
import { eventsParams } from './params.ts';

export function addEvents(webhook: Command): void {
  webhook
    .command('events')
    .summary('List the events that webhook listen stored, newest first')
    .description(
      'Status is waiting until every target accepted the event, then forwarded, or failed if it was set aside for one of them.\n' +
        '--wait prints the oldest event that matches: one received from now on, or since --since.',
    )
    .params(eventsParams)
    .example('webhook events --since 1h', 'the last hour')
    .example('webhook events --type copyswap --status waiting', 'copied trades that are not forwarded yet')
    .example('webhook events --type comment-created --wait 30s', 'the next comment')
    .prints(view)
    .run(async (input, context) => {
      const { followEvents, showEvents, waitForEvent } = await import('./run-events.ts');
      if (input.wait !== undefined) return waitForEvent(input, context);
      return input.follow ? followEvents(input, context) : showEvents(input, context);
    });
}
