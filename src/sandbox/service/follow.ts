import type { Profile } from '../../api/answers.ts';
import type * as endpoints from '../../api/follow.ts';
import { type Handler, type SandboxCall, ServiceRefusal } from './handler.ts';
import { findProfile, findWallets, startTracking, trackedFrom } from './identifiers.ts';
import { readProfiles } from './profiles.ts';

/** PUT /v1/addresses/{addressOrUid}/follow: all targets or none. */
export const add: Handler<typeof endpoints.add> = ({ addressOrUid, targets }, call) =>
  applyEntries([{ addressOrUid, targets, action: 'follow' }], call);

/** DELETE /v1/addresses/{addressOrUid}/follow: all targets or none. */
export const remove: Handler<typeof endpoints.remove> = ({ addressOrUid, targets }, call) =>
  applyEntries([{ addressOrUid, targets, action: 'unfollow' }], call);

/** POST /v1/addresses/follow/bulk: in the order of the entries, all of them or none. */
export const bulk: Handler<typeof endpoints.bulk> = ({ entries }, call) => applyEntries(entries, call);

/**
 * Follows and unfollows; gives every target once, in the order of mention. Errors: ServiceRefusal 404 for an unknown UUID or Twitter handle,
 * 400 for a profile that follows itself, whichever of its addresses are named (the service is silent on it).
 */
function applyEntries(entries: readonly endpoints.BulkEntry[], call: SandboxCall): { targetProfiles: Profile[] } {
  const { db, partner } = call;
  return db.transaction(() => {
    const byHandle = entries.some((entry) => entry.targetType === 'twitterHandle') ? profilesByHandle(call) : undefined;
    const known = knownWallets(entries, call);
    const resolveId = (identifier: string): string => {
      const id = known.get(identifier) ?? findProfile(db, identifier, partner);
      known.set(identifier, id);
      return id;
    };
    const touched = new Set<string>();
    const steps: { change: typeof follow; edges: FollowEdge[] }[] = [];
    for (const { addressOrUid, targets, targetType, action } of entries) {
      const followerId = resolveId(addressOrUid);
      const change = action === 'unfollow' ? unfollow : follow;
      if (steps.at(-1)?.change !== change) steps.push({ change, edges: [] });
      for (const target of targets) {
        const id = targetType === 'twitterHandle' ? byHandle?.get(handleKey(target)) : resolveId(target);
        if (id === undefined) throw new ServiceRefusal(404, `targets ${target}: no profile has this Twitter handle`);
        if (id === followerId && change === follow)
          throw new ServiceRefusal(400, `targets ${target}: a profile cannot follow itself (${addressOrUid})`);
        touched.add(id);
        steps.at(-1)?.edges.push([followerId, id]);
      }
    }
    for (const { change, edges } of steps) change(call, edges);
    return { targetProfiles: readProfiles(call, [...touched]) };
  });
}

/** A follower and a followed profile, by profile id. */
type FollowEdge = readonly [followerId: string, targetId: string];

/** Follows in one partner's graph; existing follows stay as they are, new targets begin to be tracked. */
function follow({ db, partner, nowMs }: SandboxCall, edges: readonly FollowEdge[]): void {
  db.run(
    `INSERT OR IGNORE INTO follow (partner_id, follower_id, target_id, at_ms)
     SELECT ?, value ->> 0, value ->> 1, ? FROM json_each(?)`,
    // In the order of the table: neighbors are on one page.
    [partner.id, nowMs, `[${edges.map((edge) => JSON.stringify(edge)).sort()}]`],
  );
  startTracking(db, [...new Set(edges.map(([, targetId]) => targetId))], nowMs);
}

/** Stops following in one partner's graph; profiles that are not followed are skipped. */
function unfollow({ db, partner }: SandboxCall, edges: readonly FollowEdge[]): void {
  db.run(
    `DELETE FROM follow
     WHERE partner_id = ? AND (follower_id, target_id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`,
    [partner.id, JSON.stringify(edges)],
  );
}

/** The profiles of all wallets that are named, read at once; new ones that are followed are tracked from the start. */
function knownWallets(entries: readonly endpoints.BulkEntry[], { db, nowMs }: SandboxCall): Map<string, string> {
  const follows = entries.filter(({ action, targetType }) => action !== 'unfollow' && targetType !== 'twitterHandle');
  const followed = follows.flatMap(({ targets }) => targets);
  const followers = entries.map(({ addressOrUid }) => addressOrUid);
  return new Map([...findWallets(db, followed, trackedFrom(nowMs)), ...findWallets(db, followers, null)]);
}

function handleKey(handle: string): string {
  return handle.replace(/^@/, '').toLowerCase();
}

function profilesByHandle({ db }: SandboxCall): Map<string, string> {
  const rows = db.all<{ id: string; handle: string }>(
    `SELECT id, json_extract(handles, '$.twitterHandle') AS handle FROM profile
     WHERE json_extract(handles, '$.twitterHandle') IS NOT NULL ORDER BY id DESC`,
  );
  return new Map(rows.map(({ id, handle }) => [handleKey(handle), id]));
}
