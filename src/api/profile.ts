import { defineEndpoint, inBody, inPath, inQuery } from './endpoint.ts';
import { identifierKind, matching, viewersKind } from './formats.ts';
import { isHttpAddress, suggestScheme } from './http-address.ts';
import { formatted, integer, nullable, optional, text } from './kind.ts';

const trader = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const followed = '0xb129d76820940a14c764df8b223d8e39cf94a122';

const identifier = inPath(identifierKind, 'profile UUID, wallet address or ext:<your user id>');

/** Source: interface document and wire-facts 3.11. */
export const get = defineEndpoint({
  id: 'profile.get',
  method: 'GET',
  path: '/v1/addresses/{identifier}/profile',
  summary: 'Profile of a trader: wallets, trading figures and follower counts',
  params: {
    identifier,
    viewerAddresses: inQuery(optional(viewersKind), 'show whether these wallets follow the profile'),
  },
  answer: async () => (await import('./answers.ts')).profileSchema,
  sample: { identifier: trader },
  examples: [
    { argv: `profile get ${trader}`, says: 'the profile behind a wallet' },
    { argv: `profile get ${trader} --json`, says: 'the same as JSON' },
  ],
});

const pageParams = {
  cursor: inQuery(optional(text()), 'cursor from the previous page', { source: 'assumed' }),
  limit: inQuery(optional(integer(1, 100)), 'profiles per page', { source: 'assumed', serviceDefault: '100' }),
};

const paging = {
  kind: 'cursor',
  cursor: 'cursor',
  size: 'limit',
  maxSize: 100,
  items: 'items',
  next: 'cursor',
} as const;

/** Source: interface document and wire-facts 3.10. */
export const followers = defineEndpoint({
  id: 'profile.followers',
  method: 'GET',
  path: '/v1/addresses/{identifier}/followers',
  summary: 'Followers of a profile',
  description: 'Follows belong to the calling partner. All wallets of a profile have the same list.',
  params: { identifier, ...pageParams },
  answer: async () => (await import('./answers.ts')).profilePageSchema,
  paging,
  sample: { identifier: followed, limit: 5 },
  examples: [
    { argv: `profile followers ${followed} --limit 5`, says: 'five of its followers' },
    { argv: `profile followers ${followed} --all --format ndjson`, says: 'all of them as NDJSON' },
  ],
});

/** Source: interface document and wire-facts 3.10. */
export const follows = defineEndpoint({
  id: 'profile.follows',
  method: 'GET',
  path: '/v1/addresses/{identifier}/follows',
  summary: 'Profiles that a profile follows',
  description: 'Follows belong to the calling partner. All wallets of a profile have the same list.',
  params: { identifier, ...pageParams },
  answer: async () => (await import('./answers.ts')).profilePageSchema,
  paging,
  sample: { identifier: followed, limit: 5 },
  examples: [
    { argv: `profile follows ${followed} --limit 5`, says: 'five of the profiles it follows' },
    {
      argv: `profile follows ${followed} --all --format csv --columns name,address`,
      says: 'all of them as CSV',
    },
  ],
});

const nameRule = 'must be 3 to 18 letters, digits or underscores, without the suffix';

export const nameKind = formatted(
  matching((name) => /^[a-zA-Z0-9_]{3,18}$/.test(name), nameRule, {
    minLength: 3,
    maxLength: 18,
    pattern: '^[a-zA-Z0-9_]+$',
  }),
);

/** Assumed. */
const maxAvatarUrl = 2048;

export const avatarKind = formatted({
  findProblem: (address) => {
    if (address.length > maxAvatarUrl) return `must have at most ${maxAvatarUrl} characters`;
    return isHttpAddress(address)
      ? undefined
      : `must be an http or https address of a jpeg or png${suggestScheme(address)}`;
  },
  schema: { format: 'uri' },
});

/** Source: interface document and wire-facts 3.9. */
export const setName = defineEndpoint({
  id: 'profile.set-name',
  method: 'PUT',
  path: '/v1/profiles/{identifier}/name',
  summary: 'Set the name and avatar of a profile at your partner',
  description:
    'Omitted values stay unchanged. A name of null removes name and avatar, an avatarUrl of null only the avatar.\n' +
    "The answer has the name with your partner's suffix. An avatar needs a name. It is a JPEG or PNG of at least " +
    '120x120 pixels and at most 5 MB.',
  params: {
    identifier,
    name: inBody(optional(nullable(nameKind)), 'new name; null removes name and avatar'),
    avatarUrl: inBody(optional(nullable(avatarKind)), 'URL of the new avatar; null removes it'),
  },
  answer: async () => (await import('./answers.ts')).profileSchema,
  sample: { identifier: 'ext:user_1', name: 'moon_cat', avatarUrl: 'https://pictures.sotra.example/moon_cat.png' },
  examples: [
    { argv: 'profile set-name ext:user_1 --name moon_cat', says: 'name one of your users' },
    {
      argv: 'profile set-name ext:user_1 --name moon_cat --avatar-url https://pictures.sotra.example/moon_cat.png',
      says: 'with an avatar',
    },
  ],
});

/** Source: interface document and wire-facts 3.9. */
export const deleteName = defineEndpoint({
  id: 'profile.delete-name',
  method: 'DELETE',
  path: '/v1/profiles/{identifier}/name',
  summary: 'Remove the name and avatar of a profile at your partner',
  params: { identifier },
  answer: async () => (await import('./answers.ts')).profileSchema,
  sample: { identifier: 'ext:user_1' },
  examples: [
    { argv: 'profile delete-name ext:user_1 --yes', says: 'back to the name it has elsewhere' },
    { argv: 'profile delete-name ext:user_1 --yes --json', says: 'the profile afterwards, as JSON' },
  ],
});
