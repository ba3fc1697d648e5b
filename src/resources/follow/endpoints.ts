import { z } from 'zod';
import { type AnswerOf, asDocument, defineEndpoint, inBody, inPath } from '../../contract/endpoint.ts';
import { identifierSchema } from '../../model/identifier.ts';
import { profileSchema } from '../../model/profile.ts';
import { type BulkEntry, bulkJsonSchema, bulkProblem } from './entry.ts';

const follower = inPath(identifierSchema, 'who follows: profile UUID, wallet address or ext:<your user id>', {
  flag: 'follower',
});

const targets = inBody(
  z.array(identifierSchema).refine((list) => list.length > 0, 'must name at least one target'),
  'whom: profile UUID, wallet address or ext:<your user id>, one or more',
  { positional: true, flag: 'target' },
);

const answer = z.looseObject({ targetProfiles: z.array(profileSchema) });

/** PUT /v1/addresses/{addressOrUid}/follow. Source: interface document and wire-facts 3.10. */
export const add = defineEndpoint({
  id: 'follow.add',
  method: 'PUT',
  path: '/v1/addresses/{addressOrUid}/follow',
  source: 'spec',
  summary: 'Follow one or more profiles',
  description:
    'Following an address follows its whole profile. The follower then sees their trades in its home feed.\n' +
    'Following what is followed already changes nothing; nobody can follow themselves.',
  params: { addressOrUid: follower, targets },
  answer,
  examples: [
    { argv: 'follow add ext:user_1 0xb129d76820940a14c764df8b223d8e39cf94a122', says: 'one of your users follows' },
    {
      argv: 'follow add ext:user_1 0x8ad2cc7351c1d827fbbb455296b6da56e7a1958e 2RZbJRpjBV8meiZa4BjpuqqxqQN7SrFNKEtPeGoTiK5b',
      says: 'two at once',
    },
  ],
});

/** DELETE /v1/addresses/{addressOrUid}/follow, with a JSON body. Source: interface document and wire-facts 3.10. */
export const remove = defineEndpoint({
  id: 'follow.remove',
  method: 'DELETE',
  path: '/v1/addresses/{addressOrUid}/follow',
  source: 'spec',
  summary: 'Stop following one or more profiles',
  description: 'Unfollowing an address unfollows its whole profile. Unfollowing what is not followed changes nothing.',
  params: { addressOrUid: follower, targets: { ...targets, alsoInQuery: true } },
  answer,
  examples: [
    { argv: 'follow remove ext:user_1 0xb129d76820940a14c764df8b223d8e39cf94a122', says: 'stop following one' },
    { argv: 'follow remove ext:user_1 ext:user_2 ext:user_3 --json', says: 'stop following two, as JSON' },
  ],
});

/** POST /v1/addresses/follow/bulk: the body is the array itself. Source: interface document and wire-facts 3.10. */
export const bulk = defineEndpoint({
  id: 'follow.bulk',
  method: 'POST',
  path: '/v1/addresses/follow/bulk',
  source: 'spec',
  summary: 'Follow and unfollow for many followers at once',
  params: {
    entries: asDocument(
      z
        .custom<readonly BulkEntry[]>((value) => bulkProblem(value) === undefined, {
          error: ({ input }) => bulkProblem(input) ?? 'must be entries',
        })
        .meta(bulkJsonSchema),
      'who follows or unfollows whom',
    ),
  },
  answer,
  examples: [
    {
      argv: 'follow bulk --file -',
      says: 'entries from a pipe, one JSON object a line: {"addressOrUid":"ext:user_1","targets":["0x..."]}',
    },
    { argv: 'follow bulk --file - --dry-run', says: 'check every line, show the first request and send nothing' },
  ],
});

export type FollowAnswer = AnswerOf<typeof add>;
