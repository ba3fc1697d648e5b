import type { Endpoint, Params } from '../../api/endpoint.ts';
import * as endpoints from '../../api/feed.ts';
import { type Command, intervalParam, option, readInterval } from '../../cli/command.ts';
import { deriveCommands, endpointCommand } from '../../cli/endpoint-command.ts';
import type { Context } from '../../context.ts';
import { inputError, usageError } from '../../errors.ts';
import { parseTime } from '../../model/duration.ts';
import { defined } from '../../model/json.ts';

const loadFeedViews = () => import('./view.ts');

export const views = {
  actor: async () => (await loadFeedViews()).cards,
  home: async () => (await loadFeedViews()).cards,
};

const params = {
  cursor: option.text('the same as --older-than: continues after a page (olderCursor)'),
  watch: intervalParam('ask this often and print new cards as they come, e.g. 5s; ends with Ctrl-C or --max'),
};

interface FeedOptions extends Record<string, unknown> {
  cursor?: string;
  watch?: string;
  olderThan?: string;
  newerThan?: string;
  all?: boolean;
  max?: number;
}

const watchHelp =
  'With --watch, new cards are printed as they come, oldest first, each once; a card is new again when its position trades again. ' +
  'It starts with the next card, or at --newer-than <time>. Network failures, 429 and 5xx are retried, and once the ' +
  'service has answered, bodies that are not JSON too (a proxy in between); JSON of another shape ends it with exit 13.';

/** The command of a feed: the derived one, with `--cursor` and `--watch`. */
function feedCommand(endpoint: typeof endpoints.actor | typeof endpoints.home): Command {
  const base = endpointCommand(endpoint as Endpoint<string, Params>, views.actor, {
    params,
    description: `${endpoint.description}\n${watchHelp}`,
    prepare: (typed) => feedInput(endpoint, typed as FeedOptions),
  });
  return {
    ...base,
    run: async (typed: FeedOptions, context: Context) => {
      if (typed.watch === undefined || context.options.preview) return base.run(typed as never, context);
      const { watchFeed } = await import('./watch.ts');
      const input = { ...feedInput(endpoint, typed), newerThan: undefined };
      const batches = watchFeed({
        endpoint,
        input,
        fromMs: readWatchStart(typed),
        everyMs: readInterval(typed.watch),
        max: typed.max,
        context,
      });
      return { kind: 'items', batches, view: await views.actor(), live: true };
    },
  } as Command;
}

function feedInput(endpoint: { params: Params }, typed: FeedOptions): Record<string, unknown> {
  if (typed.cursor !== undefined && typed.olderThan !== undefined)
    throw inputError((input) => ({
      message: `${input('cursor')} and ${input('olderThan')} are the same: use one of them`,
    }));
  if ((typed.olderThan ?? typed.cursor) !== undefined && typed.newerThan !== undefined)
    throw inputError((input) => ({
      message: `${input(typed.cursor === undefined ? 'olderThan' : 'cursor')} and ${input('newerThan')} cannot be used together`,
      hint: `A cursor for newer cards (newerCursor) belongs to ${input('newerThan')}.`,
    }));
  const known = Object.entries(typed).filter(([key]) => Object.hasOwn(endpoint.params, key));
  return {
    ...Object.fromEntries(known),
    ...defined({
      olderThan: typed.cursor ?? readPlace('olderThan', typed.olderThan),
      newerThan: readPlace('newerThan', typed.newerThan),
    }),
  };
}

/** A cursor as it is, a time with its zone. Errors: `usage` for what looks like a time and is none. */
function readPlace(key: 'olderThan' | 'newerThan', text: string | undefined): string | undefined {
  if (text === undefined || !/^(\d+$|\d{4}-\d\d)/.test(text)) return text;
  const atMs = parseTime(text);
  if (atMs === undefined)
    throw inputError((input) => ({
      message: `${input(key)} ${text}: not a time`,
      hint: 'Write 2026-07-03T12:00:00Z, Unix seconds (10 digits) or Unix milliseconds (13 digits).',
    }));
  const saysZone = /^\d{4}-\d\d-\d\d(T.*(Z|[+-]\d\d:\d\d))?$/.test(text);
  return saysZone ? text : new Date(atMs).toISOString();
}

/** The time of `--newer-than`. Errors: `usage` for what does not go with `--watch`. */
function readWatchStart({ olderThan, cursor, newerThan, all }: FeedOptions): number | undefined {
  if (olderThan !== undefined || cursor !== undefined)
    throw usageError('--watch prints new cards, --older-than and --cursor old ones: use one of them');
  const fromMs = newerThan === undefined ? undefined : parseTime(newerThan);
  if (newerThan !== undefined && fromMs === undefined)
    throw usageError(
      `--newer-than ${newerThan}: --watch starts at a time, not at a cursor`,
      'Give a time such as 2026-07-03T12:00:00Z.',
    );
  if (all === true)
    throw usageError(
      '--watch and --all cannot be used together',
      'To start in the past: --watch 5s --newer-than <time>.',
    );
  return fromMs;
}

export const commands = deriveCommands(endpoints, views, [feedCommand(endpoints.actor), feedCommand(endpoints.home)]);
