import createClient from 'openapi-fetch';
import type { paths } from './openapi-types.d.ts';
import type { Calls, World } from './world.ts';

/** Every endpoint once, through a client generated from `sotra openapi`. */
export async function callAll({
  baseUrl,
  apiKey,
  trader,
  token,
  tradedAtSec,
  signed,
  destinationUrl,
}: World): Promise<Calls> {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${apiKey}` } });
  const read = async <T>(answering: Promise<{ data?: T; error?: unknown }>): Promise<T> => {
    const { data, error } = await answering;
    if (data === undefined) throw new Error(JSON.stringify(error));
    return data;
  };
  const of = { path: { identifier: trader } };
  const mine = { path: { identifier: 'ext:me' } };
  const follower = { path: { addressOrUid: 'ext:me' } };
  const ofToken = { chain: 'base', contractAddress: token } as const;
  const find = { address: trader, chain: 'base', contract: token, timestamp: tradedAtSec } as const;
  const { transactionHash, tokenAddress } = signed;
  const targets = [trader];
  const card = await read(
    client.GET('/v1/positions/{address}/{chain}/{contract}/{timestamp}', { params: { path: find } }),
  );
  const comment = await read(client.POST('/v1/swap-comments', { body: signed }));
  const webhook = await read(client.POST('/v1/webhooks/feed', { body: { walletAddresses: targets, destinationUrl } }));
  const hook = { path: { uid: webhook.uid } };
  return {
    'position.find': card,
    'comment.post': comment,
    'webhook.register': webhook,
    'leaderboard.list': await read(
      client.GET('/v2/leaderboard', { params: { query: { chains: ['base', 'solana'], limit: 5 } } }),
    ),
    'leaderboard.rank': await read(client.GET('/v2/leaderboard/ranking', { params: { query: { address: trader } } })),
    'leaderboard.copytraded': await read(client.GET('/v2/leaderboard/copytraded', { params: { query: { limit: 5 } } })),
    'leaderboard.sections': await read(
      client.GET('/v1/leaderboard', { params: { query: { sections: ['all'], limit: 5 } } }),
    ),
    'profile.get': await read(client.GET('/v1/addresses/{identifier}/profile', { params: of })),
    'profile.positions': await read(
      client.GET('/v1/addresses/{identifier}/positions/{status}', {
        params: { path: { identifier: trader, status: 'open' }, query: { chains: ['all'], limit: 5 } },
      }),
    ),
    'profile.followers': await read(
      client.GET('/v1/addresses/{identifier}/followers', { params: { ...of, query: { limit: 5 } } }),
    ),
    'profile.follows': await read(
      client.GET('/v1/addresses/{identifier}/follows', { params: { ...of, query: { limit: 5 } } }),
    ),
    'profile.set-name': await read(
      client.PUT('/v1/profiles/{identifier}/name', { params: mine, body: { name: 'moon_cat' } }),
    ),
    'profile.delete-name': await read(client.DELETE('/v1/profiles/{identifier}/name', { params: mine })),
    'follow.add': await read(
      client.PUT('/v1/addresses/{addressOrUid}/follow', { params: follower, body: { targets } }),
    ),
    'follow.bulk': await read(
      client.POST('/v1/addresses/follow/bulk', { body: [{ addressOrUid: 'ext:me', targets }] }),
    ),
    'follow.remove': await read(
      client.DELETE('/v1/addresses/{addressOrUid}/follow', { params: follower, body: { targets } }),
    ),
    'feed.actor': await read(
      client.GET('/v1/feed/actor', { params: { query: { identifier: trader, chains: ['all'], limit: 5 } } }),
    ),
    'feed.home': await read(client.GET('/v1/feed', { params: { query: { addresses: ['ext:me'], limit: 5 } } })),
    'token.positions': await read(
      client.GET('/v1/tokens/{chain}/{contractAddress}/positions/{status}', {
        params: { path: { ...ofToken, status: 'open' }, query: { limit: 5 } },
      }),
    ),
    'token.comments': await read(
      client.GET('/v1/tokens/{chain}/{contractAddress}/comments', { params: { path: ofToken, query: { limit: 5 } } }),
    ),
    'position.get': await read(client.GET('/v1/position/{id}', { params: { path: { id: card.itemId } } })),
    'comment.list': await read(
      client.GET('/v1/swap-comments', { params: { query: { transactionHashes: [transactionHash], chain: 'base' } } }),
    ),
    'comment.copy': await read(
      client.POST('/v1/swap-comment/{id}/copyswap', {
        params: { path: { id: comment.uid } },
        body: { tokenAddress, chain: 'base', actorAddress: trader },
      }),
    ),
    'webhook.list': await read(client.GET('/v1/webhooks/feed', {})),
    'webhook.add-addresses': await read(
      client.PUT('/v1/webhooks/feed/{uid}', { params: hook, body: { walletAddresses: ['ext:me'] } }),
    ),
    'webhook.validate': await read(client.POST('/v1/webhooks/feed/{uid}/validate', { params: hook })),
    'webhook.delete': await read(client.DELETE('/v1/webhooks/feed/{uid}', { params: hook })),
  };
}
