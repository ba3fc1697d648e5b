import { defineEndpoint, inQuery } from './endpoint.ts';
import { chainFilterKind, identifierKind } from './formats.ts';
import { boolean, choice, integer, listOf, optional, text } from './kind.ts';

const trader = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const user = '0x143cf5cccbc8447504a99413dec7ea93ec228432';

const chains = inQuery(optional(listOf(chainFilterKind)), 'only these chains, or all', {
  source: 'public',
  serviceDefault: 'base, ethereum, solana',
});
const limit = inQuery(optional(integer(1, 100)), 'cards per page', {
  source: 'public',
  serviceDefault: '25',
});
const minTradeUsd = inQuery(
  optional(choice([10, 100, 500, 1000])),
  'only cards with a trade of at least this many USD',
  { source: 'public' },
);
const olderThan = inQuery(optional(text()), 'only older cards: a cursor or a time such as 2026-07-03T12:00:00Z', {
  source: 'public',
  valueName: 'time',
  conflicts: ['newerThan'],
});
const newerThan = inQuery(optional(text()), 'only newer cards: a cursor or a time', {
  source: 'public',
  valueName: 'time',
});
export const paging = {
  kind: 'links',
  size: 'limit',
  items: 'items',
  older: 'olderThan',
  newer: 'newerThan',
  atSec: 'cardLatestTradeAt',
} as const;

const marketCap = (which: 'at least' | 'less than') =>
  inQuery(
    optional(choice([100_000, 1_000_000, 10_000_000])),
    `only tokens with a market cap of ${which} this many USD`,
    {
      source: 'assumed',
    },
  );

const order = 'A card moves to the top when its position trades again.';

/** Source: interface document and wire-facts 3.16. */
export const actor = defineEndpoint({
  id: 'feed.actor',
  method: 'GET',
  path: '/v1/feed/actor',
  summary: 'Trades of one trader, newest first',
  description: order,
  params: {
    identifier: inQuery(identifierKind, 'trader: profile UUID, wallet address or ext:<your user id>', {
      positional: true,
      source: 'assumed',
      aliases: ['address', 'addressOrUid', 'addresses'],
    }),
    chains,
    limit,
    includeForYou: inQuery(optional(boolean()), 'also include trades that the service recommends', {
      source: 'assumed',
    }),
    minTradeUsd: { ...minTradeUsd, source: 'assumed' },
    minMarketCap: marketCap('at least'),
    maxMarketCap: marketCap('less than'),
    olderThan: { ...olderThan, source: 'assumed' },
    newerThan: { ...newerThan, source: 'assumed' },
  },
  answer: async () => (await import('./answers.ts')).feedSchema,
  paging,
  sample: { identifier: trader, chains: ['all'], limit: 10, minTradeUsd: 1000 },
  examples: [
    { argv: `feed actor ${trader} --chains all --limit 10`, says: 'the latest ten cards of a trader' },
    {
      argv: `feed actor ${trader} --chains all --min-trade-usd 1000 --all`,
      says: 'all cards with a trade of at least 1,000 USD',
    },
  ],
});

/** Source: wire-facts 3.15. */
export const home = defineEndpoint({
  id: 'feed.home',
  method: 'GET',
  path: '/v1/feed',
  source: 'public',
  summary: 'Trades of the traders that a user follows, newest first',
  description: order,
  params: {
    addresses: inQuery(
      listOf(identifierKind, { minItems: 1 }),
      'wallets of the user, or its profile UUID or ext:<your user id>',
      {
        positional: true,
        flag: 'address',
        source: 'public',
      },
    ),
    chains,
    limit,
    onlyWithComments: inQuery(optional(boolean()), 'only cards with a comment', { source: 'public' }),
    minTradeUsd,
    olderThan,
    newerThan,
  },
  answer: async () => (await import('./answers.ts')).feedSchema,
  paging,
  sample: { addresses: [user], limit: 10, onlyWithComments: true },
  examples: [
    { argv: `feed home ${user} --limit 10`, says: 'the latest ten cards' },
    { argv: `feed home ${user} --only-with-comments --all`, says: 'all cards with comments' },
  ],
});
