import { normalizeAddress } from './address.ts';
import { asDocument, defineEndpoint, inBody, inPath } from './endpoint.ts';
import { identifierKind, matching } from './formats.ts';
import { isObject } from './json.ts';
import { checkValue, choice, describeProblem, formatted, json, type Kind, listOf, optional } from './kind.ts';

const follower = inPath(identifierKind, 'who follows: profile UUID, wallet address or ext:<your user id>', {
  flag: 'follower',
});

const targets = inBody(
  listOf(identifierKind, { minItems: 1 }),
  'target profile: profile UUID, wallet address or ext:<your user id>',
  { positional: true, flag: 'target' },
);

/** PUT /v1/addresses/{addressOrUid}/follow. Source: interface document and wire-facts 3.10. */
export const add = defineEndpoint({
  id: 'follow.add',
  method: 'PUT',
  path: '/v1/addresses/{addressOrUid}/follow',
  summary: 'Follow one or more profiles',
  description:
    'Following a wallet follows its whole profile, whose trades then appear in the home feed of the follower.\n' +
    'Following a profile again changes nothing. A profile cannot follow itself.',
  params: { addressOrUid: follower, targets },
  answer: async () => (await import('./answers.ts')).followSchema,
  sample: { addressOrUid: 'ext:user_1', targets: ['0xb129d76820940a14c764df8b223d8e39cf94a122'] },
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
  summary: 'Unfollow one or more profiles',
  description:
    'Unfollowing a wallet unfollows its whole profile. Unfollowing a profile that is not followed changes nothing.',
  params: { addressOrUid: follower, targets: { ...targets, alsoInQuery: true } },
  answer: async () => (await import('./answers.ts')).followSchema,
  sample: { addressOrUid: 'ext:user_1', targets: ['0xb129d76820940a14c764df8b223d8e39cf94a122'] },
  examples: [
    { argv: 'follow remove ext:user_1 0xb129d76820940a14c764df8b223d8e39cf94a122', says: 'unfollow one' },
    { argv: 'follow remove ext:user_1 ext:user_2 ext:user_3 --json', says: 'unfollow two, and print JSON' },
  ],
});

const actions = ['follow', 'unfollow'] as const;
const targetTypes = ['addressOrUid', 'twitterHandle'] as const;

/** One item of a bulk request: a follower and the addresses that it follows or unfollows. Source: wire-facts 3.10. */
export interface BulkEntry {
  addressOrUid: string;
  targets: readonly string[];
  /** What targets are; default: `addressOrUid` (set by the service). */
  targetType?: (typeof targetTypes)[number];
  /** Default: `follow` (set by the service). */
  action?: (typeof actions)[number];
}

/** The array of entries that a bulk request is. */
const bulkJsonSchema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['addressOrUid', 'targets'],
    properties: {
      addressOrUid: { type: 'string' },
      targets: { type: 'array', items: { type: 'string' }, minItems: 1 },
      targetType: { type: 'string', enum: [...targetTypes], default: 'addressOrUid' },
      action: { type: 'string', enum: [...actions], default: 'follow' },
    },
  },
} as const;

/** POST /v1/addresses/follow/bulk: the body is the array itself. Source: interface document and wire-facts 3.10. */
export const bulk = defineEndpoint({
  id: 'follow.bulk',
  method: 'POST',
  path: '/v1/addresses/follow/bulk',
  summary: 'Follow and unfollow for many followers at once',
  params: {
    entries: asDocument(
      json<readonly BulkEntry[]>(bulkJsonSchema, bulkProblem),
      'followers, each with the addresses to follow or unfollow',
    ),
  },
  answer: async () => (await import('./answers.ts')).followSchema,
  sample: {
    entries: [
      { addressOrUid: 'ext:user_1', targets: ['0xb129d76820940a14c764df8b223d8e39cf94a122'] },
      { addressOrUid: 'ext:user_2', targets: ['ext:user_1', 'ext:user_3'], action: 'unfollow' },
    ],
  },
  examples: [
    {
      argv: 'follow bulk --file -',
      says: 'entries from a pipe, one JSON object a line: {"addressOrUid":"ext:user_1","targets":["0x..."]}',
    },
    { argv: 'follow bulk --file - --dry-run', says: 'check every line and show the first request' },
  ],
});

const twitterHandle = formatted(
  matching((text) => /^@?\w{1,15}$/.test(text), 'must be a Twitter handle: 1 to 15 letters, digits or underscores'),
);

/** What is wrong with a value as an entry, naming field and value; `undefined` if nothing is. */
function entryProblem(value: unknown): string | undefined {
  if (!isObject(value)) return 'must be a JSON object';
  const target = value['targetType'] === 'twitterHandle' ? twitterHandle : identifierKind;
  const kinds: Readonly<Record<string, Kind>> = {
    addressOrUid: identifierKind,
    targetType: optional(choice(targetTypes)),
    action: optional(choice(actions)),
    targets: listOf(target, { minItems: 1 }),
  };
  for (const [field, kind] of Object.entries(kinds)) {
    const problem = checkValue(kind, value[field]);
    if (problem !== undefined) return describeProblem(field, problem);
  }
  // A misspelled `action` would follow instead of unfollow.
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(kinds, key));
  return unknown === undefined ? undefined : `${unknown}: no such field; there are ${Object.keys(kinds).join(', ')}`;
}

/** What is wrong with a bulk body: the first entry that is not one, by its index. */
function bulkProblem(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'must be an array of {addressOrUid, targets}';
  const problems = value.map(entryProblem);
  const wrong = problems.findIndex((text) => text !== undefined);
  return wrong === -1 ? undefined : `[${wrong}].${problems[wrong]}`;
}

/** What is wrong with an entry that a person wrote: as `entryProblem`, and a follower among its own targets. */
export function writtenProblem(value: unknown): string | undefined {
  const plain = entryProblem(value);
  if (plain !== undefined) return plain;
  const entry = value as BulkEntry;
  const { addressOrUid, targets, targetType, action } = entry;
  if (action === 'unfollow' || targetType === 'twitterHandle') return undefined;
  const self = findSelf(addressOrUid, targets);
  return self && `targets ${JSON.stringify(self)}: a profile cannot follow itself`;
}

/** The target that is the follower itself, whatever the case of EVM addresses; `undefined` if none is. */
export function findSelf(follower: string, targets: readonly string[]): string | undefined {
  return targets.find((target) => normalizeAddress(target) === normalizeAddress(follower));
}

/** The entry that undoes an entry. */
export function reverseEntry(entry: BulkEntry): BulkEntry {
  return { ...entry, action: entry.action === 'unfollow' ? 'follow' : 'unfollow' };
}
