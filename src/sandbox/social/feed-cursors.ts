import { parseTime } from '../../model/duration.ts';
import { parseJson } from '../../model/json.ts';
import type { Db } from '../db/store.ts';
import { Refusal } from '../http/service.ts';

/**
 * A place in a feed: newest first by the second of a card's latest trade, then by id. Two places lie between cards instead of
 * on one: id `''` before all cards of its second, `afterAll` behind them.
 */
export interface Place {
  atSec: number;
  id: string;
}

/** Behind every id of its second. */
const afterAll = '~';

/** A card by its id, or a place between cards. */
export type Mark = string | Place;

/**
 * Where a walk through a feed has got to. A walk keeps the order that the feed had when it began, told by the trades stored by
 * then (the snapshot), so that cards which trade meanwhile keep their place in it.
 */
export interface Cursor {
  /** The last trade of the snapshot; absent: the walk goes on with what was stored since `floor`. */
  snapshot?: number;
  /** The walk goes on from here; absent: from where it began. */
  at?: Mark;
  /** Walks to newer cards: where it began, and the snapshot of that place. */
  start?: { mark: Mark; snapshot: number };
  /** Only cards that traded after this trade, and that the walk has not shown. */
  floor?: number;
  /** Walks to older cards: the second at which the window that was asked for ends; absent: to the oldest card. */
  sinceSec?: number;
}

/** True when a place is nearer to the top of the feed than another. */
export function isAbove(a: Place, b: Place): boolean {
  return a.atSec > b.atSec || (a.atSec === b.atSec && a.id < b.id);
}

/** The id of the newest trade stored; 0 when there is none. */
export function currentSnapshot(db: Db): number {
  return db.get<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM trade')?.id ?? 0;
}

/** The place of a mark in the order of a snapshot. Errors: Refusal 400 for a card that had not traded then. */
export function placeOf(db: Db, mark: Mark, snapshot: number): Place {
  if (typeof mark !== 'string') return mark;
  const latest = db.get<{ atMs: number | null }>(
    'SELECT max(at_ms) AS atMs FROM trade WHERE position_id = ? AND id <= ?',
    [mark, snapshot],
  )?.atMs;
  if (latest === undefined || latest === null)
    throw new Refusal(400, 'the cursor is of another world: the card it names is not there');
  return { atSec: Math.floor(latest / 1000), id: mark };
}

/** A cursor as opaque text. */
export function writeCursor({ snapshot, at, start, floor, sinceSec }: Cursor): string {
  const fields = [snapshot, at, start?.mark, start?.snapshot, floor, sinceSec].map((field) => field ?? null);
  while (fields.at(-1) === null) fields.pop();
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/**
 * The cursor that `olderThan` or `newerThan` carries: one of ours, or a point in time (ISO 8601, Unix seconds or milliseconds). `olderThan` goes
 * on behind all cards of that second; `newerThan` is the top of a feed that ends before it. Errors: Refusal 400 naming the field; also for a cursor of another world.
 */
export function readCursor(db: Db, field: 'olderThan' | 'newerThan', text: string): Cursor {
  const atMs = parseTime(text);
  const snapshot = currentSnapshot(db);
  if (atMs !== undefined) {
    if (field === 'newerThan') return { snapshot, sinceSec: Math.floor(atMs / 1000) };
    return { snapshot, at: { atSec: Math.ceil(atMs / 1000), id: afterAll } };
  }
  const cursor = decode(text);
  if (cursor === undefined)
    throw new Refusal(400, `${field} ${JSON.stringify(text)}: neither a cursor of a feed nor a time in ISO 8601`);
  if ((cursor.snapshot ?? cursor.floor ?? 0) > snapshot)
    throw new Refusal(400, `${field}: the cursor is of another world, which holds more trades`);
  return cursor;
}

function decode(text: string): Cursor | undefined {
  try {
    const fields = parseJson(Buffer.from(text, 'base64url').toString()) as unknown[];
    const [snapshot, at, mark, startSnapshot, floor, sinceSec] = fields.map((field) => field ?? undefined);
    if (![snapshot, startSnapshot, floor, sinceSec].every((each) => each === undefined || Number.isSafeInteger(each)))
      return undefined;
    if (![at, mark].every((each) => each === undefined || isMark(each))) return undefined;
    if (
      (at ?? mark) === undefined ||
      (snapshot ?? floor) === undefined ||
      (mark === undefined) !== (startSnapshot === undefined)
    )
      return undefined;
    return {
      ...(snapshot === undefined ? {} : { snapshot: snapshot as number }),
      ...(at === undefined ? {} : { at: at as Mark }),
      ...(mark === undefined ? {} : { start: { mark: mark as Mark, snapshot: startSnapshot as number } }),
      ...(floor === undefined ? {} : { floor: floor as number }),
      ...(sinceSec === undefined ? {} : { sinceSec: sinceSec as number }),
    };
  } catch {
    return undefined;
  }
}

function isMark(mark: unknown): boolean {
  if (typeof mark === 'string') return true;
  const { atSec, id } = mark as Partial<Place>;
  return Number.isFinite(atSec) && typeof id === 'string';
}
