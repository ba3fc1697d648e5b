import type { Profile } from '../../model/profile.ts';
import { defaultLimits, type Handler, Refusal, type SandboxCall } from '../../sandbox/http/service.ts';
import { type FollowSide, followPage } from '../../sandbox/social/follows.ts';
import { setName as changeName, deleteName as removeName } from '../../sandbox/social/names.ts';
import { findProfile, hydrateProfiles } from '../../sandbox/social/profiles.ts';
import type * as endpoints from './endpoints.ts';

/** GET /v1/addresses/{identifier}/profile: full metrics and status; 404 for an unknown UUID. */
export const get: Handler<typeof endpoints.get> = ({ identifier, viewerAddresses }, { db, nowMs, partner }) => {
  const id = findProfile(db, identifier, partner);
  const viewers = viewerAddresses === undefined ? {} : { viewers: viewerAddresses };
  const [profile] = hydrateProfiles(db, [id], { partner, nowMs, full: true, ...viewers });
  if (profile === undefined) throw new Refusal(404, `profile ${identifier} does not exist`);
  return profile as Profile;
};

/** GET /v1/addresses/{identifier}/followers: latest follow first; `cursor` is null at the end. */
export const followers: Handler<typeof endpoints.followers> = (input, call) => page('followers', input, call);

/** GET /v1/addresses/{identifier}/follows: latest follow first; `cursor` is null at the end. */
export const follows: Handler<typeof endpoints.follows> = (input, call) => page('follows', input, call);

interface PageInput {
  identifier: string;
  cursor?: string | undefined;
  limit?: number | undefined;
}

function page(side: FollowSide, { identifier, cursor, limit = defaultLimits.profiles }: PageInput, call: SandboxCall) {
  const { db, partner, nowMs } = call;
  const profileId = findProfile(db, identifier, partner);
  const shown = followPage(db, { partner, profileId, side, limit, cursor });
  return {
    items: hydrateProfiles(db, shown.ids, { partner, nowMs, full: false }) as Profile[],
    cursor: shown.cursor,
  };
}

/** PUT /v1/profiles/{identifier}/name: 409 for a name taken at this partner, 400 for an avatar without a name. */
export const setName: Handler<typeof endpoints.setName> = ({ identifier, name, avatarUrl }, call) =>
  renamed(identifier, call, (profileId) => changeName(call.db, { name, avatarUrl }, { ...call, profileId }));

/** DELETE /v1/profiles/{identifier}/name: a profile without a name stays as it is. */
export const deleteName: Handler<typeof endpoints.deleteName> = ({ identifier }, call) =>
  renamed(identifier, call, (profileId) => removeName(call.db, { ...call, profileId }));

function renamed(identifier: string, { db, partner, nowMs }: SandboxCall, act: (profileId: string) => void): Profile {
  return db.transaction(() => {
    const profileId = findProfile(db, identifier, partner);
    act(profileId);
    return hydrateProfiles(db, [profileId], { partner, nowMs, full: false })[0] as Profile;
  });
}
