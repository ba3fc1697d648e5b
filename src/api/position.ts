import { defineEndpoint, inPath, inQuery } from './endpoint.ts';
import { chainFilterKind, chainKind, identifierKind, matching, viewersKind, walletKind } from './formats.ts';
import { boolean, choice, formatted, integer, listOf, optional, text } from './kind.ts';

const account = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';
const holder = '0x465bdc4499e12488c05fd6b60f545ff5d781e755';
const degen = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';

const chain = inPath(chainKind, 'chain of the token; perps are on hyperliquid');
const contract = inPath(text(), 'contract address or mint; on hyperliquid the coin', {
  flag: 'contract',
  takesAddress: 'token',
});
const status = inPath(choice(['open', 'closed']), 'open if the holding is worth at least 1 USD, else closed');
const sort = inQuery(optional(choice(['value', 'latest'])), 'order', { serviceDefault: 'value' });
const page = inQuery(optional(integer(1)), 'page number', { source: 'assumed', serviceDefault: '1' });
const limit = inQuery(optional(integer(1, 100)), 'positions per page', {
  source: 'public',
  serviceDefault: '20 (assumed)',
});
const paging = { kind: 'page', page: 'page', size: 'limit', defaultSize: 20, maxSize: 100 } as const;
const viewerAddresses = inQuery(optional(viewersKind), 'mark what these wallets liked', {
  source: 'assumed',
});

function chainFilter(serviceDefault: string) {
  return inQuery(optional(listOf(chainFilterKind)), 'only these chains, or all', {
    source: 'assumed',
    serviceDefault,
  });
}

/** Source: interface document and wire-facts 3.5. */
export const ofToken = defineEndpoint({
  id: 'token.positions',
  method: 'GET',
  path: '/v1/tokens/{chain}/{contractAddress}/positions/{status}',
  summary: 'Positions in a token, open or closed, with their PnL',
  description:
    'Sorted by value: open positions by amount held, closed ones by realized PnL. Sorted by latest: by when they opened or closed. Only trades with comments are listed.',
  params: {
    chain,
    contractAddress: contract,
    status,
    sort,
    chains: chainFilter("base, ethereum, solana and the token's own chain"),
    page,
    limit,
  },
  answer: async () => (await import('./answers.ts')).cardsSchema,
  paging,
  sample: { chain: 'base', contractAddress: degen, status: 'open', sort: 'latest', limit: 5 },
  examples: [
    { argv: `token positions base ${degen} open --limit 5`, says: 'the five largest holders of a token on Base' },
    {
      argv: 'token positions hyperliquid ETH closed --sort latest --limit 5',
      says: 'the ETH perps that closed last',
    },
    { argv: `token positions base ${degen} open --price 0.0041`, says: 'with unrealized PnL at a price of 0.0041 USD' },
  ],
});

/** Source: interface document and wire-facts 3.12. */
export const ofProfile = defineEndpoint({
  id: 'profile.positions',
  method: 'GET',
  path: '/v1/addresses/{identifier}/positions/{status}',
  summary: "A trader's positions, open or closed, with their PnL",
  description:
    'Sorted by value: closed positions by realized PnL (those never sold last), open ones by the cost of what was sold in 30 days. Sorted by latest: by when they closed or opened.',
  params: {
    identifier: inPath(identifierKind, 'profile UUID, wallet address or ext:<your user id>'),
    status,
    providedAddressesOnly: inQuery(optional(boolean()), "only this wallet, not the profile's others", {
      serviceDefault: 'all wallets',
    }),
    sort,
    chains: chainFilter('base, ethereum, solana'),
    page,
    limit,
  },
  answer: async () => (await import('./answers.ts')).cardsSchema,
  paging,
  sample: { identifier: account, status: 'closed', chains: ['hyperliquid'], limit: 5 },
  examples: [
    {
      argv: `profile positions ${account} closed --chains hyperliquid --limit 5`,
      says: 'the five best closed perps of a trader',
    },
    { argv: `profile positions ${holder} open --chains all --all`, says: 'all open positions on all chains' },
  ],
});

/** Source: interface document and wire-facts 3.14. */
export const find = defineEndpoint({
  id: 'position.find',
  method: 'GET',
  path: '/v1/positions/{address}/{chain}/{contract}/{timestamp}',
  summary: 'Find a position by wallet, token and time of a trade',
  params: {
    address: inPath(walletKind, 'wallet that traded'),
    chain,
    contract,
    timestamp: inPath(
      formatted(matching((typed) => /^\d{1,16}$/.test(typed), 'must be a Unix time')),
      'Unix seconds; milliseconds on hyperliquid',
    ),
    viewerAddresses,
  },
  answer: async () => (await import('./answers.ts')).cardSchema,
  sample: { address: holder, chain: 'base', contract: degen, timestamp: '1782043200' },
  examples: [
    { argv: `position find ${holder} base ${degen} now`, says: 'what a wallet holds of a token now' },
    { argv: `position find ${holder} base ${degen} now --json`, says: 'the same as JSON' },
  ],
});

/** Source: wire-facts 3.13. */
export const get = defineEndpoint({
  id: 'position.get',
  method: 'GET',
  path: '/v1/position/{id}',
  source: 'public',
  summary: 'One position with its trades, their comments and the replies',
  params: { id: inPath(text(), 'id of the position (itemId of a card)'), viewerAddresses },
  answer: async () => (await import('./answers.ts')).cardSchema,
  sample: { id: '6527ff56-9ac0-5c42-812c-d84aa9a0cf53' },
  examples: [
    { argv: 'position get 6527ff56-9ac0-5c42-812c-d84aa9a0cf53', says: 'a position with its comments' },
    {
      argv: 'position get 6527ff56-9ac0-5c42-812c-d84aa9a0cf53 --price 0.0041',
      says: 'with unrealized PnL at a price of 0.0041 USD',
    },
  ],
});
