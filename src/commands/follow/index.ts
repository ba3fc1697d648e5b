import { local } from '../../api/endpoint.ts';
import * as endpoints from '../../api/follow.ts';
import { integer, optional, text } from '../../api/kind.ts';
import { defineCommand, option } from '../../cli/command.ts';
import { deriveCommands, endpointCommand, serviceExitCodes } from '../../cli/endpoint-command.ts';
import { inputError } from '../../errors.ts';

const loadFollowViews = () => import('./view.ts');

export const views = {
  add: async () => (await loadFollowViews()).targets,
  remove: async () => (await loadFollowViews()).targets,
  bulk: async () => (await loadFollowViews()).bulk,
};

const add = endpointCommand(endpoints.add, views.add, {
  prepare: (typed) => {
    const self = endpoints.selfAmong(typed.addressOrUid, typed.targets);
    if (self !== undefined)
      throw inputError((input) => ({
        message: `${input('targets')} ${typed.targets[self]}: nobody can follow themselves`,
        hint: 'Omit this target.',
      }));
    return typed;
  },
});

const bulk = defineCommand({
  ...endpointCommand(endpoints.bulk, views.bulk),
  oneOf: [],
  description:
    'The file is a JSON array or NDJSON (one object a line) of {addressOrUid, targets}: who, and whom. Optional: action (follow, which is\n' +
    'the default, or unfollow) and targetType (addressOrUid, the default, or twitterHandle). A line that starts with # is a comment.\n' +
    'Every line is checked before anything is sent; then up to 1000 entries go in a request, all of them or none. An undo file is written\n' +
    'to the data directory: the opposite of every entry that was sent, last first. It cannot know what was followed before: an entry that\n' +
    'changed nothing is reversed as well. A million entries take some 700 MB of memory.',
  params: {
    file: local(text(), 'JSON array or NDJSON of entries, or - for stdin'),
    fromLine: local(optional(integer(1)), 'start at this line, or place in an array; skip those before'),
    report: option.text('write what became of each entry here, one JSON object a line with its request id'),
    undoFile: option.text('write the undo file here instead; must not exist'),
  },
  uses: ['requests', 'changes'],
  exitCodes: [3, 10, ...serviceExitCodes],
  run: async ({ fromLine = 1, ...input }, context) =>
    (await import('./bulk.ts')).runBulk({ ...input, fromLine }, context),
});

export const commands = deriveCommands(endpoints, views, [add, bulk]);
