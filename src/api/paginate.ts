import { SotraError } from '../errors.ts';
import type { Answer } from './client.ts';
import type { Paging } from './endpoint.ts';

type Input = Readonly<Record<string, unknown>>;

/** Asks for a page: with the input as it is, or at a link of the service. */
export type AskPage = (input: Input, link?: string) => Promise<Answer>;

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
 * The items of all pages, in the service's order, a batch a page; one page is held at a time. Errors: those of the call; `contract` when
 * a page, cursor or link comes a second time; `redirect` for a link to another origin.
 */
export async function* walkPages({ paging, input, ask, max, onCut }: Walk): AsyncGenerator<readonly unknown[]> {
  let left = max ?? Number.POSITIVE_INFINITY;
  for await (const { items, more } of pagesOf(paging, input, ask)) {
    yield items.length > left ? items.slice(0, left) : items;
    if (items.length > left || (items.length === left && more)) onCut();
    left -= items.length;
    if (left <= 0) return;
  }
}

interface Page {
  items: readonly unknown[];
  more: boolean;
}

async function* pagesOf(paging: Paging, input: Input, ask: AskPage): AsyncGenerator<Page> {
  if (paging.kind === 'limit') {
    const size = Number(input[paging.size] ?? paging.maxSize);
    const items = listOf((await ask({ ...input, [paging.size]: size })).data);
    yield { items, more: items.length >= size };
  } else if (paging.kind === 'page') yield* numberedPages(paging, input, ask);
  else yield* linkedPages(paging, input, ask);
}

async function* numberedPages(paging: Paging & { kind: 'page' }, input: Input, ask: AskPage): AsyncGenerator<Page> {
  const size = Number(input[paging.size] ?? paging.maxSize);
  let before = '';
  for (let page = Number(input[paging.page] ?? 1); ; page += 1) {
    const { data, text } = await ask({ ...input, [paging.size]: size, [paging.page]: page });
    const items = listOf(data);
    if (items.length > 0 && text === before) throw repeated(`page ${page}`);
    before = text;
    yield { items, more: items.length >= size };
    if (items.length < size) return;
  }
}

async function* linkedPages(
  paging: Paging & { kind: 'cursor' | 'links' },
  input: Input,
  ask: AskPage,
): AsyncGenerator<Page> {
  const sized = paging.kind === 'cursor' ? { ...input, [paging.size]: input[paging.size] ?? paging.maxSize } : input;
  const seen = new Set<string>();
  let answer = await ask(sized);
  for (;;) {
    const items = itemsIn(paging.items, answer.data);
    const next = nextOf(paging, input, answer.data);
    yield { items, more: next !== undefined };
    if (next === undefined) return;
    if (seen.has(next)) throw repeated(paging.kind === 'cursor' ? `cursor ${next}` : `link ${next}`);
    seen.add(next);
    answer = await (paging.kind === 'cursor' ? ask({ ...sized, [paging.cursor]: next }) : ask(input, next));
  }
}

/** The cursor or link to the next page; `undefined` at the end (null, empty or absent). Never throws. */
function nextOf(paging: Paging & { kind: 'cursor' | 'links' }, input: Input, data: unknown): string | undefined {
  const answer = data as Record<string, unknown> | null;
  const pagination = answer?.['pagination'] as Record<string, unknown> | null | undefined;
  const next =
    paging.kind === 'cursor'
      ? answer?.[paging.next]
      : pagination?.[input[paging.newer] === undefined ? 'olderItemsURL' : 'newerItemsURL'];
  return typeof next === 'string' && next !== '' ? next : undefined;
}

/** One sentence that says how to get the rest, where an answer may not be all there is; `undefined` where it is. Never throws. */
export function moreHint(paging: Paging, input: Input, data: unknown): string | undefined {
  if (paging.kind === 'cursor' || paging.kind === 'links') {
    const next = nextOf(paging, input, data);
    if (next === undefined) return undefined;
    const byHand = paging.kind === 'cursor' ? `--cursor ${next} gives the next page; ` : '';
    return `There is more: ${byHand}--all walks to the end.`;
  }
  const count = listOf(data).length;
  if (count === 0 || count < Number(input[paging.size] ?? paging.defaultSize)) return undefined;
  if (paging.kind === 'page')
    return `There may be more: --page ${Number(input[paging.page] ?? 1) + 1} gives the next page; --all walks to the end.`;
  return count >= paging.maxSize ? undefined : `There may be more: --limit takes up to ${paging.maxSize}.`;
}

function itemsIn(key: string, data: unknown): readonly unknown[] {
  return listOf((data as Record<string, unknown> | null)?.[key]);
}

/** The list an answer is, or the first list it holds; empty where there is none. */
function listOf(data: unknown): readonly unknown[] {
  if (Array.isArray(data)) return data;
  const held = typeof data === 'object' && data !== null ? Object.values(data).find(Array.isArray) : undefined;
  return held ?? [];
}

function repeated(what: string): SotraError {
  return new SotraError('contract', `the service gave ${what} a second time: stopped, so as not to walk in a circle`, {
    hint: 'What was printed so far is not all there is. Walk by hand, or try again later.',
  });
}
