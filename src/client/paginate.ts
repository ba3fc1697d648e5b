import { parseTime, toUnixSec } from '../api/duration.ts';
import type { Paging } from '../api/endpoint.ts';
import { isObject } from '../api/json.ts';
import { SotraError } from '../errors.ts';
import type { CallAnswer } from './client.ts';
import { flagWords, shellLine } from './shell.ts';

type Input = Readonly<Record<string, unknown>>;

type FetchPage = (input: Input, link?: string) => Promise<CallAnswer>;

export interface PageWalk {
  paging: Paging;
  input: Input;
  fetchPage: FetchPage;
  max: number | undefined;
  /** Called when `max` cuts the list short. */
  onMaxReached: () => void;
}

/**
 * The items of all pages, in the service's order, a batch a page. Errors: those of the call; `contract` when
 * a page, cursor or link comes twice; `redirect` for a link to another origin without a cursor.
 */
export async function* walkPages({
  paging,
  input,
  fetchPage,
  max,
  onMaxReached,
}: PageWalk): AsyncGenerator<readonly unknown[]> {
  let left = max ?? Number.POSITIVE_INFINITY;
  const pages =
    paging.kind === 'page' || paging.kind === 'limit'
      ? numberedPages(paging, input, fetchPage)
      : linkedPages(paging, input, fetchPage);
  for await (const { items, more } of pages) {
    yield items.slice(0, left);
    if (items.length > left || (items.length === left && more)) onMaxReached();
    left -= items.length;
    if (left <= 0) return;
  }
}

interface Page {
  items: readonly unknown[];
  more: boolean;
}

/** Pages by their numbers; of a list without pages the only one. */
async function* numberedPages(
  paging: Paging & { kind: 'page' | 'limit' },
  input: Input,
  fetchPage: FetchPage,
): AsyncGenerator<Page> {
  const size = Number(input[paging.size] ?? paging.maxSize);
  // A service may send fewer than asked for: then the first page tells how long one is.
  let full = size;
  let before = '';
  for (let page = paging.kind === 'page' ? Number(input[paging.page] ?? 1) : 1; ; page += 1) {
    const numbered = paging.kind === 'page' && { [paging.page]: page };
    const items = listItems((await fetchPage({ ...input, [paging.size]: size, ...numbered })).data);
    const names = JSON.stringify(items.map(identifyItem));
    if (names === before && full === size) throw repeated(`page ${page}`);
    if (names === before) return;
    if (before === '') full = Math.min(size, items.length);
    before = names;
    yield { items, more: items.length >= size };
    if (paging.kind === 'limit' || items.length === 0 || items.length < full) return;
  }
}

async function* linkedPages(
  paging: Paging & { kind: 'cursor' | 'links' },
  input: Input,
  fetchPage: FetchPage,
): AsyncGenerator<Page> {
  const sized = paging.kind === 'cursor' ? { ...input, [paging.size]: input[paging.size] ?? paging.maxSize } : input;
  const seen = new Set<string>();
  const since = readSince(paging, input);
  let answer = await fetchPage(sized);
  for (let direction = chooseDirection(paging, input, answer.data); ; ) {
    const all = itemsIn(paging.items, answer.data);
    const items = all.slice(0, direction === 'older' ? countSince(all, since) : all.length);
    const next = items.length < all.length ? undefined : findNext(paging, direction, answer.data);
    yield { items, more: next !== undefined };
    if (next === undefined) return;
    const place = `${next.kind} ${next.text}`;
    if (seen.has(place)) throw repeated(place);
    seen.add(place);
    answer = await fetchNext(paging, next, sized, fetchPage);
  }
}

/**
 * The page that a link or cursor leads to. A link to another origin, as from a service behind a gateway, is not followed: its cursor is
 * requested at the base URL. Errors: those of the call; `redirect` for such a link without a cursor.
 */
export async function fetchNext<T>(
  paging: Paging & { kind: 'cursor' | 'links' },
  next: Next,
  input: Input,
  fetchPage: (input: Input, link?: string) => Promise<T>,
): Promise<T> {
  if (next.kind === 'cursor') return fetchPage({ ...input, [next.input]: next.text });
  try {
    return await fetchPage(input, next.text);
  } catch (thrown) {
    const leadsAway = thrown instanceof SotraError && thrown.code === 'redirect' && thrown.outcome === 'unsent';
    if (!leadsAway || next.cursor === undefined || paging.kind !== 'links') throw thrown;
    return fetchPage({
      ...input,
      [paging.newer]: undefined,
      [paging.older]: undefined,
      [paging[next.direction]]: next.cursor,
    });
  }
}

export type Next = { direction: 'older' | 'newer'; text: string } & (
  | { kind: 'link'; cursor: string | undefined }
  | { kind: 'cursor'; input: string }
);

/** A time (not a cursor) since which items are wanted, and the item field to compare with it. */
interface TimeBound {
  atMs: number;
  field: string;
}

