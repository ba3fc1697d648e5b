import type { Result } from '../../../cli/command.ts';
import type { Context } from '../../../context.ts';
import { type InboxPlace, withInbox } from './open-inbox.ts';
import { timesOf } from './query.ts';
import { stats as view } from './view.ts';

interface StatsInput extends InboxPlace {
  since?: string | undefined;
  until?: string | undefined;
  webhook?: string | undefined;
}

const defaultSince = '24h';

/** What was received and forwarded, by webhook and hour, oldest first. Errors: `not-found` for a store that does not exist. */
export async function showStats(input: StatsInput, context: Context): Promise<Result & { kind: 'answer' }> {
  const times = timesOf({ since: input.since ?? defaultSince, until: input.until }, context.world.now());
  const none = () => ({ kind: 'answer' as const, answer: [], view });
  return withInbox(input, context, none, async (inbox) => ({
    kind: 'answer' as const,
    answer: await inbox.stats({ ...times, webhook: input.webhook }),
    view,
  }));
}
