import { z } from 'zod';
import { parseTime } from '../../api/duration.ts';
import { tryParseJson } from '../../api/json.ts';
import { type Db, newestTradeId } from '../db/store.ts';
import {
  arrange,
  type FeedPlace,
  type FeedScope,
  findPlaces,
  isAbove,
  nearestCards,
  tradedBetween,
} from './feed-query.ts';
import { defaultLimits, ServiceRefusal } from './handler.ts';

export interface PageRequest {
  limit?: number | undefined;
  olderThan?: string | undefined;
  newerThan?: string | undefined;
}

type MakeScope = (snapshot: number) => FeedScope;

/** One page of a feed: card ids, newest first, and how to go on; a cursor is `null` where nothing lies that way. */
export interface FeedPage {
  ids: string[];
  older: string | null;
  newer: string | null;
}

/**
 * A page of a feed. Without a cursor the newest cards; `olderThan` the cards below it; `newerThan` with a time the newest cards since then,
 * with a cursor those right above it. A walk shows each card once, in the order of its beginning; one to newer cards ends with what arrived
 * meanwhile and was not shown. Errors: ServiceRefusal 400 for both directions at once, or for what is no cursor.
 */
export function feedPage(db: Db, request: PageRequest, makeScope: MakeScope): FeedPage {
  const { olderThan, newerThan, limit = defaultLimits.feed } = request;
  if (olderThan !== undefined && newerThan !== undefined)
    throw new ServiceRefusal(400, 'olderThan and newerThan: only one of them may be given');
  const field = newerThan === undefined ? 'olderThan' : 'newerThan';
  const text = newerThan ?? olderThan;
  const cursor = text === undefined ? undefined : readCursor(db, field, text);
  const isUpward = newerThan !== undefined && cursor?.sinceSec === undefined;
  return isUpward ? newerPage(db, cursor ?? {}, limit, makeScope) : olderPage(db, cursor, limit, makeScope);
}

function olderPage(db: Db, cursor: Cursor | undefined, limit: number, makeScope: MakeScope): FeedPage {
  const snapshot = cursor?.snapshot ?? newestTradeId(db);
  const scope = makeScope(snapshot);
  const anchor = cursor?.at ?? cursor?.start?.anchor;
  const from = anchor === undefined ? undefined : findPlace(db, anchor, snapshot);
  const sinceSec = cursor?.sinceSec;
  const end: FeedPlace | undefined = sinceSec === undefined ? undefined : { atSec: sinceSec, id: '' };
  const found = nearestCards(db, scope, snapshot, { way: 'older', count: limit + 1, ...(from && { from }) }).filter(
    (place) => end === undefined || isAbove(place, end),
  );
  const shown = found.slice(0, limit);
  const [top, bottom] = [shown[0] ?? from ?? end, shown.at(-1) ?? from ?? end];
  return {
    ids: shown.map((place) => place.id),
    older: found.length > limit && bottom !== undefined ? writeCursor({ snapshot, at: bottom.id, sinceSec }) : null,
    newer: top === undefined || bottom === undefined ? null : newerLink(db, { makeScope, snapshot, top, bottom }),
  };
}

/** The way up from a page that was reached by walking down: to what lies above it, or arrived since. */
function newerLink(
  db: Db,
  { makeScope, snapshot, top, bottom }: { makeScope: MakeScope; snapshot: number; top: FeedPlace; bottom: FeedPlace },
): string | null {
  const start = { anchor: makeAnchor(bottom), snapshot };
  const above = nearestCards(db, makeScope(snapshot), snapshot, { way: 'newer', from: top, count: 1 });
  if (above.length > 0) return writeCursor({ snapshot, at: makeAnchor(top), start });
  return arrivalsLink(db, makeScope, snapshot, start);
}

