import type { Profile } from '../../model/profile.ts';
import { findProfile, hydrateProfiles } from '../../sandbox/profiles.ts';
import type { Handler } from '../../sandbox/server.ts';
import { Refusal } from '../../sandbox/service.ts';
import type * as endpoints from './endpoints.ts';

/** GET /v1/addresses/{identifier}/profile: full metrics and status; 404 for an unknown UUID. */
export const get: Handler<typeof endpoints.get> = ({ identifier, viewerAddresses }, { db, nowMs, partner }) => {
  const id = findProfile(db, identifier, partner);
  const viewers = viewerAddresses === undefined ? {} : { viewers: viewerAddresses };
  const [profile] = hydrateProfiles(db, [id], { partner, nowMs, full: true, ...viewers });
  if (profile === undefined) throw new Refusal(404, `profile ${identifier} does not exist`);
  return profile as Profile;
};
