import type { Endpoint } from '../../src/api/endpoint.ts';
import { decodeRequest } from '../../src/api/request.ts';

/** A command line, the request that it must send, path and query exactly as they travel, and the body. */
export type Witness = readonly [argv: string | readonly string[], request: string, body?: unknown];

const wallet = '0xA4E221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';
const lower = '0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';
const mint = 'So11111111111111111111111111111111111111112';
const uuid = '3f0c1f5e-6a53-4d0c-9e57-0d4b1c2f7a11';

/** Typed by hand from the interface document and the public facts, never from the code; by the id of the endpoint. */
export const witnesses: Readonly<Record<string, readonly Witness[]>> = {
  'leaderboard.list': [
    ['leaderboard list', 'GET /v2/leaderboard'],
    [
      'leaderboard list --chains base --chains solana --limit 10',
      'GET /v2/leaderboard?chains=base&chains=solana&limit=10',
    ],
    [
      `leaderboard list --chains ethereum,hyperliquid --only-with-comments --timeframe 7d --limit 250 --viewer-addresses ${wallet},${mint}`,
      `GET /v2/leaderboard?chains=ethereum&chains=hyperliquid&onlyWithComments=true&limit=250&timeframe=7d&viewerAddresses=${wallet}&viewerAddresses=${mint}`,
    ],
    ['leaderboard list --no-only-with-comments --limit 1', 'GET /v2/leaderboard?onlyWithComments=false&limit=1'],
  ],
  'leaderboard.rank': [
    [`leaderboard rank ${wallet}`, `GET /v2/leaderboard/ranking?address=${wallet}`],
    [
      `leaderboard rank ${mint} --chains solana --only-with-comments --timeframe 30d`,
      `GET /v2/leaderboard/ranking?address=${mint}&chains=solana&onlyWithComments=true&timeframe=30d`,
    ],
  ],
  'leaderboard.sections': [
    ['leaderboard sections', 'GET /v1/leaderboard'],
    [
      'leaderboard sections --sections chain-solana,all --limit 5 --timeframe 7d',
      'GET /v1/leaderboard?limit=5&sections=chain-solana&sections=all&timeframe=7d',
    ],
  ],
  'profile.get': [
    [`profile get ${uuid}`, `GET /v1/addresses/${uuid}/profile`],
    [
      `profile get ext:user_abc123 --viewer-addresses ${wallet}`,
      `GET /v1/addresses/ext%3Auser_abc123/profile?viewerAddresses=${wallet}`,
    ],
    [['profile', 'get', 'ext:a/b c?d#e%ü'], 'GET /v1/addresses/ext%3Aa%2Fb%20c%3Fd%23e%25%C3%BC/profile'],
  ],
  'leaderboard.copytraded': [
    ['leaderboard copytraded', 'GET /v2/leaderboard/copytraded'],
    [
      `leaderboard copytraded --address ${wallet} --chains base,solana --limit 7 --viewer-addresses ext:user_1`,
      `GET /v2/leaderboard/copytraded?address=${wallet}&chains=base&chains=solana&limit=7&viewerAddresses=ext%3Auser_1`,
    ],
  ],
  'profile.followers': [
    [`profile followers ${mint}`, `GET /v1/addresses/${mint}/followers`],
    [
      'profile followers ext:user_abc123 --cursor MTIzOmFi --limit 100',
      'GET /v1/addresses/ext%3Auser_abc123/followers?cursor=MTIzOmFi&limit=100',
    ],
  ],
  'profile.follows': [
    [`profile follows ${uuid}`, `GET /v1/addresses/${uuid}/follows`],
    [`profile follows ${wallet} --limit 1`, `GET /v1/addresses/${wallet}/follows?limit=1`],
    [
      `profile follows ext:user_abc123 --cursor MTIzOmFi --limit 100`,
      'GET /v1/addresses/ext%3Auser_abc123/follows?cursor=MTIzOmFi&limit=100',
    ],
  ],
  'profile.set-name': [
    [
      'profile set-name ext:user_abc123 --name moon_cat',
      'PUT /v1/profiles/ext%3Auser_abc123/name',
      { name: 'moon_cat' },
    ],
    [
      `profile set-name ${wallet} --name Cat9 --avatar-url https://a.example/c.png?v=1`,
      `PUT /v1/profiles/${wallet}/name`,
      { name: 'Cat9', avatarUrl: 'https://a.example/c.png?v=1' },
    ],
    [`profile set-name ${uuid} --clear --yes`, `PUT /v1/profiles/${uuid}/name`, { name: null }],
    [`profile set-name ${uuid} --clear-avatar --yes`, `PUT /v1/profiles/${uuid}/name`, { avatarUrl: null }],
  ],
  'profile.delete-name': [
    [`profile delete-name ${mint} --yes`, `DELETE /v1/profiles/${mint}/name`],
    [['profile', 'delete-name', 'ext:a/b', '--yes'], 'DELETE /v1/profiles/ext%3Aa%2Fb/name'],
  ],
  'follow.add': [
    [`follow add ext:user_abc123 ${wallet}`, 'PUT /v1/addresses/ext%3Auser_abc123/follow', { targets: [wallet] }],
    [
      `follow add ${wallet} ${mint} ${uuid} ext:user_2`,
      `PUT /v1/addresses/${wallet}/follow`,
      { targets: [mint, uuid, 'ext:user_2'] },
    ],
  ],
  'follow.remove': [
    [`follow remove ${uuid} ext:user_abc123`, `DELETE /v1/addresses/${uuid}/follow`, { targets: ['ext:user_abc123'] }],
    [
      `follow remove ext:user_1 ${mint} ${wallet}`,
      'DELETE /v1/addresses/ext%3Auser_1/follow',
      { targets: [mint, wallet] },
    ],
  ],
  'follow.bulk': [
    [
      'follow bulk --file test/support/follow-bulk.ndjson',
      'POST /v1/addresses/follow/bulk',
      [
        { addressOrUid: 'ext:user_abc123', targets: [wallet, mint] },
        { addressOrUid: wallet, targets: [uuid], targetType: 'addressOrUid', action: 'unfollow' },
        { addressOrUid: 'ext:user_abc123', targets: ['jack'], targetType: 'twitterHandle' },
      ],
    ],
  ],
  'token.positions': [
    [`token positions base ${wallet} open`, `GET /v1/tokens/base/${wallet}/positions/open`],
    [
      `token positions solana ${mint} closed --sort latest --chains base,all --page 3 --limit 100 --price 1`,
      `GET /v1/tokens/solana/${mint}/positions/closed?sort=latest&chains=base&chains=all&page=3&limit=100`,
    ],
  ],
  'token.comments': [
    [`token comments base ${wallet}`, `GET /v1/tokens/base/${wallet}/comments`],
    ['token comments hyperliquid ETH --limit 7', 'GET /v1/tokens/hyperliquid/ETH/comments?limit=7'],
  ],
  'profile.positions': [
    [`profile positions ${uuid} open`, `GET /v1/addresses/${uuid}/positions/open`],
    [
      `profile positions ext:user_abc123 closed --provided-addresses-only --sort value --chains hyperliquid --chains base --page 2 --limit 1`,
      'GET /v1/addresses/ext%3Auser_abc123/positions/closed?providedAddressesOnly=true&sort=value&chains=hyperliquid&chains=base&page=2&limit=1',
    ],
    [
      `profile positions ${wallet} closed --no-provided-addresses-only`,
      `GET /v1/addresses/${wallet}/positions/closed?providedAddressesOnly=false`,
    ],
  ],
  'position.find': [
    [
      `position find ${wallet} base ${wallet} 2026-11-20T11:30:00Z`,
      `GET /v1/positions/${wallet}/base/${wallet}/1795174200`,
    ],
    [
      `position find ${wallet} hyperliquid ETH 1795174200123 --viewer-addresses ${wallet},${mint}`,
      `GET /v1/positions/${wallet}/hyperliquid/ETH/1795174200123?viewerAddresses=${wallet}&viewerAddresses=${mint}`,
    ],
  ],
  'position.get': [
    [`position get ${uuid}`, `GET /v1/position/${uuid}`],
    [
      ['position', 'get', 'a/b?c', '--viewer-addresses', wallet],
      `GET /v1/position/a%2Fb%3Fc?viewerAddresses=${wallet}`,
    ],
  ],
  'feed.actor': [
    [`feed actor ${wallet}`, `GET /v1/feed/actor?identifier=${wallet}`],
    [
      'feed actor ext:user_abc123 --chains base,all --limit 100 --include-for-you --min-trade-usd 500 --min-market-cap 100000 --max-market-cap 10000000',
      'GET /v1/feed/actor?identifier=ext%3Auser_abc123&chains=base&chains=all&limit=100&includeForYou=true&minTradeUsd=500&minMarketCap=100000&maxMarketCap=10000000',
    ],
    [`feed actor ${uuid} --cursor a+b/c=`, `GET /v1/feed/actor?identifier=${uuid}&olderThan=a%2Bb%2Fc%3D`],
    [
      `feed actor ${uuid} --newer-than 2026-07-03T12:00:00Z --no-include-for-you`,
      `GET /v1/feed/actor?identifier=${uuid}&includeForYou=false&newerThan=2026-07-03T12%3A00%3A00Z`,
    ],
  ],
  'feed.home': [
    [`feed home ${wallet}`, `GET /v1/feed?addresses=${wallet}`],
    [
      `feed home ${wallet} ${mint} --chains hyperliquid --limit 1 --only-with-comments --min-trade-usd 10 --older-than 2026-07-03`,
      `GET /v1/feed?addresses=${wallet}&addresses=${mint}&chains=hyperliquid&limit=1&onlyWithComments=true&minTradeUsd=10&olderThan=2026-07-03`,
    ],
    [
      `feed home ext:user_abc123 --newer-than 2026-07-03T12:00:00Z`,
      'GET /v1/feed?addresses=ext%3Auser_abc123&newerThan=2026-07-03T12%3A00%3A00Z',
    ],
  ],
  'comment.post': [
    [
      [
        ...'comment post --chain base --token 0x4ED4E862860beD51a9570b96d89aF5E1B0Efefed'.split(' '),
        ...'--tx 0x5CDBd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad911'.split(' '),
        ...'--signature 0xabcdef --signer 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf --text'.split(' '),
        ' gm\r\n"frens" 🌊\n',
      ],
      'POST /v1/swap-comments',
      {
        transactionHash: '0x5CDBd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad911',
        chain: 'base',
        tokenAddress: '0x4ed4e862860bed51a9570b96d89af5e1b0efefed',
        commentText: ' gm\r\n"frens" 🌊\n',
        signature: '0xabcdef',
        signerAddress: '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
      },
    ],
    [
      `comment post --chain hyperliquid --tx 52012345678 --token kPEPE --text gm --signature 0x00 --signer ${wallet}`,
      'POST /v1/swap-comments',
      {
        transactionHash: '52012345678',
        chain: 'hyperliquid',
        tokenAddress: 'kPEPE',
        commentText: 'gm',
        signature: '0x00',
        signerAddress: wallet,
      },
    ],
  ],
  'comment.list': [
    [
      `comment list 0x${'A'.repeat(64)} --chain base`,
      `GET /v1/swap-comments?transactionHashes=0x${'A'.repeat(64)}&chain=base`,
    ],
    [
      `comment list 52012345678 0x${'d'.repeat(64)} --chain hyperliquid --viewer-addresses ${wallet}`,
      `GET /v1/swap-comments?transactionHashes=52012345678&transactionHashes=0x${'d'.repeat(64)}&chain=hyperliquid&viewerAddresses=${wallet}`,
    ],
  ],
  'comment.copy': [
    [
      `comment copy ${uuid} --token ${mint} --actor-address ${mint}`,
      `POST /v1/swap-comment/${uuid}/copyswap`,
      { tokenAddress: mint, actorAddress: mint },
    ],
    [
      `comment copy ${uuid} --token ETH --chain hyperliquid --actor-addresses ${wallet},${mint}`,
      `POST /v1/swap-comment/${uuid}/copyswap`,
      { tokenAddress: 'ETH', chain: 'hyperliquid', actorAddresses: [wallet, mint] },
    ],
    [
      `comment copy ${uuid} --token BTC --chain hyperliquid --actor-address ${wallet} --track-exit-until 2026-11-22T12:30:00Z`,
      `POST /v1/swap-comment/${uuid}/copyswap`,
      { tokenAddress: 'BTC', chain: 'hyperliquid', actorAddress: wallet, trackExitUntil: '2026-11-22T12:30:00.000Z' },
    ],
  ],
  'webhook.register': [
    [
      `webhook register --url https://example.com/hook --allow-bad-checksum --wallet-addresses ${wallet},${mint}`,
      'POST /v1/webhooks/feed',
      { walletAddresses: [lower, mint], destinationUrl: 'https://example.com/hook' },
    ],
    [
      'webhook register --url https://example.com/hook --wallet-addresses ext:user_abc123',
      'POST /v1/webhooks/feed',
      { walletAddresses: ['ext:user_abc123'], destinationUrl: 'https://example.com/hook' },
    ],
  ],
  'webhook.list': [['webhook list', 'GET /v1/webhooks/feed']],
  'webhook.add-addresses': [
    [
      `webhook add-addresses ${uuid} --allow-bad-checksum --wallet-addresses ${wallet},ext:user_abc123`,
      `PUT /v1/webhooks/feed/${uuid}`,
      { walletAddresses: [lower, 'ext:user_abc123'] },
    ],
  ],
  'webhook.delete': [[`webhook delete ${uuid} --yes`, `DELETE /v1/webhooks/feed/${uuid}`]],
  'webhook.validate': [[`webhook validate ${uuid}`, `POST /v1/webhooks/feed/${uuid}/validate`]],
};

/** The input of an endpoint that a row's request holds. */
export function inputOf(endpoint: Endpoint, [argv, request, body]: Witness): Record<string, unknown> {
  const url = new URL(request.split(' ')[1] ?? '', 'http://service.test');
  const names = new RegExp(`^${endpoint.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`).exec(url.pathname)?.groups;
  const parts = Object.entries(names ?? {}).map(([key, text]) => [key, decodeURIComponent(text)]);
  const decoded = decodeRequest(endpoint, { path: Object.fromEntries(parts), query: url.searchParams, body });
  if (!decoded.ok) throw new Error(`${argv}: ${decoded.problem}`);
  return decoded.input;
}
