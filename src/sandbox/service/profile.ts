import type { Profile } from '../../api/answers.ts';
import type * as endpoints from '../../api/profile.ts';
import type { SqlValue } from '../db/store.ts';
import { type ListPosition, writeCursor } from './feed.ts';
import { defaultLimits, type Handler, type SandboxCall, ServiceRefusal } from './handler.ts';
import { findProfile, startTracking } from './identifiers.ts';
import { readProfiles } from './profiles.ts';

/** GET /v1/addresses/{identifier}/profile: full metrics and status; 404 for an unknown UUID. */
export const get: Handler<typeof endpoints.get> = ({ identifier, viewerAddresses }, call) => {
  const id = findProfile(call.db, identifier, call.partner);
  return readProfiles(call, [id], { full: true, viewers: viewerAddresses })[0] as Profile;
};

/** GET /v1/addresses/{identifier}/followers: latest follow first; `cursor` is null at the end. */
export const followers: Handler<typeof endpoints.followers> = (input, call) => followPage('followers', input, call);

/** GET /v1/addresses/{identifier}/follows: latest follow first; `cursor` is null at the end. */
export const follows: Handler<typeof endpoints.follows> = (input, call) => followPage('follows', input, call);

/**
 * Those who follow a profile in this partner's graph, or those it follows, the latest follow first, ties by profile id; `cursor` is where the
 * next page begins, `null` at the end. A follow made meanwhile comes before the first page, so no profile is shown twice and none is missed.
 * Errors: ServiceRefusal 400 for an invalid cursor.
 */
function followPage(side: 'followers' | 'follows', input: Parameters<typeof followers>[0], call: SandboxCall) {
  const { identifier, cursor, limit = defaultLimits.profiles } = input;
  const { db, partner } = call;
  const profileId = findProfile(db, identifier, partner);
  const [shown, fixed] = side === 'followers' ? ['follower_id', 'target_id'] : ['target_id', 'follower_id'];
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const params: SqlValue[] = [partner.id, profileId, ...(after === undefined ? [] : [after.atMs, after.id]), limit + 1];
  const rows = db.all<ListPosition>(
    `SELECT ${shown} AS id, at_ms AS atMs FROM follow WHERE partner_id = ? AND ${fixed} = ?
     ${after === undefined ? '' : `AND (at_ms, ${shown}) < (?, ?)`} ORDER BY at_ms DESC, ${shown} DESC LIMIT ?`,
    params,
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const ids = page.map(({ id }) => id);
  return {
    items: readProfiles(call, ids),
    cursor: last !== undefined && rows.length > limit ? writeCursor(last) : null,
  };
}

function readCursor(cursor: string): ListPosition {
  const [, atMs, id] = /^(\d{1,15}):([0-9a-f-]{36})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const place = atMs === undefined || id === undefined ? undefined : { atMs: Number(atMs), id };
  if (place === undefined || writeCursor(place) !== cursor)
    throw new ServiceRefusal(400, `cursor ${JSON.stringify(cursor)}: not a cursor of this list`);
  return place;
}

/**
 * PUT /v1/profiles/{identifier}/name: naming a wallet nobody has seen begins its tracking; 409 for a name that another profile of this
 * partner has (case is ignored), 400 for an avatar without a name.
 */
export const setName: Handler<typeof endpoints.setName> = (input, call) =>
  updateProfile(input.identifier, call, (profileId) => {
    if (input.name !== null) return changeName(profileId, input, call);
    if (typeof input.avatarUrl === 'string') throw avatarAlone(input.avatarUrl);
    removeName(profileId, call);
  });

/** DELETE /v1/profiles/{identifier}/name: a profile without a name stays as it is. */
export const deleteName: Handler<typeof endpoints.deleteName> = ({ identifier }, call) =>
  updateProfile(identifier, call, (profileId) => removeName(profileId, call));

function updateProfile(identifier: string, call: SandboxCall, act: (profileId: string) => void): Profile {
  const { db, partner } = call;
  return db.transaction(() => {
    const profileId = findProfile(db, identifier, partner);
    act(profileId);
    return readProfiles(call, [profileId])[0] as Profile;
  });
}

function changeName(
  profileId: string,
  { name, avatarUrl }: Parameters<typeof setName>[0],
  { db, partner, nowMs }: SandboxCall,
): void {
  if (typeof name === 'string') {
    const sql = 'SELECT profile_id FROM partner_name WHERE partner_id = ? AND name_key = ?';
    const taken = db.value<string>(sql, [partner.id, name.toLowerCase()]);
    if (taken !== undefined && taken !== profileId)
      throw new ServiceRefusal(409, `name ${JSON.stringify(name)}: another profile has it`);
    db.run(
      `INSERT INTO partner_name (profile_id, partner_id, name, name_key) VALUES (?, ?, ?, ?)
       ON CONFLICT (profile_id, partner_id) DO UPDATE SET name = excluded.name, name_key = excluded.name_key`,
      [profileId, partner.id, name, name.toLowerCase()],
    );
    startTracking(db, [profileId], nowMs);
  }
  if (avatarUrl === undefined) return;
  const row = [avatarUrl, profileId, partner.id];
  const changed = db.run('UPDATE partner_name SET avatar_url = ? WHERE profile_id = ? AND partner_id = ?', row);
  if (changed === 0 && avatarUrl !== null) throw avatarAlone(avatarUrl);
}

function removeName(profileId: string, { db, partner }: SandboxCall): void {
  db.run('DELETE FROM partner_name WHERE profile_id = ? AND partner_id = ?', [profileId, partner.id]);
}

function avatarAlone(avatarUrl: string): ServiceRefusal {
  return new ServiceRefusal(400, `avatarUrl ${JSON.stringify(avatarUrl)}: requires a name, and the profile has none`);
}
