import { createClient } from 'sotra';
import type { Calls, World } from './world.ts';

/** Every endpoint once, through our client. */
export async function callAll({
  baseUrl,
  apiKey,
  trader,
  token,
  tradedAtSec,
  signed,
  destinationUrl,
}: World): Promise<Calls> {
  const client = createClient({ baseUrl, apiKey });
  const [identifier, addressOrUid] = [trader, 'ext:me'];
  const ofToken = { chain: 'base', contractAddress: token } as const;
  const find = { address: trader, chain: 'base', contract: token, timestamp: tradedAtSec } as const;
  const { transactionHash, tokenAddress } = signed;
  const card = await client.position.find(find);
  const comment = await client.comment.post(signed);
  const webhook = await client.webhook.register({ walletAddresses: [trader], destinationUrl });
  return {
    'position.find': card,
    'comment.post': comment,
    'webhook.register': webhook,
    'leaderboard.list': await client.leaderboard.list({ chains: ['base', 'solana'], limit: 5 }),
    'leaderboard.rank': await client.leaderboard.rank({ address: trader }),
    'leaderboard.copytraded': await client.leaderboard.copytraded({ limit: 5 }),
    'leaderboard.sections': await client.leaderboard.sections({ sections: ['all'], limit: 5 }),
    'profile.get': await client.profile.get({ identifier }),
    'profile.positions': await client.profile.positions({ identifier, status: 'open', chains: ['all'], limit: 5 }),
    'profile.followers': await client.profile.followers({ identifier, limit: 5 }),
    'profile.follows': await client.profile.follows({ identifier, limit: 5 }),
    'profile.set-name': await client.profile.setName({ identifier: addressOrUid, name: 'moon_cat' }),
    'profile.delete-name': await client.profile.deleteName({ identifier: addressOrUid }),
    'follow.add': await client.follow.add({ addressOrUid, targets: [trader] }),
    'follow.bulk': await client.follow.bulk({ entries: [{ addressOrUid, targets: [trader] }] }),
    'follow.remove': await client.follow.remove({ addressOrUid, targets: [trader] }),
    'feed.actor': await client.feed.actor({ identifier, chains: ['all'], limit: 5 }),
    'feed.home': await client.feed.home({ addresses: [addressOrUid], limit: 5 }),
    'token.positions': await client.token.positions({ ...ofToken, status: 'open', limit: 5 }),
    'token.comments': await client.token.comments({ ...ofToken, limit: 5 }),
    'position.get': await client.position.get({ id: card.itemId }),
    'comment.list': await client.comment.list({ hashes: [transactionHash], chain: 'base' }),
    'comment.copy': await client.comment.copy({ id: comment.uid, tokenAddress, chain: 'base', actorAddress: trader }),
    'webhook.list': await client.webhook.list(),
    'webhook.add-addresses': await client.webhook.addAddresses({ uid: webhook.uid, walletAddresses: [addressOrUid] }),
    'webhook.validate': await client.webhook.validate({ uid: webhook.uid }),
    'webhook.delete': await client.webhook.delete({ uid: webhook.uid }),
  };
}
