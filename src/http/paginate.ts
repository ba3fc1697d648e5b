import type { Paging } from '../contract/endpoint.ts';
import { SotraError } from '../errors.ts';
import { parseTime } from '../model/duration.ts';
import { isObject } from '../model/json.ts';
import type { Answer } from './client.ts';
import { itemBytes, itemLines } from './item-lines.ts';

type Input = Readonly<Record<string, unknown>>;

/** Asks for a page: with the input as it is, or at a link of the service. */
type AskPage = (input: Input, link?: string) => Promise<Answer>;

export interface Walk {
  paging: Paging;
  input: Input;
  ask: AskPage;
  /** Stop after so many items; `undefined` walks to the end. */
  max: number | undefined;
  /** Told when `max` cut the list short. */
  onCut: () => void;
}

/**
 * The items of all pages, in the service's order, a batch a page; two pages are held at most. Errors: those of the call; `contract` when
 * a page, cursor or link comes twice; `redirect` for a link to another origin.
 */
export async function* walkPages({ paging, input, ask, max, onCut }: Walk): AsyncGenerator<readonly unknown[]> {
  let left = max ?? Number.POSITIVE_INFINITY;
  for await (const page of pagesOf(paging, input, ask, left)) {
    const { items, more } = page;
    yield withLines(items.length > left ? items.slice(0, left) : items, page);
    if (items.length > left || (items.length === left && more)) onCut();
    left -= items.length;
    if (left <= 0) return;
  }
}

/** A batch that can also say its items as lines of JSON. */
type LinedBatch = readonly unknown[] & Pick<Page, 'lines' | 'bytes'>;

function withLines(items: readonly unknown[], { lines, bytes }: Pick<Page, 'lines' | 'bytes'>): LinedBatch {
  return Object.defineProperties([...items], {
    lines: { value: () => lines?.(items.length) },
    bytes: { value: () => bytes?.(items.length) },
  });
}

/** Items that `linesOf` gives as these lines of JSON. */
export function linedBatch(
  items: readonly unknown[],
  lines: (count: number) => string | undefined,
): readonly unknown[] {
  return withLines(items, { lines });
}

/** A batch of a walk as one line of JSON an item, exactly as the service sent it; `undefined` for other batches. */
export function linesOf(batch: readonly unknown[]): string | undefined {
  return (batch as LinedBatch).lines?.(batch.length);
}

/** The JSON of each item of a batch, as the service sent it where that is known. */
export function textsOf(batch: readonly unknown[]): readonly string[] {
  const lines = linesOf(batch);
  if (lines === undefined) return batch.map((item) => JSON.stringify(item ?? null));
  return lines.split('\n').slice(0, -1);
}

/**
 * The same as bytes that are safe for a terminal, where that is quicker than text; to be asked for once. `undefined` where it is not.
 */
export function bytesOf(batch: readonly unknown[]): Uint8Array | undefined {
  return (batch as LinedBatch).bytes?.(batch.length);
}

interface Page {
  items: readonly unknown[];
  more: boolean;
  lines?: (count: number) => string | undefined;
  bytes?: (count: number) => Uint8Array | undefined;
}

async function* pagesOf(paging: Paging, input: Input, ask: AskPage, wanted: number): AsyncGenerator<Page> {
  if (paging.kind === 'limit') {
    const size = Number(input[paging.size] ?? paging.maxSize);
    const items = listOf((await ask({ ...input, [paging.size]: size })).data);
    yield { items, more: items.length >= size };
  } else if (paging.kind === 'page') yield* numberedPages(paging, input, ask, wanted);
  else yield* linkedPages(paging, input, ask);
}

async function* numberedPages(
  paging: Paging & { kind: 'page' },
  input: Input,
  ask: AskPage,
  wanted: number,
): AsyncGenerator<Page> {
  const size = Number(input[paging.size] ?? paging.maxSize);
  const askFor = (page: number) => {
    const asked = ask({ ...input, [paging.size]: size, [paging.page]: page });
    // It is asked for while the page before is printed; whether it failed is looked at when its turn comes.
    asked.catch(() => undefined);
    return asked;
  };
  const first = Number(input[paging.page] ?? 1);
  const ahead = [askFor(first)];
  let before: readonly string[] = [];
  let left = wanted;
  try {
    let page = first;
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
      const { data, text, body } = await next;
      const items = listOf(data);
      const names = items.map(nameOf);
      if (names.length > 0 && areTheSame(names, before)) throw repeated(`page ${page}`);
      before = names;
      left -= items.length;
      const more = items.length >= size;
      const depth = page - first < longListPages ? 1 : 2;
      while (more && ahead.length < depth && left > ahead.length * size) ahead.push(askFor(page + ahead.length + 1));
      yield {
        items,
        more,
        lines: (count) => itemLines(text, listKey(data), count),
        bytes: (count) => itemBytes({ text, body, items }, count),
      };
      if (!more) return;
      page += 1;
    }
  } finally {
    // At the end of a long list one page too many is on its way.
    await Promise.allSettled(ahead);
  }
}

/** A list that goes on for so many pages is asked for two pages ahead, so that neither side waits for the other. */
const longListPages = 3;