function newerPage(db: Db, cursor: Cursor, limit: number, makeScope: MakeScope): FeedPage {
  const snapshot = cursor.snapshot ?? newestTradeId(db);
  const scope = makeScope(snapshot);
  const start = cursor.start ?? { anchor: cursor.at ?? '', snapshot };
  const from = findPlace(db, cursor.at ?? start.anchor, cursor.at === undefined ? start.snapshot : snapshot);
  const reach = { way: 'newer', from, count: limit + 1 } as const;
  const found =
    cursor.floor === undefined
      ? nearestCards(db, scope, snapshot, reach)
      : arrange(
          unseen(db, makeScope, { floor: cursor.floor, snapshot, start }).filter(
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
    older: below.length > 0 ? writeCursor({ snapshot, at: makeAnchor(bottom) }) : null,
    newer:
      found.length > limit && shown[0] !== undefined
        ? writeCursor({ snapshot, at: shown[0].id, start, floor })
        : arrivalsLink(db, makeScope, snapshot, start),
  };
}

/** Where a walk to newer cards continues after its snapshot; `null` when nothing arrived that it has not shown. */
function arrivalsLink(db: Db, makeScope: MakeScope, floor: number, start: Start): string | null {
  const snapshot = newestTradeId(db);
  if (snapshot === floor || unseen(db, makeScope, { floor, snapshot, start }).length === 0) return null;
  return writeCursor({ floor, start });
}

/**
 * The cards that traded between two snapshots and that a walk from `start` has not shown. What arrived in the very second of the card it
 * began at counts, whichever of them comes first by id.
 */
function unseen(
  db: Db,
  makeScope: MakeScope,
  { floor, snapshot, start }: { floor: number; snapshot: number; start: Start },
): FeedPlace[] {
  const arrived = tradedBetween(db, floor, snapshot);
  const begin = findPlace(db, start.anchor, start.snapshot);
  const isRecent = ({ atSec }: FeedPlace) =>
    atSec > begin.atSec || (typeof start.anchor === 'string' && atSec === begin.atSec);
  const before = findPlaces(db, makeScope(start.snapshot), start.snapshot, arrived).filter(
    (place) => !isAbove(begin, place),
  );
  const earlier = new Set(tradedBetween(db, start.snapshot, floor));
  const among = arrived.filter((id) => earlier.has(id));
  const since = findPlaces(db, makeScope(floor), floor, among).filter(isRecent);
  const seen = new Set([...before, ...since].map(({ id }) => id));
  return findPlaces(db, makeScope(snapshot), snapshot, arrived).filter(
    (place) => isRecent(place) && !seen.has(place.id),
  );
}

/** A card by its id, so that the anchor stays right when the world's times are moved; a place between cards as it is. */
function makeAnchor(place: FeedPlace): Anchor {
  return place.id === '' || place.id === afterAll ? place : place.id;
}

/** Behind every id of its second. */
const afterAll = '~';

/** A card by its id, or a place between cards. */
const anchorSchema = z.union([z.string(), z.object({ atSec: z.number(), id: z.string() })]);
type Anchor = z.output<typeof anchorSchema>;

const startSchema = z.object({ anchor: anchorSchema, snapshot: z.int() });
type Start = z.output<typeof startSchema>;

/**
 * Where a walk through a feed has got to. A walk keeps the order that the feed had when it began: that of the trades stored by then, its
 * snapshot.
 */
const cursorSchema = z
  .object({
    /** The last trade of the snapshot; absent: the walk continues with what was stored since `floor`. */
    snapshot: z.int().optional(),
    /** The walk continues from here; absent: from where it began. */
    at: anchorSchema.optional(),
    /** Walks to newer cards: where it began, and the snapshot of that place. */
    start: startSchema.optional(),
    /** Only cards that traded after this trade, and that the walk has not shown. */
    floor: z.int().optional(),
    /** Walks to older cards: the second at which the window that was asked for ends; absent: to the oldest card. */
    sinceSec: z.int().optional(),
  })
  .refine(({ snapshot, at, start, floor }) => (at ?? start) !== undefined && (snapshot ?? floor) !== undefined);
type Cursor = z.output<typeof cursorSchema>;

/** The place of an anchor in the order of a snapshot. Errors: ServiceRefusal 400 for a card that had not traded then. */
function findPlace(db: Db, anchor: Anchor, snapshot: number): FeedPlace {
  if (typeof anchor !== 'string') return anchor;
  const sql = 'SELECT max(at_ms) FROM trade WHERE position_id = ? AND id <= ?';
  const latest = db.value<number>(sql, [anchor, snapshot]);
  if (latest === undefined)
    throw new ServiceRefusal(400, 'the cursor is of another world: the card it names is not there');
  return { atSec: Math.floor(latest / 1000), id: anchor };
}

export function writeCursor(cursor: Cursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/**
 * The cursor of `olderThan` or `newerThan`: one of ours, or a time. `olderThan` starts behind all cards of that second; `newerThan` shows what
 * came since. Errors: ServiceRefusal 400 for other text and for a cursor of another world.
 */
function readCursor(db: Db, field: 'olderThan' | 'newerThan', text: string): Cursor {
  const atMs = parseTime(text);
  const snapshot = newestTradeId(db);
  if (atMs !== undefined) {
    if (field === 'newerThan') return { snapshot, sinceSec: Math.floor(atMs / 1000) };
    return { snapshot, at: { atSec: Math.ceil(atMs / 1000), id: afterAll } };
  }
  const { data: cursor } = cursorSchema.safeParse(tryParseJson(Buffer.from(text, 'base64url').toString()));
  if (cursor === undefined)
    throw new ServiceRefusal(
      400,
      `${field} ${JSON.stringify(text)}: neither a cursor of a feed nor a time in ISO 8601`,
    );
  if ((cursor.snapshot ?? cursor.floor ?? 0) > snapshot)
    throw new ServiceRefusal(400, `${field}: the cursor is of another world, which holds more trades`);
  return cursor;
}
