import { dayMs } from './duration.ts';
import { defineEndpoint, inBody, inPath, inQuery } from './endpoint.ts';
import { chainKind, commentUidKind, textOf, viewersKind, walletKind } from './formats.ts';
import { integer, listOf, optional, text } from './kind.ts';
import { maxCommentCharacters } from './signed-text.ts';

const degen = '0x4ed4e862860bed51a9570b96d89af5e1b0efefed';
const wallet = '0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';

/** `trackExitUntil` is at most this far ahead. Section "Limits". */
export const maxTrackingMs = 7 * dayMs;

export const commentTextKind = text({ maxLength: maxCommentCharacters });

const transactionHash = inBody(text(), 'transaction hash of the swap; on hyperliquid also an order id', {
  flag: 'tx',
  valueName: 'hash',
  aliases: ['txnHash'],
});
const tokenAddress = inBody(text(), 'token that was swapped: contract address, mint, or coin on hyperliquid', {
  flag: 'token',
  takesAddress: 'token',
});

/** Source: interface document and wire-facts 3.6. */
export const post = defineEndpoint({
  id: 'comment.post',
  method: 'POST',
  path: '/v1/swap-comments',
  summary: 'Sign a comment on a swap and post it',
  params: {
    transactionHash,
    chain: inBody(chainKind, 'chain of the swap'),
    tokenAddress,
    commentText: inBody(commentTextKind, 'the comment', { flag: 'text' }),
    signature: inBody(text(), 'signature over the text; default: made with a key'),
    signerAddress: inBody(text(), 'address that signed', { flag: 'signer' }),
  },
  answer: async () => (await import('./answers.ts')).commentSchema,
  sample: {
    transactionHash: '0x5cdbd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad911',
    chain: 'base',
    tokenAddress: degen,
    commentText: 'gm',
    signature:
      '0x2696a310f3880c8b1273a8c34f8bf29253ccad9790d8ef635f5635118be0a9ab323c9dd247b3d0daad9a862d1bf9469df63b14d676045a00c0c8d43b4a9cda6a1b',
    signerAddress: '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
  },
  examples: [
    {
      argv: `comment post --chain base --tx 0x5cdbd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad911 --token ${degen} --text gm --signature 0x2696a310f3880c8b1273a8c34f8bf29253ccad9790d8ef635f5635118be0a9ab323c9dd247b3d0daad9a862d1bf9469df63b14d676045a00c0c8d43b4a9cda6a1b --signer 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf --dry-run`,
      says: 'see the request for a comment that was signed elsewhere, without sending it',
    },
    {
      argv: 'comment post --chain hyperliquid --tx 52012345678 --token ETH --text gm --signature 0x3a395886a87f079de5748f7bf240a9f1159fc18bb5423963ca0c4d1a3d28ca8524dc39d0e26d55c0444e7807c655b22ce0b3acc973839b21bc72e0cd9a8ccaad1b --signer 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf --curl',
      says: 'a comment on a perp order as a curl line',
    },
  ],
});

/** Source: interface document and wire-facts 3.7. */
export const list = defineEndpoint({
  id: 'comment.list',
  method: 'GET',
  path: '/v1/swap-comments',
  summary: 'Comments on one or more swaps',
  params: {
    hashes: inQuery(listOf(text(), { minItems: 1 }), 'transaction hash, or order id on hyperliquid', {
      source: 'assumed',
      wire: 'transactionHashes',
      aliases: ['transactionHash', 'txnHashes', 'txnHash'],
      flag: 'hash',
      positional: true,
    }),
    chain: inQuery(chainKind, 'chain of the swaps', { source: 'assumed' }),
    viewerAddresses: inQuery(optional(viewersKind), 'wallets whose likes are marked', {
      source: 'assumed',
      aliases: ['userAddress'],
    }),
  },
  answer: async () => (await import('./answers.ts')).commentsSchema,
  sample: { hashes: ['0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0'], chain: 'base' },
  examples: [
    {
      argv: 'comment list 0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0 --chain base',
      says: 'the comments on one swap',
    },
    {
      argv: 'comment list 3Z7cj4v76xSs59irxxNCE5hTm8MW56xxxjQr58ekxjo8yDUMNV16d9iLhHDx84LUErLUiEfm9cHSEYxmtsZ2ShQ 4RuVyMCFJCxVXDiiajzE1qLWYqxTNyRkUzCBx8vmL4gn5DPUJThKamPhxx6nKNXuG7354xsgTYh5SgW1qT9YSxA --chain solana --json',
      says: 'on several swaps, as JSON',
    },
  ],
});

/** Source: interface document and wire-facts 3.8. */
export const copy = defineEndpoint({
  id: 'comment.copy',
  method: 'POST',
  path: '/v1/swap-comment/{id}/copyswap',
  summary: 'Record the intent to copy the trade of a comment',
  description:
    'An entry into the token by one of the addresses within an hour counts as a copy. Send every address that the user may trade with.',
  params: {
    id: inPath(commentUidKind, 'uid of the comment'),
    tokenAddress,
    chain: inBody(optional(chainKind), 'chain of the token', { serviceDefault: "the comment's" }),
    actorAddress: inBody(optional(walletKind), 'wallet that may trade'),
    actorAddresses: inBody(optional(listOf(walletKind, { minItems: 1 })), 'all wallets of the user'),
    trackExitUntil: inBody(
      optional(textOf('date-time')),
      'track exits of the position until this time, such as 2026-07-03T12:00:00Z; hyperliquid only',
    ),
  },
  answer: async () => (await import('./answers.ts')).copySchema,
  sample: {
    id: '2f991d88-4e6a-54f7-b130-a9788a9a06ab',
    tokenAddress: '0x940181a94a35a4569e4529a3cdfb74e38fd98631',
    chain: 'base',
    actorAddress: wallet,
  },
  examples: [
    {
      argv: `comment copy 2f991d88-4e6a-54f7-b130-a9788a9a06ab --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --chain base --actor-address ${wallet}`,
      says: 'an intent for one wallet',
    },
    {
      argv: `comment copy 3a66e8bd-8f95-572c-9f76-601286c7a155 --token ETH --chain hyperliquid --actor-addresses ${wallet},0x7e5f4552091a69125d5dfcb7b8c2659029395bdf --track-exit-until 7d`,
      says: 'for two wallets, with exits of the perp tracked for a week',
    },
  ],
});

/** Source: interface document and wire-facts 3.17. */
export const ofToken = defineEndpoint({
  id: 'token.comments',
  method: 'GET',
  path: '/v1/tokens/{chain}/{contractAddress}/comments',
  summary: 'Comments on a token, newest first',
  params: {
    chain: inPath(chainKind, 'chain of the token; perps are on hyperliquid'),
    contractAddress: inPath(text(), 'contract address or mint; on hyperliquid the coin', {
      flag: 'contract',
      takesAddress: 'token',
    }),
    limit: inQuery(optional(integer(1)), 'number of comments', { source: 'public', serviceDefault: '50' }),
  },
  answer: async () => (await import('./answers.ts')).tokenCommentsSchema,
  paging: { kind: 'limit', size: 'limit', defaultSize: 50, maxSize: Number.MAX_SAFE_INTEGER },
  sample: { chain: 'base', contractAddress: degen, limit: 5 },
  examples: [
    { argv: `token comments base ${degen} --limit 5`, says: 'the five latest comments on a token' },
    { argv: 'token comments hyperliquid ETH --json', says: 'comments on ETH perps, as JSON' },
  ],
});
