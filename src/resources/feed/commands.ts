import { z } from 'zod';
import type { Command } from '../../cli/command.ts';
import { endpointCommand, serviceExitCodes } from '../../cli/endpoint-command.ts';
import type { Context } from '../../context.ts';
import { type Endpoint, local, type Params } from '../../contract/endpoint.ts';
import { usageError } from '../../errors.ts';
import { parseDuration } from '../../model/duration.ts';
import * as endpoints from './endpoints.ts';

const shortestMs = 100;
const longestMs = 3_600_000;

const params = {
  cursor: local(z.string().min(1).optional(), 'the same as --older-than: goes on behind a page (olderCursor)'),
  watch: local(
    z
      .string()
      .refine((text) => {
        const ms = parseDuration(text);
        return ms !== undefined && ms >= shortestMs && ms <= longestMs;
      }, 'must be a time from 100ms to 1h, such as 5s')
      .optional(),
    'keep asking this often and print what is new, e.g. 5s; goes on where it stopped',
  ),
};

interface Typed extends Record<string, unknown> {
  cursor?: string;
  watch?: string;
  olderThan?: string;
  newerThan?: string;
  all?: boolean;
  max?: number;
}

const watching =
  'With --watch, cards are printed as they come, each once: a card counts as new again when its position trades again. The place is ' +
  'kept on disk, so the same command goes on where it stopped and prints what it missed. Failures of the network, 429 and 5xx are waited ' +
  'out, and once the service has answered, answers that are not JSON too (a proxy on the way); JSON of another shape ends it with exit 13.';

/** The command of a feed: the derived one, with `--cursor` and `--watch`. */
function feedCommand(endpoint: typeof endpoints.actor | typeof endpoints.home): Command {
  const view = async () => (await import('./view.ts')).cards;
  const base = endpointCommand(endpoint as Endpoint<string, Params>, view, {
    params,
    description: `${endpoint.description}\n${watching}`,
    exitCodes: [3, ...serviceExitCodes],
    prepare: (typed) => inputOf(endpoint, typed as Typed),
  });
  return {
    ...base,
    run: async (typed: Typed, context: Context) => {
      if (typed.watch === undefined) return base.run(typed as never, context);
      const { watchFeed } = await import('./watch.ts');
      const input = inputOf(endpoint, typed);
      refuseWith(typed, context);
      const batches = watchFeed({
        endpoint: endpoint as Endpoint,
        input,
        everyMs: parseDuration(typed.watch) ?? shortestMs,
        max: typed.max,
        context,
      });
      return { kind: 'items', batches, view: await view(), live: true };
    },
  } as Command;
}

function inputOf(endpoint: { params: Params }, typed: Typed): Record<string, unknown> {
  if (typed.cursor !== undefined && typed.olderThan !== undefined)
    throw usageError('--cursor and --older-than are the same: give one of them');
  const olderThan = typed.olderThan ?? typed.cursor;
  if (olderThan !== undefined && typed.newerThan !== undefined)
    throw usageError(
      `${typed.cursor === undefined ? '--older-than' : '--cursor'} and --newer-than walk opposite ways: give one of them`,
      'A cursor for newer cards (newerCursor) goes with --newer-than.',
    );
  const known = Object.entries(typed).filter(([key]) => Object.hasOwn(endpoint.params, key));
  return { ...Object.fromEntries(known), ...(olderThan === undefined ? {} : { olderThan }) };
}

function refuseWith({ olderThan, cursor, all }: Typed, { options }: Context): void {
  if (olderThan !== undefined || cursor !== undefined)
    throw usageError('--watch prints what is new, --older-than and --cursor ask for what is old: give one of them');
  if (all === true)
    throw usageError(
      '--watch and --all contradict each other',
      'To begin in the past: --watch 5s --newer-than <time>.',
    );
  if (options.format === 'md') throw usageError('--format md needs the end of the list, which --watch does not have');
}

/** `feed actor`, with `--cursor` and `--watch`. */
export const actor = feedCommand(endpoints.actor);

/** `feed home`, with `--cursor` and `--watch`. */
export const home = feedCommand(endpoints.home);
