import { z } from 'zod';
import { defineCommand, type Result } from '../../cli/command.ts';
import { endpointCommand, serviceExitCodes } from '../../cli/endpoint-command.ts';
import type { Context } from '../../context.ts';
import { local } from '../../contract/endpoint.ts';
import { usageError } from '../../errors.ts';
import { add as addEndpoint, bulk as bulkEndpoint } from './endpoints.ts';
import { selfAmong } from './entry.ts';

/** `follow add`: refuses a follower among its own targets before sending. */
export const add = endpointCommand(addEndpoint, async () => (await import('./view.ts')).targets, {
  prepare: (typed) => {
    const self = selfAmong(typed.addressOrUid, typed.targets);
    if (self !== undefined)
      throw usageError(`<target...> ${typed.targets[self]}: nobody can follow themselves`, 'Leave this target out.');
    return typed;
  },
});

const { method, path, source, summary, examples } = bulkEndpoint;

/** `follow bulk`: a file of entries in as many requests as it takes, with an undo file. */
export const bulk = defineCommand({
  words: ['follow', 'bulk'],
  summary,
  description:
    'The file is a JSON array or NDJSON (one object a line) of {addressOrUid, targets}: who, and whom. Optional: action (follow, which is\n' +
    'the default, or unfollow) and targetType (addressOrUid, the default, or twitterHandle). A line that begins with # is a comment.\n' +
    'Every line is checked before anything is sent; then up to 1000 entries go in a request, all of them or none. An undo file is written\n' +
    'to the data directory: the opposite of every entry that was sent, last first. It cannot know what was followed before: an entry that\n' +
    'changed nothing is reversed as well.',
  params: {
    file: local(z.string().min(1), 'JSON array or NDJSON of entries, or - for stdin'),
    fromLine: local(
      z.int().min(1).optional(),
      'go on from this line, or place in an array; those before are passed over',
    ),
    undoFile: local(z.string().min(1).optional(), 'write the undo file here instead; must not exist'),
  },
  endpoint: { method, path, source },
  examples: examples.map((example) => ({ ...example, argv: `--sandbox ${example.argv}` })),
  uses: ['requests', 'changes'],
  exitCodes: [3, 10, ...serviceExitCodes],
  view: async () => (await import('./view.ts')).bulk,
  run: (input, context): Promise<Result> => runBulk(input, context),
});

async function runBulk(
  { file, fromLine, undoFile }: { file: string; fromLine?: number | undefined; undoFile?: string | undefined },
  context: Context,
): Promise<Result> {
  return (await import('./run-bulk.ts')).runBulk({ file, fromLine: fromLine ?? 1, undoFile }, context);
}
