import { hash } from 'node:crypto';
import { isUuid, isWalletAddress, normalizeAddress } from '../../api/address.ts';
import { type Chain, chains, defaultFilterChains } from '../../api/chain.ts';
import { answersAsClicker, moreChains } from '../db/settings.ts';
import type { Db } from '../db/store.ts';
import { oneOf } from '../ledger/trade.ts';
import { type Partner, type RequestContext, ServiceRefusal } from './handler.ts';

/**
 * The profile id behind a UUID, wallet address or `ext:` id. A wallet nobody has seen becomes a profile (untracked); so does an external id,
 * for this partner alone. Errors: ServiceRefusal 404 for an unknown UUID, 400 for other text.
 */
export function findProfile(db: Db, identifier: string, partner: Partner): string {
  if (identifier.startsWith('ext:')) return findExternal(db, identifier.slice('ext:'.length), partner);
  if (isUuid(identifier)) {
    const id = identifier.toLowerCase();
    const found = 'SELECT 1 FROM wallet WHERE profile_id = ? UNION ALL SELECT 1 FROM profile WHERE id = ? LIMIT 1';
    if (db.get(found, [id, id]) === undefined) throw new ServiceRefusal(404, `profile ${identifier} does not exist`);
    return id;
  }
  if (!isWalletAddress(identifier))
    throw new ServiceRefusal(400, `identifier ${identifier}: not a UUID, wallet address or ext: id`);
  const address = normalizeAddress(identifier);
  const known = db.value<string>('SELECT profile_id FROM wallet WHERE address = ?', [address]);
  return known ?? db.transaction(() => addWallet(db, address, null));
}

/** Notes a wallet, as a profile of its own if it is new; gives its profile id. `readyMs`: tracked from then on. */
export function addWallet(db: Db, address: string, readyMs: number | null): string {
  const id = makeProfileId(address);
  db.run(
    `INSERT INTO wallet (address, profile_id, ready_ms) VALUES (?, ?, ?)
     ON CONFLICT (address) DO UPDATE SET ready_ms = excluded.ready_ms WHERE ready_ms IS NULL AND excluded.ready_ms IS NOT NULL`,
    [address, id, readyMs],
  );
  return id;
}

/**
 * The profile ids behind the wallet addresses among some identifiers, by the address as it is written there. Those that nobody has seen
 * become profiles, as in `addWallet`.
 */
export function findWallets(db: Db, identifiers: readonly string[], readyMs: number | null): Map<string, string> {
  const written = new Set(identifiers.filter(isWalletAddress));
  const addresses = new Set([...written].map(normalizeAddress));
  const sql = `SELECT address, profile_id AS id FROM wallet WHERE address ${oneOf}`;
  const rows = db.all<{ address: string; id: string }>(sql, [JSON.stringify([...addresses])]);
  const ids = new Map(rows.map(({ address, id }) => [address, id]));
  const unseen = [...addresses].filter((address) => !ids.has(address)).sort();
  for (const address of unseen) ids.set(address, makeProfileId(address, unseen[0]));
  db.run('INSERT INTO wallet (address, profile_id, ready_ms) SELECT value ->> 0, value ->> 1, ? FROM json_each(?)', [
    readyMs,
    JSON.stringify(unseen.map((address) => [address, ids.get(address)])),
  ]);
  return new Map([...written].map((text) => [text, ids.get(normalizeAddress(text)) ?? '']));
}

function findExternal(db: Db, externalId: string, partner: Partner): string {
  const sql = 'SELECT profile_id FROM external WHERE partner_id = ? AND external_id = ?';
  const find = () => db.value<string>(sql, [partner.id, externalId]);
  const make = () => {
    const id = makeUuid(`external:${partner.id}:${externalId}`);
    db.run('INSERT INTO profile (id) VALUES (?)', [id]);
    db.run('INSERT INTO external (partner_id, external_id, profile_id) VALUES (?, ?, ?)', [partner.id, externalId, id]);
    return id;
  };
  return find() ?? db.transaction(() => find() ?? make());
}

/** How long the swaps indexer takes to catch up with a wallet that is new to it, by the sandbox's clock; assumed. */
const backfillMs = 10 * 60_000;

/** From when on a wallet counts as tracked whose tracking starts now. */
export function trackedFrom(nowMs: number): number {
  return nowMs + backfillMs;
}

/** Tracks the wallets of profiles: status `unnamed` becomes `backfilling`, and `active` once that is over. Source: section "Profile", status. */
export function startTracking(db: Db, profileIds: readonly string[], nowMs: number): void {
  const sql = `UPDATE wallet SET ready_ms = ? WHERE +ready_ms IS NULL AND profile_id ${oneOf}`;
  db.run(sql, [trackedFrom(nowMs), JSON.stringify(profileIds)]);
}

export function listWallets(db: Db, profileIds: readonly string[]): string[] {
  const sql = `SELECT address FROM wallet WHERE profile_id ${oneOf} ORDER BY address`;
  return db.values(sql, [JSON.stringify(profileIds)]);
}

/** Ids of the profiles that any of these identifiers follows, in this partner's graph. */
export function followedBy({ db, partner }: RequestContext, followers: readonly string[]): Set<string> {
  const ids = followers.map((follower) => findProfile(db, follower, partner));
  const sql = `SELECT target_id FROM follow WHERE partner_id = ? AND follower_id ${oneOf}`;
  return new Set(db.values<string>(sql, [partner.id, JSON.stringify(ids)]));
}

/** The chains that a filter lets through; default: as the service has it (section "positions"). */
export function expandChains(db: Db, filter: readonly string[] = defaultFilterChains): readonly string[] {
  return filter.includes('all') ? [...chains, ...moreChains(db)] : filter;
}

/** Perps that the service's documentation addresses by a contract instead of the coin; wire-facts "Chains". */
const perpContracts: ReadonlyMap<string, string> = new Map([['0x0000000000000000000000000000000000000000', 'ETH']]);

/** The token that a list is asked for. The public deployment looks for it as it is written (wire-facts F4). */
export function lookUpToken(db: Db, chain: Chain, text: string): string {
  return answersAsClicker(db) ? text : storedToken(db, chain, text);
}

/** The token as it is stored: addresses as the service writes them; on hyperliquid the coin, whatever its case, also by its contract. */
export function storedToken(db: Db, chain: Chain, text: string): string {
  const address = normalizeAddress(text);
  if (chain !== 'hyperliquid') return address;
  const coin = perpContracts.get(address) ?? text;
  const sql =
    'SELECT address FROM token WHERE chain = ? AND address = ? COLLATE NOCASE ORDER BY address = ? DESC LIMIT 1';
  return db.value<string>(sql, [chain, coin, coin]) ?? coin;
}

/** A UUID that is always the same for the same text, so that a world made twice has the same identifiers. */
export function makeUuid(text: string): string {
  const hex = hash('sha1', text);
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`;
}

const sharedDigits = 8;

/**
 * The profile id of a wallet that is a profile of its own. Ids of one request share the prefix of its `first`: they are neighbors in every
 * index, so that a bulk request changes a few pages of each and not one for every wallet.
 */
function makeProfileId(address: string, first: string = address): string {
  const id = makeUuid(`profile:${address}`);
  return first === address ? id : makeUuid(`profile:${first}`).slice(0, sharedDigits) + id.slice(sharedDigits);
}
