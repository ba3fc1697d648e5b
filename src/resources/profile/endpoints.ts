import { type AnswerOf, defineEndpoint, inPath, inQuery } from '../../api/endpoint.ts';
import { identifierSchema, viewerAddressesSchema } from '../../model/identifier.ts';
import { profileSchema } from '../../model/profile.ts';

const identifier = inPath(identifierSchema, 'profile UUID, wallet address or ext:<your user id>');

/** GET /v1/addresses/{identifier}/profile. Source: interface document and wire-facts 3.11. */
export const get = defineEndpoint({
  id: 'profile.get',
  method: 'GET',
  path: '/v1/addresses/{identifier}/profile',
  source: 'spec',
  summary: 'One profile with its addresses, trading figures and follow counts',
  params: {
    identifier,
    viewerAddresses: inQuery(viewerAddressesSchema.optional(), 'says whether these wallets follow the profile'),
  },
  answer: profileSchema,
  examples: [
    { argv: 'profile get 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2', says: 'the profile behind a wallet' },
    { argv: 'profile get 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 --json', says: 'the same as JSON' },
  ],
});

export type ProfileAnswer = AnswerOf<typeof get>;
