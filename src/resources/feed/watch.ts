import { createHash } from 'node:crypto';
import { renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { messageOf, SotraError } from '../../errors.ts';
import { readStateFile, replaceFile } from '../../files/durable-file.ts';
import { makeFolder } from '../../files/folder.ts';
import { takeLock } from '../../files/lock.ts';
import { checkedLine, readCheckedLine } from '../../files/log-file.ts';
import { askNext, findNext, type Next } from '../../http/paginate.ts';
import { parseTime } from '../../model/duration.ts';
import type { Card } from '../../model/position.ts';
import { safeText } from '../../model/safe-text.ts';
import { counted } from '../../output/format.ts';
import { createPace } from '../../watch/pace.ts';
import { type FeedAnswer, paging } from './endpoints.ts';

interface Watch {
  endpoint: Endpoint;
  input: Readonly<Record<string, unknown>>;
  everyMs: number;
  max: number | undefined;
  context: Context;
}

/** Each poll asks again for this much: the service may record a trade late. */
const overlapSec = 3;

/**
 * New cards of a feed as they come, oldest first, a batch a page; ends only with `max`. The place is saved after each batch that was
 * printed. Network failures, 429 and 5xx are retried (`--retries` times), and once the service has answered, bodies that are not JSON.
 * Errors: `interrupted`, `locked` where another process watches from the same place, `local-file`, and those of the call that are not retried.
 */
export async function* watchFeed(watch: Watch): AsyncGenerator<readonly unknown[]> {
  const { context } = watch;
  const say: Say = (text: string) =>
    context.options.quiet ? Promise.resolve() : context.world.io.err.write(`${safeText(text)}\n`);
  const file = await watchFile(context, watch.endpoint.id, watch.input);
  const release = context.options.preview ? () => undefined : file.lock();
  try {
    yield* watchFrom(watch, file, say);
  } finally {
    release();
  }
}

type Say = (text: string) => Promise<void>;

async function* watchFrom(watch: Watch, file: WatchFile, say: Say): AsyncGenerator<readonly unknown[]> {
  const { context, everyMs, max = Number.POSITIVE_INFINITY } = watch;
  const { signal } = context.world;
  let place = await startPlace(watch, file, say);
  const pace = createPace(context, everyMs, say);
  let shown = 0;
  // A first answer that is not JSON means a wrong address: not retried.
  let hasAnswered = place !== undefined && watch.input['newerThan'] === undefined;
  for (;;) {
    try {
      if (place === undefined) {
        place = await newestPlace(watch);
        hasAnswered = true;
        await say(`Watching from ${placeText(place)}. Ctrl-C stops; run the same command again to resume.`);
        file.write(place);
      }
      for await (const poll of pollFeed(watch, place, say)) {
        hasAnswered = true;
        const batch = poll.fresh.slice(0, max - shown);
        if (batch.length > 0) yield batch;
        shown += batch.length;
        place = advance(place, poll, batch, file);
        if (shown >= max)
          return void (await say(
            `Stopped after ${counted(shown, 'card')} (--max); run the same command again to resume.`,
          ));
        if (signal.aborted) break;
      }
      await pace.succeeded();
    } catch (thrown) {
      if (signal.aborted) throw interrupted(shown, place);
      await pace.failed(thrown, hasAnswered ? ['bad-answer'] : []);
    }
    await pace.pause();
    if (signal.aborted) throw interrupted(shown, place);
  }
}

/** The start that `--newer-than` or the last run of this command gives; `undefined`: the newest card. */
async function startPlace({ input }: Watch, file: WatchFile, say: Say): Promise<WatchPlace | undefined> {
  const from = input['newerThan'];
  if (typeof from === 'string') {
    const atMs = parseTime(from);
    if (atMs === undefined || Math.abs(atMs) > 8.64e15) return { cursor: from, sinceSec: null, seen: {} };
    return { cursor: null, sinceSec: Math.floor(atMs / 1000) + 1, seen: {} };
  }
  const saved = file.read();
  if (saved === undefined) return undefined;
  if ('damaged' in saved) {
    await say(
      `warning: the watch file ${file.path} is damaged: ${saved.damaged}. It was renamed to ${file.renameDamaged()}. Cards may be missing before now.`,
    );
    return undefined;
  }
  await say(`Resuming from ${placeText(saved)}.`);
  return saved;
}

/** The place after the newest card: nothing that the feed shows now is new. */
async function newestPlace(watch: Watch): Promise<WatchPlace> {
  const { items: cards, pagination } = await pageFrom(watch, {});
  const seconds = cards.map(latestSec);
  if (seconds.length === 0) return { cursor: null, sinceSec: 0, seen: {} };
  // No further back than the page reaches: older cards were not seen, and are not new.
  const isWhole = !pagination?.olderItemsURL && !pagination?.olderCursor;
  const reachesSec = isWhole ? 0 : Math.min(...seconds) + 1;
  const sinceSec = Math.max(Math.max(...seconds) - overlapSec, reachesSec);
  const recent = cards.filter((card) => latestSec(card) >= sinceSec);
  return { cursor: null, sinceSec, seen: Object.fromEntries(recent.map((card) => [seenKey(card), latestSec(card)])) };
}

/** The place after a printed batch; saved when it changed. */
function advance(place: WatchPlace, poll: Poll, batch: Poll['fresh'], file: WatchFile): WatchPlace {
  const complete = batch.length === poll.fresh.length;
  const sinceSec = complete ? poll.sinceSec : place.sinceSec;
  const cursor = complete ? poll.cursor : place.cursor;
  if (batch.length === 0 && sinceSec === place.sinceSec && cursor === place.cursor) return place;
  const seen = { ...place.seen, ...Object.fromEntries(batch.map((card) => [seenKey(card), latestSec(card)])) };
  const recent = Object.entries(seen).filter(([, second]) => sinceSec === null || second >= sinceSec);
  const next = { cursor, sinceSec, seen: Object.fromEntries(recent) };
  file.write(next);
  return next;
}

function interrupted(shown: number, place: WatchPlace | undefined): SotraError {
  const from = place === undefined ? 'before the first answer' : `at ${placeText(place)}`;
  return new SotraError('interrupted', `stopped ${from}, after ${counted(shown, 'card')}`, {
    hint: 'Run the same command again to resume; it prints what came in between.',
  });
}

function placeText({ cursor, sinceSec, seen }: WatchPlace): string {
  const newest = Math.max(sinceSec ?? 0, ...Object.values(seen));
  if (newest > 0) return `${new Date(newest * 1000).toISOString().slice(0, 19)}Z`;
  return cursor === null ? 'the first card' : `cursor ${cursor}`;
}

/** One page of a poll: cards not shown before, oldest first, and the place after them. */
interface Poll {
  fresh: Card[];
  cursor: string | null;
  sinceSec: number | null;
}

/** Older pages that a poll fetches to reach the place; a warning says when there are more. */
const maxPagesBack = 200;

/**
 * The cards of a feed after a place, oldest first, a batch a page; the last one may be empty. Services may answer `newerThan` with the
 * cards next to the place or with the newest ones, so pages are fetched both ways from the first until nothing is missing. A cursor that the
 * service refuses is replaced by the time, with a warning. Errors: those of the call.
 */
async function* pollFeed(watch: Watch, place: WatchPlace, say: Say): AsyncGenerator<Poll> {
  const { now } = watch.context.world;
  const startedMs = now();
  const isFresh = (card: Card) =>
    place.seen[seenKey(card)] === undefined && (place.sinceSec === null || latestSec(card) >= place.sinceSec);
  const first = await firstPage(watch, place, say);
  let newestSec = Math.max(...[...first.items, ...Object.values(place.seen)].map(getSecond));
  const done = new Set<string>();
  const take = (items: readonly Card[]) => {
    const fresh = items.filter((card) => isFresh(card) && !done.has(seenKey(card))).reverse();
    for (const card of fresh) done.add(seenKey(card));
    newestSec = Math.max(newestSec, ...items.map(latestSec));
    return fresh;
  };
  const back =
    place.sinceSec !== null && first.items.length > 0 && first.items.every(isFresh)
      ? await olderPages(watch, first, isFresh, say)
      : [];
  for (const items of back) yield { fresh: take(items), cursor: place.cursor, sinceSec: place.sinceSec };
  const links = new Set<string>();
  for (let page = first; ; ) {
    const fresh = take(page.items);
    const next = findNext(paging, 'newer', page);
    // A card that moved up meanwhile traded after the poll began: no earlier than the newest card less the time it took.
    const tookSec = Math.ceil((now() - startedMs) / 1000);
    const safeSec = Number.isFinite(newestSec) ? newestSec - tookSec - overlapSec : Number.NEGATIVE_INFINITY;
    const sinceSec = safeSec > (place.sinceSec ?? Number.NEGATIVE_INFINITY) ? safeSec : place.sinceSec;
    const ended = next === undefined || page.items.length === 0 || links.has(next.text);
    const cursor = ended ? (page.pagination?.newerCursor ?? place.cursor) : place.cursor;
    yield { fresh, cursor: cursor === '' ? null : cursor, sinceSec };
    if (ended) return;
    links.add(next.text);
    page = await pageAt(watch, next);
  }
}

function latestSec(card: Card): number {
  return card.cardLatestTradeAt ?? card.timestamp;
}

/** Differs for the same card after each of its trades. */
function seenKey(card: Card): string {
  return `${card.itemId} ${latestSec(card)} ${card.transactionHash ?? ''}`;
}

function getSecond(one: Card | number): number {
  return typeof one === 'number' ? one : latestSec(one);
}

async function firstPage(watch: Watch, { cursor, sinceSec }: WatchPlace, say: Say): Promise<FeedAnswer> {
  const since = sinceSec === null || sinceSec <= 0 ? undefined : new Date((sinceSec - 1) * 1000).toISOString();
  const fromTime = () => pageFrom(watch, since === undefined ? {} : { newerThan: since });
  if (cursor === null) return fromTime();
  try {
    return await pageFrom(watch, { newerThan: cursor });
  } catch (thrown) {
    if (!(thrown instanceof SotraError) || thrown.code !== 'bad-request' || since === undefined) throw thrown;
    await say(
      `warning: the service refuses the cursor where this watch stopped (${thrown.message}). Resuming by time, from ` +
        `${since}: cards may be missing.`,
    );
    return fromTime();
  }
}

/** The older pages down to the cards that were shown before, oldest first. */
async function olderPages(
  watch: Watch,
  first: FeedAnswer,
  isFresh: (card: Card) => boolean,
  say: Say,
): Promise<Card[][]> {
  const pages: Card[][] = [];
  const links = new Set<string>();
  for (let page = first; pages.length < maxPagesBack; ) {
    const next = findNext(paging, 'older', page);
    if (next === undefined || links.has(next.text)) return pages;
    links.add(next.text);
    page = await pageAt(watch, next);
    pages.unshift(page.items);
    if (page.items.length === 0 || !page.items.every(isFresh)) return pages;
  }
  const oldest = pages[0]?.at(-1);
  const until = oldest === undefined ? '' : ` before ${new Date(latestSec(oldest) * 1000).toISOString()}`;
  await say(`warning: more cards came than a watch fetches (${maxPagesBack} pages): cards are missing${until}.`);
  return pages;
}

async function pageAt(watch: Watch, next: Next): Promise<FeedAnswer> {
  const { endpoint, input, context } = watch;
  const { data } = await askNext(paging, next, input, (asked, link) => context.call(endpoint, asked as never, link));
  return data as FeedAnswer;
}

/** A page from another place than the one where the watch was to start. */
async function pageFrom({ endpoint, input, context }: Watch, place: Record<string, string>): Promise<FeedAnswer> {
  const { newerThan: _, ...rest } = input;
  return (await context.call(endpoint, { ...rest, ...place } as never)).data as FeedAnswer;
}

/** Unix seconds that the calendar has. */
const moment = z.number().min(-8.64e12).max(8.64e12);

const placeSchema = z.object({
  /** The service's cursor, if it gives one. */
  cursor: z.string().nullable(),
  /** Unix seconds; `null` until a card was seen. */
  sinceSec: moment.nullable(),
  /** What was shown since then, as `seenKey` writes it, with the second of its latest trade. */
  seen: z.record(z.string(), moment),
});

/** Where a watch is. Everything before `sinceSec` was shown; after it, the cards in `seen`. */
export type WatchPlace = z.output<typeof placeSchema>;

export type WatchFile = Awaited<ReturnType<typeof watchFile>>;

const version = 1;

/** The file with the place of a watch: one for each service, key, command and set of filters. Errors: those of the file system. */
export async function watchFile(context: Context, command: string, input: Readonly<Record<string, unknown>>) {
  const { baseUrl, apiKey } = await context.service();
  const filters = Object.fromEntries(
    Object.entries(input)
      .filter(([key, value]) => key !== 'newerThan' && value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const name = createHash('sha256')
    .update(JSON.stringify([baseUrl, apiKey, command, filters]))
    .digest('hex')
    .slice(0, 16);
  const path = join(await context.dataDirectory(), 'watch', `${command.replace('.', '-')}-${name}.json`);
  return {
    path,
    /** Gives back the release. Errors: `locked` naming the process that watches. */
    lock: () => {
      makeFolder(dirname(path));
      return takeLock(`${path}.lock`, `the watch file ${path}`, context.world);
    },
    /** Renames a damaged file and gives its new name. */
    renameDamaged: () => {
      const aside = `${path.replace(/\.json$/, '')}.damaged-${context.world.now()}`;
      renameSync(path, aside);
      return aside;
    },
    read: () => readPlace(path),
    write: (place: WatchPlace) =>
      replaceFile(path, `${checkedLine({ version, command, service: baseUrl, input: filters, ...place })}\n`),
  };
}

/** `damaged` says why it cannot be understood. Errors: `local-file` where a newer sotra wrote it. */
function readPlace(path: string): WatchPlace | { damaged: string } | undefined {
  let stored: object;
  try {
    stored = readCheckedLine(readStateFile(path).trimEnd());
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code !== undefined) throw thrown;
    return { damaged: messageOf(thrown) };
  }
  const { data: place } = placeSchema.safeParse(stored);
  const { version: itsVersion } = stored as { version?: unknown };
  if (Number(itsVersion) > version)
    throw new SotraError('local-file', `${path} was written by a newer sotra (layout ${itsVersion})`, {
      hint: 'Update sotra, or move the file away to start over.',
    });
  return place !== undefined && itsVersion === version ? place : { damaged: 'it is not a watch file' };
}
