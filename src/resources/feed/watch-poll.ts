import type { Context } from '../../context.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { SotraError } from '../../errors.ts';
import type { Card } from '../../model/position.ts';
import type { FeedAnswer } from './endpoints.ts';
import type { WatchPlace } from './watch-place.ts';

/** One page's share of a poll: cards not shown before, oldest first, and the place once they were. */
export interface Poll {
  fresh: Card[];
  cursor: string | null;
  sinceSec: number | null;
}

interface Polled {
  endpoint: Endpoint;
  input: Readonly<Record<string, unknown>>;
  context: Context;
}

/** Pages that a poll walks back to meet the place; what lies before them is left out, and said. */
const maxPagesBack = 200;

/**
 * What a feed holds beyond a place, oldest first, a batch a page; the last one may be empty. Whether the service answers `newerThan` with
 * the cards next to the place or with the newest ones, both ways from the first page are walked until nothing is left out. Errors:
 * those of the call; a cursor that the service refuses is replaced by the time, and that is said.
 */
export async function* pollFeed(
  polled: Polled,
  place: WatchPlace,
  { overlapSec, tell }: { overlapSec: number; tell: (text: string) => Promise<void> },
): AsyncGenerator<Poll> {
  const { now } = polled.context.world;
  const startedMs = now();
  const isFresh = (card: Card) =>
    place.seen[seenKey(card)] === undefined && (place.sinceSec === null || latestSec(card) >= place.sinceSec);
  const first = await firstPage(polled, place, tell);
  let newestSec = Math.max(...[...first.items, ...Object.values(place.seen)].map(secondOf));
  const done = new Set<string>();
  const take = (items: readonly Card[]) => {
    const fresh = items.filter((card) => isFresh(card) && !done.has(seenKey(card))).reverse();
    for (const card of fresh) done.add(seenKey(card));
    newestSec = Math.max(newestSec, ...items.map(latestSec));
    return fresh;
  };
  const back =
    place.sinceSec !== null && first.items.length > 0 && first.items.every(isFresh)
      ? await pagesBack(polled, first, isFresh, tell)
      : [];
  for (const items of back) yield { fresh: take(items), cursor: place.cursor, sinceSec: place.sinceSec };
  const links = new Set<string>();
  for (let page = first; ; ) {
    const fresh = take(page.items);
    const next = nextOf(page, 'newer');
    // A card that moved up while we walked did so after the walk began: no earlier than the newest one less the time it took.
    const tookSec = Math.ceil((now() - startedMs) / 1000);
    const safeSec = Number.isFinite(newestSec) ? newestSec - tookSec - overlapSec : Number.NEGATIVE_INFINITY;
    const sinceSec = safeSec > (place.sinceSec ?? Number.NEGATIVE_INFINITY) ? safeSec : place.sinceSec;
    const ended = next === undefined || page.items.length === 0 || links.has(next.text);
    const cursor = ended ? (page.pagination?.newerCursor ?? place.cursor) : place.cursor;
    yield { fresh, cursor: cursor === '' ? null : cursor, sinceSec };
    if (ended) return;
    links.add(next.text);
    page = await pageAt(polled, next);
  }
}

/** The second of a card's latest trade. */
export function latestSec(card: Card): number {
  return card.cardLatestTradeAt ?? card.timestamp;
}

/** What tells a card from itself before its latest trade. */
export function seenKey(card: Card): string {
  return `${card.itemId} ${latestSec(card)} ${card.transactionHash ?? ''}`;
}

function secondOf(one: Card | number): number {
  return typeof one === 'number' ? one : latestSec(one);
}

async function firstPage(
  { endpoint, input, context }: Polled,
  { cursor, sinceSec }: WatchPlace,
  tell: (text: string) => Promise<void>,
): Promise<FeedAnswer> {
  const since = sinceSec === null || sinceSec <= 0 ? undefined : `${new Date((sinceSec - 1) * 1000).toISOString()}`;
  const ask = async (newerThan: string | undefined) => {
    const { newerThan: _, ...rest } = input;
    const asked = newerThan === undefined ? rest : { ...rest, newerThan };
    return (await context.call(endpoint, asked as never)).data as FeedAnswer;
  };
  if (cursor === null) return ask(since);
  try {
    return await ask(cursor);
  } catch (thrown) {
    if (!(thrown instanceof SotraError) || thrown.code !== 'bad-request' || since === undefined) throw thrown;
    await tell(
      `warning: the service refuses the place where this watch stopped (${thrown.message}). Going on by time, from ` +
        `${since}: there may be a gap.`,
    );
    return ask(since);
  }
}

/** The pages below the first one down to what was shown before, oldest first. */
async function pagesBack(
  polled: Polled,
  first: FeedAnswer,
  isFresh: (card: Card) => boolean,
  tell: (text: string) => Promise<void>,
): Promise<Card[][]> {
  const pages: Card[][] = [];
  const links = new Set<string>();
  for (let page = first; pages.length < maxPagesBack; ) {
    const next = nextOf(page, 'older');
    if (next === undefined || links.has(next.text)) return pages;
    links.add(next.text);
    page = await pageAt(polled, next);
    pages.unshift(page.items);
    if (page.items.length === 0 || !page.items.every(isFresh)) return pages;
  }
  const oldest = pages[0]?.at(-1);
  const until = oldest === undefined ? '' : ` before ${new Date(latestSec(oldest) * 1000).toISOString()}`;
  await tell(`warning: more came than a watch walks back (${maxPagesBack} pages): there is a gap${until}.`);
  return pages;
}

type Next = { kind: 'link' | 'cursor'; text: string; way: 'older' | 'newer' };

function nextOf({ pagination }: FeedAnswer, way: 'older' | 'newer'): Next | undefined {
  const link = pagination?.[`${way}ItemsURL`];
  if (link) return { kind: 'link', text: link, way };
  const cursor = pagination?.[`${way}Cursor`];
  return cursor ? { kind: 'cursor', text: cursor, way } : undefined;
}

async function pageAt({ endpoint, input, context }: Polled, { kind, text, way }: Next): Promise<FeedAnswer> {
  if (kind === 'link') return (await context.call(endpoint, input as never, text)).data as FeedAnswer;
  const { newerThan: _, ...rest } = input;
  return (await context.call(endpoint, { ...rest, [`${way}Than`]: text } as never)).data as FeedAnswer;
}