function readSince(paging: Paging, input: Input): TimeBound | undefined {
  if (paging.kind !== 'links') return undefined;
  const atMs = parseTime(String(input[paging.newer]));
  return atMs === undefined ? undefined : { atMs, field: paging.atSec };
}

/** The number of items, newest first, since that time. */
function countSince(items: readonly unknown[], since: TimeBound | undefined): number {
  if (since === undefined) return items.length;
  const end = items.findIndex((item) => toUnixSec(Number((item as Input | null)?.[since.field])) * 1000 <= since.atMs);
  return end === -1 ? items.length : end;
}

/** The direction of a walk. Items since a time may come as the newest of them: then there is nothing newer, and the rest is older. */
function chooseDirection(
  paging: Paging & { kind: 'cursor' | 'links' },
  input: Input,
  data: unknown,
): 'older' | 'newer' {
  if (paging.kind === 'cursor' || input[paging.newer] === undefined) return 'older';
  return readSince(paging, input) !== undefined && findNext(paging, 'newer', data) === undefined ? 'older' : 'newer';
}

/** The next page; `undefined` at the end (null, empty or absent). */
export function findNext(
  paging: Paging & { kind: 'cursor' | 'links' },
  direction: 'older' | 'newer',
  data: unknown,
): Next | undefined {
  const answer = data as Record<string, unknown> | null;
  if (paging.kind === 'cursor') {
    const text = filledText(answer?.[paging.next]);
    return text === undefined ? undefined : { kind: 'cursor', direction: 'older', text, input: paging.cursor };
  }
  const pagination = answer?.['pagination'] as Record<string, unknown> | null | undefined;
  const cursor = filledText(pagination?.[`${direction}Cursor`]);
  const link = filledText(pagination?.[`${direction}ItemsURL`]);
  if (link !== undefined) return { kind: 'link', direction, text: link, cursor };
  return cursor === undefined ? undefined : { kind: 'cursor', direction, text: cursor, input: paging[direction] };
}

/** A cursor or link; a cursor that is a number against the interface, too: the list would end at it. */
function filledText(value: unknown): string | undefined {
  return typeof value === 'number' || (typeof value === 'string' && value !== '') ? String(value) : undefined;
}

/** How many items are shown and how to get the rest, if the answer may be incomplete. */
export function moreHint(paging: Paging, input: Input, data: unknown): string | undefined {
  const next = nextInput(paging, input, data);
  if (next === undefined) return undefined;
  const count = ('items' in paging ? itemsIn(paging.items, data) : listItems(data)).length;
  if (paging.kind === 'limit') {
    const max = paging.maxSize === Number.MAX_SAFE_INTEGER ? '' : ` (max ${paging.maxSize})`;
    return `Showing ${count}; more with --limit${max}`;
  }
  const [[key, value] = []] = Object.entries(next);
  const flag =
    paging.kind === 'page' ? '--page' : 'newer' in paging && key === paging.newer ? '--newer-than' : '--cursor';
  const byHand = value === undefined ? '' : `${shellLine(flagWords(flag, String(value)))} or `;
  return `Showing ${count}; more with ${byHand}--all`;
}

/** The inputs for the page after an answer; empty if no input leads there, `undefined` if the answer is complete. */
export function nextInput(paging: Paging, input: Input, data: unknown): Input | undefined {
  if (paging.kind === 'cursor' || paging.kind === 'links') {
    const next = findNext(paging, chooseDirection(paging, input, data), data);
    if (next === undefined) return undefined;
    if (next.kind === 'cursor') return { [next.input]: next.text };
    return next.cursor === undefined || paging.kind === 'cursor' ? {} : { [paging[next.direction]]: next.cursor };
  }
  const count = listItems(data).length;
  if (count === 0 || count < Number(input[paging.size] ?? paging.defaultSize)) return undefined;
  if (paging.kind === 'page') return { [paging.page]: Number(input[paging.page] ?? 1) + 1 };
  return count >= paging.maxSize ? undefined : { [paging.size]: Math.min(2 * count, paging.maxSize) };
}

function itemsIn(key: string, data: unknown): readonly unknown[] {
  return listItems((data as Record<string, unknown> | null)?.[key]);
}

/** Identifies an item: a service that ignores the page number sends the same items again, perhaps with other figures. */
export function identifyItem(item: unknown): string {
  const { itemId, id } = (item ?? {}) as Record<string, unknown>;
  return String(itemId ?? id ?? JSON.stringify(item));
}

/** The items of an answer: itself, or the first list that it holds. */
export function listItems(data: unknown): readonly unknown[] {
  if (Array.isArray(data)) return data;
  const key = listKey(data);
  return key === undefined ? [] : itemsIn(key, data);
}

/** The key of the first list that an answer holds; `undefined` for a list itself and without one. */
export function listKey(data: unknown): string | undefined {
  return isObject(data) ? Object.keys(data).find((key) => Array.isArray(data[key])) : undefined;
}

function repeated(what: string): SotraError {
  return new SotraError('contract', `the service returned ${what} twice; stopped to avoid a loop`, {
    hint: 'The list is incomplete. Request the pages one by one, or try again later.',
  });
}
