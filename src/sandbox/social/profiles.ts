import type { ProfileStatus } from '../../model/profile.ts';
import type { Db } from '../db/store.ts';
import type { Partner } from '../http/service.ts';
import { groupBy, oneOf } from '../trades/queries.ts';
import { followedByViewers } from './lookup.ts';
import { profileFigures } from './profile-figures.ts';

export interface ProfileOptions {
  partner: Partner;
  nowMs: number;
  /** With figures per chain and address, metrics and status; without them the plain form of lists and actors. */
  full: boolean;
  /** Wallets whose following fills `isFollowedByUser`; absent: the field is left out. */
  viewers?: readonly string[] | undefined;
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

interface WalletRow {
  address: string;
  profileId: string;
  readyMs: number | null;
}

/** In the order of the ids. Source: section "Profile" and wire-facts 5. */
export function hydrateProfiles(db: Db, ids: readonly string[], options: ProfileOptions): Record<string, unknown>[] {
  const { partner, nowMs, full, viewers } = options;
  const list = JSON.stringify(ids);
  const rows = db.all<ProfileRow>(
    `SELECT p.id, p.name, p.images, p.handles, p.nsfw, n.name AS partnerName, n.avatar_url AS avatarUrl, e.external_id AS externalId
     FROM profile p LEFT JOIN partner_name n ON n.profile_id = p.id AND n.partner_id = ?
     LEFT JOIN external e ON e.profile_id = p.id AND e.partner_id = ? WHERE p.id ${oneOf}`,
    [partner.id, partner.id, list],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  const allWallets = db.all<WalletRow>(
    `SELECT address, profile_id AS profileId, ready_ms AS readyMs FROM wallet WHERE profile_id ${oneOf} ORDER BY address`,
    [list],
  );
  const wallets = groupBy(allWallets, ({ profileId }) => profileId);
  const figures = profileFigures(db, ids, { partner, nowMs, full });
  const followed = followedByViewers(db, viewers, partner);
  return ids.map((id) => {
    const own = wallets.get(id) ?? [];
    const row = byId.get(id);
    const { metadata, metrics } = figures(id);
    const images = row?.avatarUrl
      ? { raw: row.avatarUrl, xs: row.avatarUrl, sm: row.avatarUrl }
      : JSON.parse(row?.images ?? noImages);
    return {
      id,
      name: nameOf(row, own, partner),
      images,
      addresses: own.map((wallet) => wallet.address),
      ...(row?.externalId ? { externalId: row.externalId } : {}),
      metadata: { ...noHandles, ...JSON.parse(row?.handles ?? '{}'), ...metadata },
      isNSFW: JSON.parse(row?.nsfw ?? 'false'),
      ...(full ? { metrics, status: statusOf(own, nowMs) } : {}),
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

function nameOf(row: ProfileRow | undefined, wallets: readonly WalletRow[], partner: Partner): string {
  if (row?.partnerName) return row.partnerName + partner.suffix;
  return row?.name ?? row?.externalId ?? shortName(wallets[0]?.address ?? row?.id ?? '');
}

function shortName(address: string): string {
  return address.length <= 12 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** Source: section "Profile status". */
function statusOf(wallets: readonly WalletRow[], nowMs: number): ProfileStatus {
  if (wallets.every(({ readyMs }) => readyMs === null)) return 'unnamed';
  return wallets.every(({ readyMs }) => readyMs !== null && readyMs <= nowMs) ? 'active' : 'backfilling';
}

/** Actors by wallet address, with the profile in its plain form. Source: section "Actor". */
export function actorsOf(
  db: Db,
  addresses: readonly string[],
  { partner, nowMs }: { partner: Partner; nowMs: number },
): Map<string, Record<string, unknown>> {
  const rows = db.all<{ address: string; profileId: string }>(
    `SELECT address, profile_id AS profileId FROM wallet WHERE address ${oneOf}`,
    [JSON.stringify(addresses)],
  );
  const ids = [...new Set(rows.map((row) => row.profileId))];
  const profiles = hydrateProfiles(db, ids, { partner, nowMs, full: false });
  const byId = new Map(profiles.map((profile) => [profile['id'], profile]));
  return new Map(
    rows.map(({ address, profileId }) => {
      const profile = byId.get(profileId) ?? {};
      return [address, { type: 'user', address, name: profile['name'], images: profile['images'], profile }];
    }),
  );
}
