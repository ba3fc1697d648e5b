import type { Db } from '../db/store.ts';
import type { Partner } from '../http/service.ts';
import { hydrateProfiles } from './profiles.ts';

/** Actors by wallet address: the wallet with its profile in the plain form (no metrics, no status). Section "Actor". */
export function actorsOf(
  db: Db,
  addresses: readonly string[],
  { partner, nowMs }: { partner: Partner; nowMs: number },
): Map<string, Record<string, unknown>> {
  const rows = db.all<{ address: string; profileId: string }>(
    'SELECT address, profile_id AS profileId FROM wallet WHERE address IN (SELECT value FROM json_each(?))',
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
