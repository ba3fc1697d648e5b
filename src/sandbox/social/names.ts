import type { Db } from '../db/store.ts';
import { type Partner, Refusal } from '../http/service.ts';
import { startTracking } from './tracking.ts';

/** What a partner changes about a profile: `null` removes, absent leaves as it is. Section "PUT /v1/profiles/{identifier}/name". */
export interface NameChange {
  name?: string | null | undefined;
  avatarUrl?: string | null | undefined;
}

export interface Named {
  partner: Partner;
  profileId: string;
  nowMs: number;
}

/**
 * Sets name and avatar for one partner; naming a wallet nobody has seen begins its tracking. Errors: Refusal 409 for a name that
 * another profile of this partner has (case is ignored), 400 for an avatar without a name.
 */
export function setName(db: Db, { name, avatarUrl }: NameChange, named: Named): void {
  const { partner, profileId, nowMs } = named;
  if (name === null) {
    if (typeof avatarUrl === 'string') throw avatarAlone(avatarUrl);
    deleteName(db, named);
  } else if (name !== undefined) {
    const taken = db.get<{ profileId: string }>(
      'SELECT profile_id AS profileId FROM partner_name WHERE partner_id = ? AND name_key = ?',
      [partner.id, name.toLowerCase()],
    );
    if (taken !== undefined && taken.profileId !== profileId)
      throw new Refusal(409, `name ${JSON.stringify(name)}: another profile has it`);
    db.run(
      `INSERT INTO partner_name (profile_id, partner_id, name, name_key) VALUES (?, ?, ?, ?)
       ON CONFLICT (profile_id, partner_id) DO UPDATE SET name = excluded.name, name_key = excluded.name_key`,
      [profileId, partner.id, name, name.toLowerCase()],
    );
    startTracking(db, [profileId], nowMs);
  }
  if (name === null || avatarUrl === undefined) return;
  const changed = db.run('UPDATE partner_name SET avatar_url = ? WHERE profile_id = ? AND partner_id = ?', [
    avatarUrl,
    profileId,
    partner.id,
  ]);
  if (changed === 0 && avatarUrl !== null) throw avatarAlone(avatarUrl);
}

/** Removes name and avatar for one partner; a profile without them stays as it is. */
export function deleteName(db: Db, { partner, profileId }: Named): void {
  db.run('DELETE FROM partner_name WHERE profile_id = ? AND partner_id = ?', [profileId, partner.id]);
}

function avatarAlone(avatarUrl: string): Refusal {
  return new Refusal(400, `avatarUrl ${JSON.stringify(avatarUrl)}: requires a name, and the profile has none`);
}