async function* linkedPages(
  paging: Paging & { kind: 'cursor' | 'links' },
  input: Input,
  ask: AskPage,
): AsyncGenerator<Page> {
  const sized = paging.kind === 'cursor' ? { ...input, [paging.size]: input[paging.size] ?? paging.maxSize } : input;
  const seen = new Set<string>();
  const since = sinceOf(paging, input);
  let answer = await ask(sized);
  for (let way = wayOf(paging, input, answer.data); ; ) {
    const all = itemsIn(paging.items, answer.data);
    const items = all.slice(0, way === 'older' ? countSince(all, since) : all.length);
    const next = items.length < all.length ? undefined : nextOf(paging, way, answer.data);
    const { text } = answer;
    yield { items, more: next !== undefined, lines: (count) => itemLines(text, paging.items, count) };
    if (next === undefined) return;
    const step = `${next.kind} ${next.text}`;
    if (seen.has(step)) throw repeated(step);
    seen.add(step);
    answer = await (next.kind === 'link' ? ask(input, next.text) : ask({ ...sized, [next.input]: next.text }));
  }
}

/** The way to the next page: a link to follow as it is, or the cursor for an input. */
type Next = { way: 'older' | 'newer'; text: string } & (
  | { kind: 'link'; cursor: string | undefined }
  | { kind: 'cursor'; input: string }
);

/** The moment since which items were asked for, where that was a time and not a cursor, and the field of an item that it is compared with. */
interface Since {
  atMs: number;
  field: string;
}

function sinceOf(paging: Paging, input: Input): Since | undefined {
  const atMs = paging.kind === 'links' ? parseTime(String(input[paging.newer] ?? '')) : undefined;
  return paging.kind === 'links' && atMs !== undefined ? { atMs, field: paging.atSec } : undefined;
}

/** How many items, newest first, are of the time asked for. */
function countSince(items: readonly unknown[], since: Since | undefined): number {
  if (since === undefined) return items.length;
  const end = items.findIndex((item) => Number((item as Input | null)?.[since.field]) * 1000 <= since.atMs);
  return end === -1 ? items.length : end;
}

/**
 * Which way a walk goes from its first page. Items since a time come from that time on, or the newest of them first: then there is
 * nothing newer, and the rest is older.
 */
function wayOf(paging: Paging & { kind: 'cursor' | 'links' }, input: Input, data: unknown): 'older' | 'newer' {
  if (paging.kind === 'cursor' || input[paging.newer] === undefined) return 'older';
  return sinceOf(paging, input) !== undefined && nextOf(paging, 'newer', data) === undefined ? 'older' : 'newer';
}

/** The way to the next page; `undefined` at the end (null, empty or absent). A link goes before a cursor. */
function nextOf(
  paging: Paging & { kind: 'cursor' | 'links' },
  way: 'older' | 'newer',
  data: unknown,
): Next | undefined {
  const answer = data as Record<string, unknown> | null;
  if (paging.kind === 'cursor') {
    const text = filled(answer?.[paging.next]);
    return text === undefined ? undefined : { kind: 'cursor', way: 'older', text, input: paging.cursor };
  }
  const pagination = answer?.['pagination'] as Record<string, unknown> | null | undefined;
  const cursor = filled(pagination?.[`${way}Cursor`]);
  const link = filled(pagination?.[`${way}ItemsURL`]);
  if (link !== undefined) return { kind: 'link', way, text: link, cursor };
  return cursor === undefined ? undefined : { kind: 'cursor', way, text: cursor, input: paging[way] };
}

function filled(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** One sentence that says how to get the rest, where an answer may not be all there is; `undefined` where it is. */
export function moreHint(paging: Paging, input: Input, data: unknown): string | undefined {
  if (paging.kind === 'cursor' || paging.kind === 'links') {
    const next = nextOf(paging, wayOf(paging, input, data), data);
    if (next === undefined) return undefined;
    const cursor = next.kind === 'cursor' ? next.text : next.cursor;
    const flag = next.way === 'newer' ? '--newer-than' : '--cursor';
    const byHand = cursor === undefined ? '' : `${flag} ${cursor} gives the next page; `;
    return `There is more: ${byHand}--all fetches the rest.`;
  }
  const count = listOf(data).length;
  if (count === 0 || count < Number(input[paging.size] ?? paging.defaultSize)) return undefined;
  if (paging.kind === 'page')
    return `There may be more: --page ${Number(input[paging.page] ?? 1) + 1} gives the next page; --all fetches the rest.`;
  if (paging.maxSize === Number.POSITIVE_INFINITY) return 'There may be more: a larger --limit shows it.';
  return count >= paging.maxSize ? undefined : `There may be more: --limit takes up to ${paging.maxSize}.`;
}

function itemsIn(key: string, data: unknown): readonly unknown[] {
  return listOf((data as Record<string, unknown> | null)?.[key]);
}

function areTheSame(names: readonly string[], others: readonly string[]): boolean {
  return names.length === others.length && names.every((name, index) => name === others[index]);
}

/** What an item is called: a service that ignores the page number gives the same ones again, with other figures perhaps. */
function nameOf(item: unknown): string {
  const { itemId, id } = (item ?? {}) as Record<string, unknown>;
  return String(itemId ?? id ?? JSON.stringify(item));
}

/** The list an answer is, or the first list it holds; empty where there is none. */
function listOf(data: unknown): readonly unknown[] {
  if (Array.isArray(data)) return data;
  const key = listKey(data);
  return key === undefined ? [] : itemsIn(key, data);
}

/** The key of the first list that an answer holds; `undefined` where it is a list itself or holds none. */
export function listKey(data: unknown): string | undefined {
  return isObject(data) ? Object.keys(data).find((key) => Array.isArray(data[key])) : undefined;
}

function repeated(what: string): SotraError {
  return new SotraError('contract', `the service returned ${what} twice; stopped to avoid a loop`, {
    hint: 'The list is incomplete. Request the pages one by one, or try again later.',
  });
}
