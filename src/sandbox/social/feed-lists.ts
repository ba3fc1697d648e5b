import { type Endpoint, wireName } from '../../contract/endpoint.ts';
import type { Db } from '../db/store.ts';
import { defaultLimits, Refusal, type SandboxCall } from '../http/service.ts';
import { type Cursor, currentSnapshot, isAbove, type Place, placeOf, readCursor, writeCursor } from './feed-cursors.ts';
import { arrange, type FeedScope, nearestCards, placesOf, tradedBetween } from './feed-query.ts';

export interface FeedQuestion {
  limit?: number | undefined;
  olderThan?: string | undefined;
  newerThan?: string | undefined;
}

/** One page of a feed: card ids, newest first, and how to go on; a cursor is `null` where nothing lies that way. */
export interface FeedPage {
  ids: string[];
  older: string | null;
  newer: string | null;
}

/**
 * A page of a feed. Without a cursor the newest cards; `olderThan` the cards below it; `newerThan` with a time the newest cards since then, with a
 * cursor those right above it, so that a walk to newer cards leaves none out. A walk shows each card once: it keeps the order of its beginning, and one to newer cards ends
 * with what arrived meanwhile and was not shown. `scopeOf` gives what the feed holds as of a snapshot. Errors: Refusal 400 for both
 * directions at once, or a cursor that is none.
 */
export function feedPage(db: Db, question: FeedQuestion, scopeOf: (snapshot: number) => FeedScope): FeedPage {
  const { olderThan, newerThan, limit = defaultLimits.feed } = question;
  if (olderThan !== undefined && newerThan !== undefined)
    throw new Refusal(400, 'olderThan and newerThan: only one of them may be given');
  const field = newerThan === undefined ? 'olderThan' : 'newerThan';
  const text = newerThan ?? olderThan;
  const cursor = text === undefined ? undefined : readCursor(db, field, text);
  const isUpward = newerThan !== undefined && cursor?.sinceSec === undefined;
  return isUpward ? newerPage(db, cursor ?? {}, limit, scopeOf) : olderPage(db, cursor, limit, scopeOf);
}

type ScopeOf = (snapshot: number) => FeedScope;

function olderPage(db: Db, cursor: Cursor | undefined, limit: number, scopeOf: ScopeOf): FeedPage {
  const snapshot = cursor?.snapshot ?? currentSnapshot(db);
  const scope = scopeOf(snapshot);
  const mark = cursor?.at ?? cursor?.start?.mark;
  const from = mark === undefined ? undefined : placeOf(db, mark, snapshot);
  const sinceSec = cursor?.sinceSec;
  const end: Place | undefined = sinceSec === undefined ? undefined : { atSec: sinceSec, id: '' };
  const found = nearestCards(db, scope, snapshot, { way: 'older', count: limit + 1, ...(from && { from }) }).filter(
    (place) => end === undefined || isAbove(place, end),
  );
  const shown = found.slice(0, limit);
  const [top, bottom] = [shown[0] ?? from ?? end, shown.at(-1) ?? from ?? end];
  const window = sinceSec === undefined ? {} : { sinceSec };
  return {
    ids: shown.map((place) => place.id),
    older: found.length > limit && bottom !== undefined ? writeCursor({ snapshot, at: bottom.id, ...window }) : null,
    newer: top === undefined || bottom === undefined ? null : newerLink(db, { scopeOf, snapshot, top, bottom }),
  };
}

/** The way up from a page that was reached by walking down: to what lies above it, or arrived since. */
function newerLink(
  db: Db,
  { scopeOf, snapshot, top, bottom }: { scopeOf: ScopeOf; snapshot: number; top: Place; bottom: Place },
): string | null {
  const start = { mark: markOf(bottom), snapshot };
  const above = nearestCards(db, scopeOf(snapshot), snapshot, { way: 'newer', from: top, count: 1 });
  if (above.length > 0) return writeCursor({ snapshot, at: markOf(top), start });
  return arrivalsLink(db, scopeOf, snapshot, start);
}

