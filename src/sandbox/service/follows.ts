import type { Db, SqlValue } from '../db/store.ts';
import { type Partner, ServiceRefusal } from './handler.ts';
import { startTracking } from './identifiers.ts';

/** A follower and a followed profile, by profile id. */
export type FollowEdge = readonly [followerId: string, targetId: string];

/** Follows in one partner's graph; existing follows stay as they are, new targets begin to be tracked. */
export function follow(
  db: Db,
  edges: readonly FollowEdge[],
  { partner, nowMs }: { partner: Partner; nowMs: number },
): void {
  db.run(
    `INSERT OR IGNORE INTO follow (partner_id, follower_id, target_id, at_ms)
     SELECT ?, value ->> 0, value ->> 1, ? FROM json_each(?)`,
    // In the order of the table: neighbors are on one page.
    [partner.id, nowMs, `[${edges.map((edge) => JSON.stringify(edge)).sort()}]`],
  );
  startTracking(db, [...new Set(edges.map(([, targetId]) => targetId))], nowMs);
}

/** Stops following in one partner's graph; profiles that are not followed are skipped. */
export function unfollow(db: Db, edges: readonly FollowEdge[], partner: Partner): void {
  db.run(
    `DELETE FROM follow
     WHERE partner_id = ? AND (follower_id, target_id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`,
    [partner.id, JSON.stringify(edges)],
  );
}

/** Which side of the graph a list shows: those who follow a profile, or those it follows. */
export type FollowSide = 'followers' | 'follows';

export interface FollowQuestion {
  partner: Partner;
  profileId: string;
  side: FollowSide;
  limit: number;
  cursor: string | undefined;
}

/**
 * One page of a profile's followers or follows in this partner's graph, the latest follow first, ties by profile id; its `cursor` is where
 * the next page begins, `null` at the end. A follow made meanwhile comes before the first page, so no
 * profile is shown twice and none is missed. Errors: ServiceRefusal 400 for an invalid cursor.
 */
export function followPage(db: Db, { partner, profileId, side, limit, cursor }: FollowQuestion) {
  const [shown, fixed] = side === 'followers' ? ['follower_id', 'target_id'] : ['target_id', 'follower_id'];
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const params: SqlValue[] = [partner.id, profileId, ...(after === undefined ? [] : [after.atMs, after.id]), limit + 1];
  const rows = db.all<Place>(
    `SELECT ${shown} AS id, at_ms AS atMs FROM follow WHERE partner_id = ? AND ${fixed} = ?
     ${after === undefined ? '' : `AND (at_ms, ${shown}) < (?, ?)`} ORDER BY at_ms DESC, ${shown} DESC LIMIT ?`,
    params,
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    ids: page.map((row) => row.id),
    cursor: last !== undefined && rows.length > limit ? writeCursor(last) : null,
  };
}

interface Place {
  id: string;
  atMs: number;
}

function writeCursor({ atMs, id }: Place): string {
  return Buffer.from(`${atMs}:${id}`).toString('base64url');
}

function readCursor(cursor: string): Place {
  const [, atMs, id] = /^(\d{1,15}):([0-9a-f-]{36})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const place = atMs === undefined || id === undefined ? undefined : { atMs: Number(atMs), id };
  if (place === undefined || writeCursor(place) !== cursor)
    throw new ServiceRefusal(400, `cursor ${JSON.stringify(cursor)}: not one that this list gave`);
  return place;
}
