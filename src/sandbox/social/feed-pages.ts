import { z } from 'zod';
import { parseTime } from '../../model/duration.ts';
import { tryParseJson } from '../../model/json.ts';
import { type Db, newestTradeId } from '../db/store.ts';
import { defaultLimits, ServiceRefusal } from '../http/service.ts';
import { type FeedPlace, type FeedScope, nearestCards } from './feed-query.ts';

export interface PageRequest {
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
 * A page of a feed. Without a cursor the newest cards; `olderThan` the cards below it; `newerThan` with a time the newest cards since then,
 * with a cursor those right above it. A walk to older cards keeps the order of its beginning and shows each card once; one to newer cards goes
 * up the feed as it is by then. Errors: ServiceRefusal 400 for both directions at once, or for what is no cursor.
 */
export function feedPage(
  db: Db,
  { olderThan, newerThan, limit = defaultLimits.feed }: PageRequest,
  makeScope: (snapshot: number) => FeedScope,
): FeedPage {
  if (olderThan !== undefined && newerThan !== undefined)
    throw new ServiceRefusal(400, 'olderThan and newerThan: only one of them may be given');
  const newest = newestTradeId(db);
  const field = newerThan === undefined ? 'olderThan' : 'newerThan';
  const cursor = readCursor(field, newerThan ?? olderThan, newest);
  const way = newerThan !== undefined && cursor.at !== undefined ? 'newer' : 'older';
  const snapshot = way === 'newer' ? newest : cursor.snapshot;
  const { sinceSec } = cursor;
  const nearest = (towards: 'older' | 'newer', from: FeedPlace | undefined, count: number, at = snapshot) =>
    nearestCards(db, makeScope(at), at, { way: towards, from, count }).filter(
      ({ atSec }) => sinceSec === undefined || atSec > sinceSec,
    );
  const from = cursor.at === undefined ? undefined : findPlace(db, cursor.at, cursor.snapshot);
  const found = nearest(way, from, limit);
  const shown = way === 'newer' ? found.toReversed() : found;
  const edge = from ?? (sinceSec === undefined ? undefined : { atSec: sinceSec, id: '' });
  const [top, bottom] = [shown[0] ?? edge, shown.at(-1) ?? edge];
  return {
    ids: shown.map(({ id }) => id),
    older: bottom && nearest('older', bottom, 1).length > 0 ? writeCursor(snapshot, bottom, sinceSec) : null,
    newer: top && nearest('newer', top, 1, newest).length > 0 ? writeCursor(snapshot, top) : null,
  };
}

/** Behind every id of its second. */
const afterAll = '~';

/**
 * Where a walk has got to: the last trade when it began, whose order it keeps, a card by its id, so that it stays right when the world's times
 * are moved, or a place between cards, and the second at which the window that was asked for ends.
 */
const cursorSchema = z.union([
  z.tuple([z.int(), z.union([z.string(), z.object({ atSec: z.number(), id: z.string() })])]),
  z.tuple([z.int(), z.string(), z.int()]),
]);

interface Cursor {
  snapshot: number;
  /** Absent: from the top. */
  at?: string | FeedPlace | undefined;
  sinceSec?: number | undefined;
}

function writeCursor(snapshot: number, place: FeedPlace, sinceSec?: number): string {
  const at = ['', afterAll].includes(place.id) ? place : place.id;
  return Buffer.from(JSON.stringify([snapshot, at, sinceSec].filter((each) => each !== undefined))).toString(
    'base64url',
  );
}

/**
 * The cursor of `olderThan` or `newerThan`: one of ours, or a time. `olderThan` starts behind all cards of that second; `newerThan` shows what
 * came since. Errors: ServiceRefusal 400 for other text and for a cursor of another world.
 */
function readCursor(field: 'olderThan' | 'newerThan', text: string | undefined, newest: number): Cursor {
  if (text === undefined) return { snapshot: newest };
  const atMs = parseTime(text);
  if (atMs !== undefined && field === 'newerThan') return { snapshot: newest, sinceSec: Math.floor(atMs / 1000) };
  if (atMs !== undefined) return { snapshot: newest, at: { atSec: Math.ceil(atMs / 1000), id: afterAll } };
  const { data } = cursorSchema.safeParse(tryParseJson(Buffer.from(text, 'base64url').toString()));
  if (data === undefined)
    throw new ServiceRefusal(
      400,
      `${field} ${JSON.stringify(text)}: neither a cursor of a feed nor a time in ISO 8601`,
    );
  const [snapshot, at, sinceSec] = data;
  if (snapshot > newest)
    throw new ServiceRefusal(400, `${field}: the cursor is of another world, which holds more trades`);
  return { snapshot, at, sinceSec };
}

/** The place of a cursor in the order of its snapshot. Errors: ServiceRefusal 400 for a card that had not traded then. */
function findPlace(db: Db, at: string | FeedPlace, snapshot: number): FeedPlace {
  if (typeof at !== 'string') return at;
  const latest = db.get<{ atMs: number | null }>(
    'SELECT max(at_ms) AS atMs FROM trade WHERE position_id = ? AND id <= ?',
    [at, snapshot],
  )?.atMs;
  if (latest === undefined || latest === null)
    throw new ServiceRefusal(400, 'the cursor is of another world: the card it names is not there');
  return { atSec: Math.floor(latest / 1000), id: at };
}
