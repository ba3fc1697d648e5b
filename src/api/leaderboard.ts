import { defineEndpoint, type InputOf, inQuery } from './endpoint.ts';
import { identifierKind, leaderboardChainKind, viewersKind } from './formats.ts';
import { boolean, choice, integer, listOf, optional, text } from './kind.ts';

const trader = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const commenter = '0xb129d76820940a14c764df8b223d8e39cf94a122';

const timeframe = inQuery(optional(choice(['7d', '30d'])), 'window of the PnL', {
  source: 'assumed',
  valueName: 'period',
  serviceDefault: '30d',
});
const limit = inQuery(optional(integer(1, 250)), 'how many traders', {
  source: 'public',
  serviceDefault: '50',
});
const viewerAddresses = inQuery(optional(viewersKind), 'show whether these wallets follow each trader', {
  source: 'assumed',
});

const chains = inQuery(optional(listOf(leaderboardChainKind)), 'sum PnL over these chains', {
  serviceDefault: 'all four',
});
const onlyWithComments = inQuery(optional(boolean()), 'only traders with swap comments');

/** Source: interface document and wire-facts 3.2. */
export const list = defineEndpoint({
  id: 'leaderboard.list',
  method: 'GET',
  path: '/v2/leaderboard',
  summary: 'Traders ranked by realized PnL, best first',
  params: { chains, onlyWithComments, limit, timeframe, viewerAddresses },
  answer: async () => (await import('./answers.ts')).leaderboardSchema,
  paging: { kind: 'limit', size: 'limit', defaultSize: 50, maxSize: 250 },
  sample: { chains: ['solana'], onlyWithComments: true, limit: 5, timeframe: '7d' },
  examples: [
    { argv: 'leaderboard list --chains solana --limit 5', says: 'the five best traders on Solana' },
    { argv: 'leaderboard list --timeframe 7d --only-with-comments', says: 'traders who comment, over the last week' },
  ],
});

/** Source: interface document and wire-facts 3.3. */
export const rank = defineEndpoint({
  id: 'leaderboard.rank',
  method: 'GET',
  path: '/v2/leaderboard/ranking',
  summary: 'The rank of one trader and the PnL behind it',
  description: 'Rank 1 is the top trader; null means not on the leaderboard.',
  params: {
    address: inQuery(identifierKind, 'wallet whose rank to get', { positional: true }),
    chains,
    onlyWithComments: inQuery(optional(boolean()), 'rank among traders with swap comments', { source: 'assumed' }),
    timeframe,
  },
  answer: async () => (await import('./answers.ts')).rankSchema,
  sample: { address: trader, chains: ['hyperliquid'] },
  examples: [
    { argv: `leaderboard rank ${trader}`, says: 'the rank of one wallet' },
    { argv: `leaderboard rank ${trader} --chains hyperliquid --json`, says: 'on one chain, as JSON' },
  ],
});

/** Source: wire-facts 3.4; inputs assumed. */
export const copytraded = defineEndpoint({
  id: 'leaderboard.copytraded',
  method: 'GET',
  path: '/v2/leaderboard/copytraded',
  source: 'public',
  summary: 'Traders ranked by the volume that others copied from their comments',
  description:
    'Each row has the copy trades of one trader, the different copiers and the volume, over the period in the answer.',
  params: {
    address: inQuery(optional(identifierKind), 'also give the rank of this wallet', { source: 'assumed' }),
    chains: { ...chains, help: 'count copies on these chains', source: 'assumed' },
    limit: { ...limit, source: 'assumed' },
    viewerAddresses,
  },
  answer: async () => (await import('./answers.ts')).copytradedSchema,
  paging: { kind: 'limit', size: 'limit', defaultSize: 50, maxSize: 250 },
  sample: { address: commenter, chains: ['solana'] },
  examples: [
    { argv: 'leaderboard copytraded', says: 'whose comments are copied most' },
    {
      argv: `leaderboard copytraded --chains solana --address ${commenter}`,
      says: 'on Solana, with the rank of one wallet',
    },
  ],
});

/** Source: interface document and wire-facts 3.1. */
export const sections = defineEndpoint({
  id: 'leaderboard.sections',
  method: 'GET',
  path: '/v1/leaderboard',
  summary: 'The old leaderboard, in sections',
  deprecated: 'use leaderboard list, with --chains <x> for section chain-<x>',
  keyless: true,
  params: {
    limit: { ...limit, help: 'how many traders a section', source: 'spec' },
    sections: inQuery(optional(listOf(text())), 'section keys: all, chain-solana, chain-base, ...', {
      serviceDefault: 'all sections',
    }),
    timeframe: { ...timeframe, source: 'spec' },
  },
  answer: async () => (await import('./answers.ts')).sectionsSchema,
  sample: { limit: 5, sections: ['chain-solana'], timeframe: '7d' },
  examples: [
    { argv: 'leaderboard sections --sections chain-solana --limit 5', says: 'the Solana section' },
    { argv: 'leaderboard sections --timeframe 7d --json', says: 'every section over the last week, as JSON' },
  ],
});

export type RankInput = InputOf<typeof rank.params>;
