import { isWalletAddress, normalizeAddress } from '../../model/address.ts';
import type { Card } from '../../model/position.ts';
import { type Handler, Refusal, type SandboxCall } from '../../sandbox/http/service.ts';
import { type CardOptions, cardsOf } from '../../sandbox/social/cards.ts';
import { findProfile } from '../../sandbox/social/profiles.ts';
import { chainsOf, positionAt, tokenPositions, walletPositions } from '../../sandbox/trades/position-lists.ts';
import { storedToken } from '../../sandbox/trades/tokens.ts';
import type * as endpoints from './endpoints.ts';

/** GET /v1/tokens/.../positions/{status}: without the cards' own transaction, only commented trades inside; empty for an unknown token. */
export const ofToken: Handler<typeof endpoints.ofToken> = ({ chain, contractAddress, chains, ...page }, call) => {
  // The default filter must not hide the token's own chain (wire-facts 3.5).
  if (chains !== undefined && !chainsOf(chains).includes(chain)) return [];
  const ids = tokenPositions(call.db, { chain, address: storedToken(call.db, chain, contractAddress) }, page);
  return cards(call, ids, { trades: 'commented', replies: false, transactionHash: false });
};

/** GET /v1/addresses/.../positions/{status}: all trades inside, newest first; 404 for an unknown UUID. */
export const ofProfile: Handler<typeof endpoints.ofProfile> = (input, call) => {
  const { identifier, providedAddressesOnly = false, chains, ...page } = input;
  const profileId = findProfile(call.db, identifier, call.partner);
  const wallets =
    providedAddressesOnly && isWalletAddress(identifier) ? [normalizeAddress(identifier)] : walletsOf(call, profileId);
  const ids = walletPositions(call.db, { wallets, chains: chainsOf(chains), nowMs: call.nowMs }, page);
  return cards(call, ids, { trades: 'all', replies: false, transactionHash: true });
};

/** GET /v1/positions/...: 404 when no position of that wallet in that token covers the time. */
export const find: Handler<typeof endpoints.find> = ({ address, chain, contract, timestamp, ...viewers }, call) => {
  const atMs = Number(timestamp) * (chain === 'hyperliquid' ? 1 : 1000);
  const place = { wallet: normalizeAddress(address), chain, token: storedToken(call.db, chain, contract) };
  const id = positionAt(call.db, place, atMs, call.nowMs);
  const when = Math.abs(atMs) <= 8.64e15 ? new Date(atMs).toISOString() : timestamp;
  return oneCard(call, id, viewers, `${address} has no position in ${contract} on ${chain} around ${when}`);
};

/** GET /v1/position/{id}: with replies; 404 for an unknown id. */
export const get: Handler<typeof endpoints.get> = ({ id, ...viewers }, call) =>
  oneCard(call, id, viewers, `position ${id} does not exist`);

function oneCard(
  call: SandboxCall,
  id: string | undefined,
  { viewerAddresses }: { viewerAddresses?: string[] | undefined },
  refusal: string,
): Card {
  const viewers = viewerAddresses === undefined ? {} : { viewers: viewerAddresses };
  const options = { trades: 'all', replies: true, transactionHash: true, ...viewers } as const;
  const [card] = id === undefined ? [] : cards(call, [id], options);
  if (card === undefined) throw new Refusal(404, refusal);
  return card;
}

function cards(call: SandboxCall, ids: readonly string[], options: Omit<CardOptions, 'partner' | 'nowMs'>): Card[] {
  return cardsOf(call.db, ids, { partner: call.partner, nowMs: call.nowMs, ...options }) as Card[];
}

function walletsOf({ db }: SandboxCall, profileId: string): string[] {
  return db
    .all<{ address: string }>('SELECT address FROM wallet WHERE profile_id = ? ORDER BY address', [profileId])
    .map((row) => row.address);
}
