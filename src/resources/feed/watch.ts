import { createHash } from 'node:crypto';
import { renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { countAttempts, type ErrorCode, readMessage, SotraError, toSotraError } from '../../errors.ts';
import { makeFolder, readStateFile, replaceFile } from '../../files/durable-file.ts';
import { takeLock } from '../../files/lock.ts';
import { checkedLine, readCheckedLine } from '../../files/log-file.ts';
import { askNext, findNext } from '../../http/paginate.ts';
import { computeBackoff, policies } from '../../http/retry.ts';
import { parseTime, toUnixSec } from '../../model/duration.ts';
import type { Card } from '../../model/position.ts';
import { safeText } from '../../model/safe-text.ts';
import { counted } from '../../output/format.ts';
import { type FeedAnswer, paging } from './endpoints.ts';

interface Watch {
  endpoint: Endpoint;
  input: Readonly<Record<string, unknown>>;
  everyMs: number;
  max: number | undefined;
  context: Context;
}

const temporaryErrors: readonly ErrorCode[] = ['network', 'timeout', 'server-error', 'rate-limited'];
/** Each poll asks again for this much: the service may record a trade late. */
const overlapSec = 3;
/** Older pages that a poll fetches to reach the place; a warning says when there are more. */
const maxPagesBack = 200;

/**
 * New cards of a feed as they come, oldest first, a batch a page; ends only with `max`. The place is saved after each batch that was
 * printed. Network failures, 429 and 5xx are retried (`--retries` times), and once the service has answered, bodies that are not JSON.
 * Errors: `interrupted`, `locked` where another process watches from the same place, `local-file`, and those of the call that are not retried.
 */
export async function* watchFeed(watch: Watch): AsyncGenerator<readonly unknown[]> {
  const { context } = watch;
  const say: Say = (text: string) =>
    context.options.quiet ? Promise.resolve() : context.world.io.err.write(`${safeText(text)}\n`);
  const file = await openPlaceFile(context, watch.endpoint.id, watch.input);
  const release = context.options.preview ? () => undefined : file.lock();
  try {
    yield* watchFrom(watch, file, say);
  } finally {
    release();
  }
}

type Say = (text: string) => Promise<void>;

async function* watchFrom(watch: Watch, file: PlaceFile, say: Say): AsyncGenerator<readonly unknown[]> {
  const { context, everyMs, max = Number.POSITIVE_INFINITY } = watch;
  const { signal } = context.world;
  let place = await startPlace(watch, file, say);
  const { retries = Number.POSITIVE_INFINITY, maxWaitMs } = context.options;
  let [shown, failures, attempts, askedMs] = [0, 0, 0, 0];
  // A first answer that is not JSON means a wrong address: not retried.
  let hasAnswered = place !== undefined && watch.input['newerThan'] === undefined;
  for (;;) {
    try {
      if (place === undefined) {
        place = findNewestPlace(await askNewest(watch));
        hasAnswered = true;
        await say(`Watching from ${describePlace(place)}. Ctrl-C stops; run the same command again to resume.`);
        file.write(place);
      }
      const pages = await readNewCards(watch, place, say);
      hasAnswered = true;
      for (const { cards, sinceSec } of pages) {
        const batch = cards.slice(0, max - shown);
        if (batch.length > 0) yield batch;
        shown += batch.length;
        const next = advancePlace(place, batch, batch.length === cards.length ? sinceSec : place.sinceSec);
        if (next !== place) file.write(next);
        place = next;
        if (shown >= max)
          return void (await say(
            `Stopped after ${counted(shown, 'card')} (--max); run the same command again to resume.`,
          ));
        if (signal.aborted) break;
      }
      if (failures > 0) await say('The service answers again.');
      [failures, attempts, askedMs] = [0, 0, 0];
    } catch (thrown) {
      if (signal.aborted) throw stoppedAt(shown, place);
      const error = toSotraError(thrown);
      failures += 1;
      attempts += error.attempts ?? 1;
      askedMs = (error.retryAfterSec ?? 0) * 1000;
      const mayPass = temporaryErrors.includes(error.code) || (hasAnswered && error.code === 'bad-answer');
      if (!mayPass || askedMs > maxWaitMs || attempts > retries) {
        throw thrown instanceof SotraError ? countAttempts(thrown, attempts) : thrown;
      }
      if (failures === 1) await say(`${error.message}; retrying.`);
    }
    const waitMs = computeBackoff({ ...policies.poll, firstMs: everyMs }, failures + 1);
    await context.world.sleep(Math.max(everyMs, waitMs, askedMs), signal).catch(() => undefined);
    if (signal.aborted) throw stoppedAt(shown, place);
  }
}

/** The start that `--newer-than` or the last run of this command gives; `undefined`: the newest card. */
async function startPlace({ input }: Watch, file: PlaceFile, say: Say): Promise<WatchPlace | undefined> {
  const atMs = parseTime(String(input['newerThan']));
  if (atMs !== undefined) return { sinceSec: Math.floor(atMs / 1000) + 1, seen: {} };
  const saved = file.read();
  if (saved === undefined) return undefined;
  if ('damaged' in saved) {
    await say(
      `warning: the watch file ${file.path} is damaged: ${saved.damaged}. It was renamed to ${file.renameDamaged()}. Cards may be missing before now.`,
    );
    return undefined;
  }
  await say(`Resuming from ${describePlace(saved)}.`);
  return saved;
}

/** The place after the newest card: nothing that the feed shows now is new. */
function findNewestPlace({ items: cards, pagination }: FeedAnswer): WatchPlace {
  const seconds = cards.map(readLatestSec);
  if (seconds.length === 0) return { sinceSec: 0, seen: {} };
  // No further back than the page reaches: older cards were not seen, and are not new.
  const isWhole = !pagination?.olderItemsURL && !pagination?.olderCursor;
  const reachesSec = isWhole ? 0 : Math.min(...seconds) + 1;
  return advancePlace({ sinceSec: 0, seen: {} }, cards, Math.max(Math.max(...seconds) - overlapSec, reachesSec));
}

/** The place after printed cards; the same where nothing changed. */
function advancePlace(place: WatchPlace, cards: readonly Card[], sinceSec: number): WatchPlace {
  if (cards.length === 0 && sinceSec === place.sinceSec) return place;
  const seen = { ...place.seen, ...Object.fromEntries(cards.map((card) => [makeKey(card), readLatestSec(card)])) };
  return { sinceSec, seen: Object.fromEntries(Object.entries(seen).filter(([, second]) => second >= sinceSec)) };
}

function stoppedAt(shown: number, place: WatchPlace | undefined): SotraError {
  const from = place === undefined ? 'before the first answer' : `at ${describePlace(place)}`;
  return new SotraError('interrupted', `stopped ${from}, after ${counted(shown, 'card')}`, {
    hint: 'Run the same command again to resume; it prints what came in between.',
  });
}

function describePlace({ sinceSec, seen }: WatchPlace): string {
  const newestSec = Math.max(sinceSec, ...Object.values(seen));
  return newestSec > 0 ? `${new Date(newestSec * 1000).toISOString().slice(0, 19)}Z` : 'the first card';
}

/**
 * The cards of a feed that were not shown, by page, oldest first, with the second that the place has after each page. Reads from the newest page down to the
 * place: what a service answers to a place of its own (`newerThan`) is not stated. Errors: those of the call.
 */
async function readNewCards(watch: Watch, { sinceSec: fromSec, seen }: WatchPlace, say: Say) {
  const { now } = watch.context.world;
  const startedMs = now();
  const all: Card[][] = [];
  const links = new Set<string>();
  for (let page = await askNewest(watch); ; ) {
    all.unshift(page.items);
    const next = findNext(paging, 'older', page);
    const isThere = page.items.length === 0 || page.items.some((card) => readLatestSec(card) < fromSec);
    if (isThere || next === undefined || links.has(next.text)) break;
    if (all.length > maxPagesBack) {
      const oldest = page.items.at(-1);
      const until = oldest === undefined ? '' : ` before ${new Date(readLatestSec(oldest) * 1000).toISOString()}`;
      await say(`warning: more cards came than a watch fetches (${maxPagesBack} pages): cards are missing${until}.`);
      break;
    }
    links.add(next.text);
    const ask = (input: unknown, link?: string) => watch.context.call(watch.endpoint, input as never, link);
    page = (await askNext(paging, next, withoutPlace(watch), ask)).data as FeedAnswer;
  }
  const done = new Set(Object.keys(seen));
  // A card that moved up meanwhile traded after the poll began: no earlier than the newest card less the time it took.
  const tookSec = Math.ceil((now() - startedMs) / 1000);
  let sinceSec = fromSec;
  return all.map((items, index) => {
    const cards = items.toReversed().filter((card) => {
      const isNew = readLatestSec(card) >= fromSec && !done.has(makeKey(card));
      done.add(makeKey(card));
      return isNew;
    });
    const reserveSec = overlapSec + (index === all.length - 1 ? tookSec : 0);
    sinceSec = Math.max(sinceSec, ...items.map((card) => readLatestSec(card) - reserveSec));
    return { cards, sinceSec };
  });
}

function readLatestSec(card: Card): number {
  return toUnixSec(card.cardLatestTradeAt ?? card.timestamp);
}

/** Differs for the same card after each of its trades. */
function makeKey(card: Card): string {
  return `${card.itemId} ${readLatestSec(card)} ${card.transactionHash ?? ''}`;
}

function withoutPlace({ input }: Watch): Record<string, unknown> {
  const { newerThan: _, ...rest } = input;
  return rest;
}

async function askNewest(watch: Watch): Promise<FeedAnswer> {
  return (await watch.context.call(watch.endpoint, withoutPlace(watch) as never)).data as FeedAnswer;
}

/** Unix seconds that the calendar has. */
const moment = z.number().min(-8.64e12).max(8.64e12);

/** Where a watch is: everything before `sinceSec` was shown; after it the cards in `seen`, by key, with the second of their latest trade. */
const placeSchema = z.object({ sinceSec: moment, seen: z.record(z.string(), moment) });

type WatchPlace = z.output<typeof placeSchema>;

type PlaceFile = Awaited<ReturnType<typeof openPlaceFile>>;

const version = 1;

/** The file with the place of a watch: one for each service, key, command and set of filters. Errors: those of the file system. */
async function openPlaceFile(context: Context, command: string, input: Readonly<Record<string, unknown>>) {
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
    return { damaged: readMessage(thrown) };
  }
  const { data: place } = placeSchema.safeParse(stored);
  const { version: itsVersion } = stored as { version?: unknown };
  if (typeof itsVersion === 'number' && itsVersion > version)
    throw new SotraError('local-file', `${path} was written by a newer sotra (layout ${itsVersion})`, {
      hint: 'Update sotra, or move the file away to start over.',
    });
  return place !== undefined && itsVersion === version ? place : { damaged: 'it is not a watch file' };
}
