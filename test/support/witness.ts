import type { Endpoint } from '../../src/api/endpoint.ts';
import { decodeRequest } from '../../src/api/request.ts';

/** What a command line must send, typed by hand from the interface document and the public facts, never from the code. */
export interface Witness {
  argv: string | readonly string[];
  method: string;
  /** Path and query exactly as they travel. */
  path: string;
  body?: unknown;
  /** Requests that the command sends ahead of it. */
  ahead?: number;
}

const wallet = '0xA4E221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';
const mint = 'So11111111111111111111111111111111111111112';
const uuid = '3f0c1f5e-6a53-4d0c-9e57-0d4b1c2f7a11';

export const witnesses: Readonly<Record<string, readonly Witness[]>> = {
  'leaderboard.list': [
    { argv: 'leaderboard list', method: 'GET', path: '/v2/leaderboard' },
    {
      argv: 'leaderboard list --chains base --chains solana --limit 10',
      method: 'GET',
      path: '/v2/leaderboard?chains=base&chains=solana&limit=10',
    },
    {
      argv: `leaderboard list --chains ethereum,hyperliquid --only-with-comments --timeframe 7d --limit 250 --viewer-addresses ${wallet},${mint}`,
      method: 'GET',
      path: `/v2/leaderboard?chains=ethereum&chains=hyperliquid&onlyWithComments=true&limit=250&timeframe=7d&viewerAddresses=${wallet}&viewerAddresses=${mint}`,
    },
    {
      argv: 'leaderboard list --no-only-with-comments --limit 1',
      method: 'GET',
      path: '/v2/leaderboard?onlyWithComments=false&limit=1',
    },
  ],
  'leaderboard.rank': [
    { argv: `leaderboard rank ${wallet}`, method: 'GET', path: `/v2/leaderboard/ranking?address=${wallet}` },
    {
      argv: `leaderboard rank ${mint} --chains solana --only-with-comments --timeframe 30d`,
      method: 'GET',
      path: `/v2/leaderboard/ranking?address=${mint}&chains=solana&onlyWithComments=true&timeframe=30d`,
    },
  ],
  'leaderboard.sections': [
    { argv: 'leaderboard sections', method: 'GET', path: '/v1/leaderboard' },
    {
      argv: 'leaderboard sections --sections chain-solana,all --limit 5 --timeframe 7d',
      method: 'GET',
      path: '/v1/leaderboard?limit=5&sections=chain-solana&sections=all&timeframe=7d',
    },
  ],
  'profile.get': [
    { argv: `profile get ${uuid}`, method: 'GET', path: `/v1/addresses/${uuid}/profile` },
    {
      argv: `profile get ext:user_abc123 --viewer-addresses ${wallet}`,
      method: 'GET',
      path: `/v1/addresses/ext%3Auser_abc123/profile?viewerAddresses=${wallet}`,
    },
    {
      argv: ['profile', 'get', 'ext:a/b c?d#e%ü'],
      method: 'GET',
      path: '/v1/addresses/ext%3Aa%2Fb%20c%3Fd%23e%25%C3%BC/profile',
    },
  ],
  'leaderboard.copytraded': [
    { argv: 'leaderboard copytraded', method: 'GET', path: '/v2/leaderboard/copytraded' },
    {
      argv: `leaderboard copytraded --address ${wallet} --chains base,solana --limit 7 --viewer-addresses ext:user_1`,
      method: 'GET',
      path: `/v2/leaderboard/copytraded?address=${wallet}&chains=base&chains=solana&limit=7&viewerAddresses=ext%3Auser_1`,
    },
  ],
  'profile.followers': [
    { argv: `profile followers ${mint}`, method: 'GET', path: `/v1/addresses/${mint}/followers` },
    {
      argv: 'profile followers ext:user_abc123 --cursor MTIzOmFi --limit 100',
      method: 'GET',
      path: '/v1/addresses/ext%3Auser_abc123/followers?cursor=MTIzOmFi&limit=100',
    },
  ],
  'profile.follows': [
    { argv: `profile follows ${uuid}`, method: 'GET', path: `/v1/addresses/${uuid}/follows` },
    { argv: `profile follows ${wallet} --limit 1`, method: 'GET', path: `/v1/addresses/${wallet}/follows?limit=1` },
    {
      argv: `profile follows ext:user_abc123 --cursor MTIzOmFi --limit 100`,
      method: 'GET',
      path: '/v1/addresses/ext%3Auser_abc123/follows?cursor=MTIzOmFi&limit=100',
    },
  ],
  'profile.set-name': [
    {
      argv: 'profile set-name ext:user_abc123 --name moon_cat',
      method: 'PUT',
      path: '/v1/profiles/ext%3Auser_abc123/name',
      body: { name: 'moon_cat' },
    },
    {
      argv: `profile set-name ${wallet} --name Cat9 --avatar-url https://a.example/c.png?v=1`,
      method: 'PUT',
      path: `/v1/profiles/${wallet}/name`,
      body: { name: 'Cat9', avatarUrl: 'https://a.example/c.png?v=1' },
    },
    {
      argv: `profile set-name ${uuid} --clear --yes`,
      method: 'PUT',
      path: `/v1/profiles/${uuid}/name`,
      body: { name: null },
    },
    {
      argv: `profile set-name ${uuid} --clear-avatar --yes`,
      method: 'PUT',
      path: `/v1/profiles/${uuid}/name`,
      body: { avatarUrl: null },
    },
  ],
  'profile.delete-name': [
    { argv: `profile delete-name ${mint} --yes`, method: 'DELETE', path: `/v1/profiles/${mint}/name` },
    {
      argv: ['profile', 'delete-name', 'ext:a/b', '--yes'],
      method: 'DELETE',
      path: '/v1/profiles/ext%3Aa%2Fb/name',
    },
  ],
  'follow.add': [
    {
      argv: `follow add ext:user_abc123 ${wallet}`,
      method: 'PUT',
      path: '/v1/addresses/ext%3Auser_abc123/follow',
      body: { targets: [wallet] },
    },
    {
      argv: `follow add ${wallet} ${mint} ${uuid} ext:user_2`,
      method: 'PUT',
      path: `/v1/addresses/${wallet}/follow`,
      body: { targets: [mint, uuid, 'ext:user_2'] },
    },
  ],
  'follow.remove': [
    {
      argv: `follow remove ${uuid} ext:user_abc123`,
      method: 'DELETE',
      path: `/v1/addresses/${uuid}/follow`,
      body: { targets: ['ext:user_abc123'] },
    },
    {
      argv: `follow remove ext:user_1 ${mint} ${wallet}`,
      method: 'DELETE',
      path: '/v1/addresses/ext%3Auser_1/follow',
      body: { targets: [mint, wallet] },
    },
  ],
  'follow.bulk': [
    {
      argv: 'follow bulk --file test/support/follow-bulk.ndjson',
      method: 'POST',
      path: '/v1/addresses/follow/bulk',
      body: [
        { addressOrUid: 'ext:user_abc123', targets: [wallet, mint] },
        { addressOrUid: wallet, targets: [uuid], targetType: 'addressOrUid', action: 'unfollow' },
        { addressOrUid: 'ext:user_abc123', targets: ['jack'], targetType: 'twitterHandle' },
      ],
    },
  ],
  'token.positions': [
    { argv: `token positions base ${wallet} open`, method: 'GET', path: `/v1/tokens/base/${wallet}/positions/open` },
    {
      argv: `token positions solana ${mint} closed --sort latest --chains base,all --page 3 --limit 100 --price 1`,
      method: 'GET',
      path: `/v1/tokens/solana/${mint}/positions/closed?sort=latest&chains=base&chains=all&page=3&limit=100`,
    },
  ],
  'token.comments': [
    { argv: `token comments base ${wallet}`, method: 'GET', path: `/v1/tokens/base/${wallet}/comments` },
    {
      argv: 'token comments hyperliquid ETH --limit 7',
      method: 'GET',
      path: '/v1/tokens/hyperliquid/ETH/comments?limit=7',
    },
  ],
  'profile.positions': [
    { argv: `profile positions ${uuid} open`, method: 'GET', path: `/v1/addresses/${uuid}/positions/open` },
    {
      argv: `profile positions ext:user_abc123 closed --provided-addresses-only --sort value --chains hyperliquid --chains base --page 2 --limit 1`,
      method: 'GET',
      path: '/v1/addresses/ext%3Auser_abc123/positions/closed?providedAddressesOnly=true&sort=value&chains=hyperliquid&chains=base&page=2&limit=1',
    },
    {
      argv: `profile positions ${wallet} closed --no-provided-addresses-only`,
      method: 'GET',
      path: `/v1/addresses/${wallet}/positions/closed?providedAddressesOnly=false`,
    },
  ],
  'position.find': [
    {
      argv: `position find ${wallet} base ${wallet} 2026-11-20T11:30:00Z`,
      method: 'GET',
      path: `/v1/positions/${wallet}/base/${wallet}/1795174200`,
    },
    {
      argv: `position find ${wallet} hyperliquid ETH 1795174200123 --viewer-addresses ${wallet},${mint}`,
      method: 'GET',
      path: `/v1/positions/${wallet}/hyperliquid/ETH/1795174200123?viewerAddresses=${wallet}&viewerAddresses=${mint}`,
    },
  ],
  'position.get': [
    { argv: `position get ${uuid}`, method: 'GET', path: `/v1/position/${uuid}` },
    {
      argv: ['position', 'get', 'a/b?c', '--viewer-addresses', wallet],
      method: 'GET',
      path: `/v1/position/a%2Fb%3Fc?viewerAddresses=${wallet}`,
    },
  ],
  'feed.actor': [
    { argv: `feed actor ${wallet}`, method: 'GET', path: `/v1/feed/actor?identifier=${wallet}` },
    {
      argv: 'feed actor ext:user_abc123 --chains base,all --limit 100 --include-for-you --min-trade-usd 500 --min-market-cap 100000 --max-market-cap 10000000',
      method: 'GET',
      path: '/v1/feed/actor?identifier=ext%3Auser_abc123&chains=base&chains=all&limit=100&includeForYou=true&minTradeUsd=500&minMarketCap=100000&maxMarketCap=10000000',
    },
    {
      argv: `feed actor ${uuid} --cursor a+b/c=`,
      method: 'GET',
      path: `/v1/feed/actor?identifier=${uuid}&olderThan=a%2Bb%2Fc%3D`,
    },
    {
      argv: `feed actor ${uuid} --newer-than 2026-07-03T12:00:00Z --no-include-for-you`,
      method: 'GET',
      path: `/v1/feed/actor?identifier=${uuid}&includeForYou=false&newerThan=2026-07-03T12%3A00%3A00Z`,
    },
  ],
  'feed.home': [
    { argv: `feed home ${wallet}`, method: 'GET', path: `/v1/feed?addresses=${wallet}` },
    {
      argv: `feed home ${wallet} ${mint} --chains hyperliquid --limit 1 --only-with-comments --min-trade-usd 10 --older-than 2026-07-03`,
      method: 'GET',
      path: `/v1/feed?addresses=${wallet}&addresses=${mint}&chains=hyperliquid&limit=1&onlyWithComments=true&minTradeUsd=10&olderThan=2026-07-03`,
    },
    {
      argv: `feed home ext:user_abc123 --newer-than 2026-07-03T12:00:00Z`,
      method: 'GET',
      path: '/v1/feed?addresses=ext%3Auser_abc123&newerThan=2026-07-03T12%3A00%3A00Z',
    },
  ],
  'comment.post': [
    {
      argv: [
        ...'comment post --chain base --token 0x4ED4E862860beD51a9570b96d89aF5E1B0Efefed'.split(' '),
        ...'--tx 0x5CDBd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad911'.split(' '),
        ...'--signature 0xabcdef --signer 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf --text'.split(' '),
        ' gm\r\n"frens" 🌊\n',
      ],
      method: 'POST',
      path: '/v1/swap-comments',
      body: {
        transactionHash: '0x5CDBd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad911',
        chain: 'base',
        tokenAddress: '0x4ed4e862860bed51a9570b96d89af5e1b0efefed',
        commentText: ' gm\r\n"frens" 🌊\n',
        signature: '0xabcdef',
        signerAddress: '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
      },
    },
    {
      argv: `comment post --chain hyperliquid --tx 52012345678 --token kPEPE --text gm --signature 0x00 --signer ${wallet}`,
      method: 'POST',
      path: '/v1/swap-comments',
      body: {
        transactionHash: '52012345678',
        chain: 'hyperliquid',
        tokenAddress: 'kPEPE',
        commentText: 'gm',
        signature: '0x00',
        signerAddress: wallet,
      },
    },
  ],
  'comment.list': [
    {
      argv: `comment list 0x${'A'.repeat(64)} --chain base`,
      method: 'GET',
      path: `/v1/swap-comments?transactionHashes=0x${'A'.repeat(64)}&chain=base`,
    },
    {
      argv: `comment list 52012345678 0x${'d'.repeat(64)} --chain hyperliquid --viewer-addresses ${wallet}`,
      method: 'GET',
      path: `/v1/swap-comments?transactionHashes=52012345678&transactionHashes=0x${'d'.repeat(64)}&chain=hyperliquid&viewerAddresses=${wallet}`,
    },
  ],
  'comment.copy': [
    {
      argv: `comment copy ${uuid} --token ${mint} --actor-address ${mint}`,
      method: 'POST',
      path: `/v1/swap-comment/${uuid}/copyswap`,
      body: { tokenAddress: mint, actorAddress: mint },
    },
    {
      argv: `comment copy ${uuid} --token ETH --chain hyperliquid --actor-addresses ${wallet},${mint}`,
      method: 'POST',
      path: `/v1/swap-comment/${uuid}/copyswap`,
      body: { tokenAddress: 'ETH', chain: 'hyperliquid', actorAddresses: [wallet, mint] },
    },
    {
      argv: `comment copy ${uuid} --token BTC --chain hyperliquid --actor-address ${wallet} --track-exit-until 2026-11-22T12:30:00Z`,
      method: 'POST',
      path: `/v1/swap-comment/${uuid}/copyswap`,
      body: {
        tokenAddress: 'BTC',
        chain: 'hyperliquid',
        actorAddress: wallet,
        trackExitUntil: '2026-11-22T12:30:00.000Z',
      },
    },
  ],
  'webhook.register': [
    {
      argv: `webhook register --url https://example.com/hook --allow-bad-checksum --wallet-addresses ${wallet},${mint}`,
      method: 'POST',
      path: '/v1/webhooks/feed',
      body: {
        walletAddresses: ['0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252', mint],
        destinationUrl: 'https://example.com/hook',
      },
      ahead: 1,
    },
    {
      argv: 'webhook register --url https://example.com/hook --wallet-addresses ext:user_abc123',
      method: 'POST',
      path: '/v1/webhooks/feed',
      body: { walletAddresses: ['ext:user_abc123'], destinationUrl: 'https://example.com/hook' },
      ahead: 1,
    },
  ],
  'webhook.list': [{ argv: 'webhook list', method: 'GET', path: '/v1/webhooks/feed' }],
  'webhook.add-addresses': [
    {
      argv: `webhook add-addresses ${uuid} --allow-bad-checksum --wallet-addresses ${wallet},ext:user_abc123`,
      method: 'PUT',
      path: `/v1/webhooks/feed/${uuid}`,
      body: { walletAddresses: ['0xa4e221aa5a7ba51b5d5c7d5c923bfb9bcebcb252', 'ext:user_abc123'] },
    },
  ],
  'webhook.delete': [{ argv: `webhook delete ${uuid} --yes`, method: 'DELETE', path: `/v1/webhooks/feed/${uuid}` }],
  'webhook.validate': [
    { argv: `webhook validate ${uuid}`, method: 'POST', path: `/v1/webhooks/feed/${uuid}/validate` },
  ],
};

/** The input of an endpoint that a row's request holds. */
export function inputOf(endpoint: Endpoint, { path, body }: Witness): Record<string, unknown> {
  const url = new URL(path, 'http://service.test');
  const names = new RegExp(`^${endpoint.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`).exec(url.pathname)?.groups;
  const parts = Object.entries(names ?? {}).map(([key, text]) => [key, decodeURIComponent(text)]);
  const decoded = decodeRequest(endpoint, { path: Object.fromEntries(parts), query: url.searchParams, body });
  if (!decoded.ok) throw new Error(`${path}: ${decoded.problem}`);
  return decoded.input;
}
