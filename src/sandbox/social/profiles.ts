import { isUuid, isWalletAddress, normalizeAddress } from '../../model/address.ts';
import { honoredViewers } from '../../model/identifier.ts';
import type { ProfileStatus } from '../../model/profile.ts';
import { profileIdOf, uuidOf } from '../db/ids.ts';
import type { Db } from '../db/store.ts';
import { type Partner, Refusal } from '../http/service.ts';
import { profileFigures } from './profile-figures.ts';

/**
 * The profile id behind a UUID, wallet address or `ext:` id. A wallet nobody has seen becomes its own profile (untracked); an
 * external id is made on first use, for this partner alone. Errors: Refusal 404 for an unknown UUID, 400 for other text.
 */
export function findProfile(db: Db, identifier: string, partner: Partner): string {
  if (identifier.startsWith('ext:')) return findExternal(db, identifier.slice('ext:'.length), partner);
  if (isUuid(identifier)) {
    const id = identifier.toLowerCase();
    if (db.get('SELECT 1 FROM profile WHERE id = ?', [id]) === undefined)
      throw new Refusal(404, `profile ${identifier} does not exist`);
    return id;
  }
  if (!isWalletAddress(identifier))
    throw new Refusal(400, `identifier ${identifier}: not a UUID, wallet address or ext: id`);
  return findWallet(db, normalizeAddress(identifier));
}

function findWallet(db: Db, address: string): string {
  const known = db.get<{ id: string }>('SELECT profile_id AS id FROM wallet WHERE address = ?', [address])?.id;
  return known ?? db.transaction(() => addWallet(db, address, null));
}

/** Notes a wallet, as a profile of its own where nobody has seen it; gives its profile id. `readyMs`: tracked from then on. */
export function addWallet(db: Db, address: string, readyMs: number | null): string {
  const id = profileIdOf(address);
  const added = db.run('INSERT OR IGNORE INTO wallet (address, profile_id, ready_ms) VALUES (?, ?, ?)', [
    address,
    id,
    readyMs,
  ]);
  if (added > 0) db.run('INSERT OR IGNORE INTO profile (id) VALUES (?)', [id]);
  else if (readyMs !== null)
    db.run('UPDATE wallet SET ready_ms = ? WHERE address = ? AND ready_ms IS NULL', [readyMs, address]);
  return id;
}

function findExternal(db: Db, externalId: string, partner: Partner): string {
  const find = () =>
    db.get<{ id: string }>('SELECT profile_id AS id FROM external WHERE partner_id = ? AND external_id = ?', [
      partner.id,
      externalId,
    ])?.id;
  return find() ?? db.transaction(() => find() ?? makeExternal(db, externalId, partner));
}

function makeExternal(db: Db, externalId: string, partner: Partner): string {
  const id = uuidOf(`external:${partner.id}:${externalId}`);
  db.run('INSERT INTO profile (id) VALUES (?)', [id]);
  db.run('INSERT INTO external (partner_id, external_id, profile_id) VALUES (?, ?, ?)', [partner.id, externalId, id]);
  return id;
}

export interface Hydration {
  partner: Partner;
  nowMs: number;
  /** With figures per chain and address, metrics and status; without them the plain form of lists and actors. */
  full: boolean;
  /** Wallets whose following fills `isFollowedByUser`; absent: the field is left out. */
  viewers?: readonly string[];
}

interface ProfileRow {
  id: string;
  name: string | null;
  images: string;
  handles: string;
  nsfw: string;
  partnerName: string | null;
  avatarUrl: string | null;
  externalId: string | null;
}

/** Profiles in the service's form, in the order of the ids. Source: section "Profile" and wire-facts 5. */
export function hydrateProfiles(db: Db, ids: readonly string[], options: Hydration): Record<string, unknown>[] {
  const list = JSON.stringify(ids);
  const rows = db.all<ProfileRow>(
    `SELECT p.id, p.name, p.images, p.handles, p.nsfw, n.name AS partnerName, n.avatar_url AS avatarUrl, e.external_id AS externalId
     FROM profile p LEFT JOIN partner_name n ON n.profile_id = p.id AND n.partner_id = ?
     LEFT JOIN external e ON e.profile_id = p.id AND e.partner_id = ?
     WHERE p.id IN (SELECT value FROM json_each(?))`,
    [options.partner.id, options.partner.id, list],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  const wallets = groupWallets(db, list);
  const figures = profileFigures(db, ids, options);
  const followed = options.viewers === undefined ? undefined : followedBy(db, options.viewers, options.partner);
  return ids.map((id) => {
    const own = wallets.get(id) ?? [];
    const row = byId.get(id);
    const { metadata, metrics } = figures(id);
    const images = row?.avatarUrl
      ? { raw: row.avatarUrl, xs: row.avatarUrl, sm: row.avatarUrl }
      : JSON.parse(row?.images ?? noImages);
    return {
      id,
      name: nameOf(row, own, options.partner),
      images,
      addresses: own.map((wallet) => wallet.address),
      ...(row?.externalId ? { externalId: row.externalId } : {}),
      metadata: { ...noHandles, ...JSON.parse(row?.handles ?? '{}'), ...metadata },
      isNSFW: JSON.parse(row?.nsfw ?? 'false'),
      ...(options.full ? { metrics, status: statusOf(own, options.nowMs) } : {}),
      ...(followed === undefined ? {} : { isFollowedByUser: followed.has(id) }),
    };
  });
}

const noImages = '{"raw":null,"xs":null,"sm":null}';
const noHandles = {
  farcasterUsername: null,
  farcasterId: null,
  lensHandle: null,
  ensName: null,
  twitterHandle: null,
  debankName: null,
  hlName: null,
};

interface WalletRow {
  address: string;
  profileId: string;
  readyMs: number | null;
}

function groupWallets(db: Db, idList: string): Map<string, WalletRow[]> {
  const groups = new Map<string, WalletRow[]>();
  const rows = db.all<WalletRow>(
    `SELECT address, profile_id AS profileId, ready_ms AS readyMs FROM wallet
     WHERE profile_id IN (SELECT value FROM json_each(?)) ORDER BY address`,
    [idList],
  );
  for (const row of rows) groups.set(row.profileId, [...(groups.get(row.profileId) ?? []), row]);
  return groups;
}

function nameOf(row: ProfileRow | undefined, wallets: readonly WalletRow[], partner: Partner): string {
  if (row?.partnerName) return row.partnerName + partner.suffix;
  return row?.name ?? row?.externalId ?? shortName(wallets[0]?.address ?? row?.id ?? '');
}

function shortName(address: string): string {
  return address.length <= 12 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** Tracking state of a profile's wallets; section "Profile status". */
function statusOf(wallets: readonly WalletRow[], nowMs: number): ProfileStatus {
  const entries = wallets.map((wallet) => wallet.readyMs);
  if (entries.every((readyMs) => readyMs === null)) return 'unnamed';
  return entries.every((readyMs) => readyMs !== null && readyMs <= nowMs) ? 'active' : 'backfilling';
}

/** Ids of the profiles that any of the viewer's wallets follows, in this partner's graph. The first 10 wallets count. */
export function followedBy(db: Db, viewers: readonly string[], partner: Partner): Set<string> {
  const ids = viewers.slice(0, honoredViewers).map((viewer) => findProfile(db, viewer, partner));
  const rows = db.all<{ id: string }>(
    'SELECT target_id AS id FROM follow WHERE partner_id = ? AND follower_id IN (SELECT value FROM json_each(?))',
    [partner.id, JSON.stringify(ids)],
  );
  return new Set(rows.map((row) => row.id));
}