function newerPage(db: Db, cursor: Cursor, limit: number, scopeOf: ScopeOf): FeedPage {
  const snapshot = cursor.snapshot ?? currentSnapshot(db);
  const scope = scopeOf(snapshot);
  const start = cursor.start ?? { mark: cursor.at ?? '', snapshot };
  const from = placeOf(db, cursor.at ?? start.mark, cursor.at === undefined ? start.snapshot : snapshot);
  const reach = { way: 'newer', from, count: limit + 1 } as const;
  const found =
    cursor.floor === undefined
      ? nearestCards(db, scope, snapshot, reach)
      : arrange(
          unseen(db, scopeOf, { floor: cursor.floor, snapshot, start }).filter(
            (place) => cursor.at === undefined || isAbove(place, from),
          ),
          reach,
        );
  const shown = found.slice(0, limit).reverse();
  const bottom = shown.at(-1) ?? from;
  const below = nearestCards(db, scope, snapshot, { way: 'older', from: bottom, count: 1 });
  const { floor } = cursor;
  return {
    ids: shown.map((place) => place.id),
    older: below.length > 0 ? writeCursor({ snapshot, at: markOf(bottom) }) : null,
    newer:
      found.length > limit && shown[0] !== undefined
        ? writeCursor({ snapshot, at: shown[0].id, start, ...(floor === undefined ? {} : { floor }) })
        : arrivalsLink(db, scopeOf, snapshot, start),
  };
}

type Start = NonNullable<Cursor['start']>;

/** Where a walk to newer cards goes on once its snapshot is through; `null` when nothing arrived that it has not shown. */
function arrivalsLink(db: Db, scopeOf: ScopeOf, floor: number, start: Start): string | null {
  const snapshot = currentSnapshot(db);
  if (snapshot === floor || unseen(db, scopeOf, { floor, snapshot, start }).length === 0) return null;
  return writeCursor({ floor, start });
}

/**
 * The cards that traded between two snapshots and that a walk from `start` has not shown: neither in its own order nor among what arrived
 * before `floor`. What arrived in the very second of the card it began at counts, whichever of them comes first by id.
 */
function unseen(
  db: Db,
  scopeOf: ScopeOf,
  { floor, snapshot, start }: { floor: number; snapshot: number; start: Start },
): Place[] {
  const arrived = tradedBetween(db, floor, snapshot);
  const begin = placeOf(db, start.mark, start.snapshot);
  const isNews = ({ atSec }: Place) => atSec > begin.atSec || (typeof start.mark === 'string' && atSec === begin.atSec);
  const before = placesOf(db, scopeOf(start.snapshot), start.snapshot, arrived).filter(
    (place) => !isAbove(begin, place),
  );
  const earlier = new Set(tradedBetween(db, start.snapshot, floor));
  const among = arrived.filter((id) => earlier.has(id));
  const since = placesOf(db, scopeOf(floor), floor, among).filter(isNews);
  const seen = new Set([...before, ...since].map(({ id }) => id));
  return placesOf(db, scopeOf(snapshot), snapshot, arrived).filter((place) => isNews(place) && !seen.has(place.id));
}

/** A card by its id, so that the mark holds when the world's times are moved; a place between cards as it is. */
function markOf(place: Place): string | Place {
  return place.id === '' || place.id === '~' ? place : place.id;
}

/** The service's form of a page's cursors: with links back to this endpoint that keep every other query parameter. */
export function paginationOf(
  { ids: _, older, newer }: FeedPage,
  endpoint: Pick<Endpoint, 'id' | 'params'>,
  { url, wire }: SandboxCall,
) {
  const names = (['olderThan', 'newerThan'] as const).flatMap((key) => {
    const param = endpoint.params[key];
    return param === undefined ? [] : [[key, wireName(endpoint, key, param, wire)] as const];
  });
  const link = (way: 'olderThan' | 'newerThan', cursor: string | null) => {
    if (cursor === null) return null;
    const to = new URL(url);
    for (const [, name] of names) to.searchParams.delete(name);
    for (const [key, name] of names) if (key === way) to.searchParams.set(name, cursor);
    return to.href;
  };
  return {
    olderCursor: older,
    olderItemsURL: link('olderThan', older),
    newerCursor: newer,
    newerItemsURL: link('newerThan', newer),
  };
}
