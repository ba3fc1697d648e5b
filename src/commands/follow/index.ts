import { local } from '../../api/endpoint.ts';
import * as endpoints from '../../api/follow.ts';
import { integer, optional, text } from '../../api/kind.ts';
import { inputError } from '../../errors.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand, describeEndpoint } from '../endpoint-command.ts';
import { bulk, targets } from './view.ts';

export function addFollow(follow: Command): void {
  addEndpointCommand(follow, 'add', endpoints.add, {
    view: targets,
    prepare: (typed) => {
      const self = endpoints.selfAmong(typed.addressOrUid, typed.targets);
      if (self !== undefined)
        throw inputError((input) => ({
          message: `${input('targets')} ${typed.targets[self]}: a profile cannot follow itself`,
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
    'twitterHandle). All entries are checked first, then sent, up to 1000 in a request. Lines that start with # are comments.';
  describeEndpoint(follow, 'bulk', endpoints.bulk, description)
    .params({
      file: local(text(), 'JSON array or NDJSON of entries; - is stdin'),
      fromLine: local(optional(integer(1)), 'start at this line, or at this item of an array'),
    })
    .requests()
    .prints(bulk)
    .run(async ({ file, fromLine = 1 }, context) => (await import('./bulk.ts')).runBulk({ file, fromLine }, context));
}
