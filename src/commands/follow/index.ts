import type { FollowAnswer, Profile } from '../../api/answers.ts';
import { local } from '../../api/endpoint.ts';
import * as endpoints from '../../api/follow.ts';
import { integer, optional, text } from '../../api/kind.ts';
import { inputError } from '../../errors.ts';
import { column, profileColumns, recordView } from '../../lib/output/columns.ts';
import type { View } from '../../lib/output/view.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand, describeEndpoint } from '../endpoint-command.ts';
import { option } from '../params.ts';
import type { BulkResult } from './bulk.ts';

/** The profiles that were followed, or unfollowed. */
const targets: View<FollowAnswer, Profile> = {
  layout: 'table',
  rows: (answer) => answer.targetProfiles,
  columns: profileColumns,
};

export function setUp(follow: Command): void {
  addEndpointCommand(follow, 'add', endpoints.add, {
    view: targets,
    prepare: (typed) => {
      const self = endpoints.findSelf(typed.addressOrUid, typed.targets);
      if (self !== undefined)
        throw inputError((input) => ({
          message: `${input('targets')} ${self}: a profile cannot follow itself`,
          hint: 'Omit this target.',
        }));
      return typed;
    },
  }).shares('showNsfw');
  addEndpointCommand(follow, 'remove', endpoints.remove, { view: targets }).shares('showNsfw');
  addBulk(follow);
}

function addBulk(follow: Command): void {
  const description =
    'An entry is {addressOrUid, targets}, and optionally action (follow or unfollow) and targetType (addressOrUid or ' +
    'twitterHandle). All entries are checked first, then sent, up to 1000 in a request. Lines that start with # are comments.\n' +
    'An undo file with the opposite entries is written to the data directory. It also reverses entries that changed nothing.';
  describeEndpoint(follow, 'bulk', endpoints.bulk, description)
    .params({
      file: local(text(), 'JSON array or NDJSON of entries; - is stdin'),
      fromLine: local(optional(integer(1)), 'start at this line, or at this item of an array'),
      report: option.file('write the result of each entry to this file, as NDJSON'),
      undoFile: option.text('write the undo file here; it must not exist'),
    })
    .requests()
    .prints(bulk)
    .run(async ({ fromLine = 1, ...input }, context) =>
      (await import('./bulk.ts')).runBulk({ ...input, fromLine }, context),
    );
}

const bulk = recordView<BulkResult>([
  column.count('entries', 'Entries', 'entries sent'),
  column.count('follows', 'Follows', 'of these, follows'),
  column.count('unfollows', 'Unfollows', 'of these, unfollows'),
  column.count('requests', 'Requests', 'requests that were sent'),
  column.count('targets', 'Profiles', 'different profiles that were followed or unfollowed'),
  column.text('undoFile', 'Undo file', 'file that undoes all of it (follow bulk --file)'),
]);
