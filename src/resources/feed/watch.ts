import type { Context } from '../../context.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { type ErrorCode, SotraError, toSotraError } from '../../errors.ts';
import { parseTime } from '../../model/duration.ts';
import { safeText } from '../../output/safe-text.ts';
import type { FeedAnswer } from './endpoints.ts';
import { type WatchFile, type WatchPlace, watchFile } from './watch-place.ts';
import { latestSec, type Poll, pollFeed, seenKey } from './watch-poll.ts';

export interface Watch {
  endpoint: Endpoint;
  input: Readonly<Record<string, unknown>>;
  everyMs: number;
  /** Stop after so many cards. */
  max: number | undefined;
  context: Context;
}

const longestPauseMs = 60_000;
/** How far back a poll asks again for what the service may have noted late. */
const overlapSec = 3;
const passing: readonly ErrorCode[] = ['network', 'timeout', 'server-error', 'rate-limited'];

/**
 * New cards of a feed as they come, oldest first, a batch a page; ends only with `max`. The place is kept on disk after each batch that
 * was printed. Network failures, 429 and 5xx are waited out (with `--retries` so often), and where the service has answered before, a proxy's page or half an answer
 * in its place. Says on stderr where a gap cannot be ruled out. Errors: `interrupted`, `locked` where another process watches from the
 * same place, `local-file`, and those of the call that do not pass: JSON of another shape is the service's own word.
 */
export async function* watchFeed(watch: Watch): AsyncGenerator<readonly unknown[]> {
  const { context } = watch;
  const tell: Tell = (text: string) =>
    context.options.quiet ? Promise.resolve() : context.world.io.err.write(`${safeText(text)}\n`);
  const file = await watchFile(context, watch.endpoint.id, watch.input);
  const release = context.options.preview ? () => undefined : file.lock();
  try {
    yield* watchFrom(watch, file, tell);
  } finally {
    release();
  }
}

type Tell = (text: string) => Promise<void>;

async function* watchFrom(watch: Watch, file: WatchFile, tell: Tell): AsyncGenerator<readonly unknown[]> {
  const { context, everyMs, max = Number.POSITIVE_INFINITY } = watch;
  const { signal } = context.world;
  let place = await whereToBegin(watch, file, tell);
  let [shown, failures, failed] = [0, 0, 0];
  const { retries = Number.POSITIVE_INFINITY } = context.options;
  // A page that is no JSON at the very first is a wrong address, which does not pass.
  let hasAnswered = place !== undefined && watch.input['newerThan'] === undefined;
  for (;;) {
    try {
      if (place === undefined) {
        place = await joinNow(watch);
        hasAnswered = true;
        await tell(`Watching from ${sayPlace(place)} on. Ctrl-C stops; the same command goes on from there.`);
        file.write(place);
      }
      for await (const poll of pollFeed(watch, place, { overlapSec, tell })) {
        hasAnswered = true;
        const batch = poll.fresh.slice(0, max - shown);
        if (batch.length > 0) yield batch;
        shown += batch.length;
        place = advance(place, poll, batch, file);
        if (shown >= max)
          return void (await tell(`Stopped after ${cardCount(shown)} (--max); the same command goes on there.`));
        if (signal.aborted) break;
      }
      if (failures > 0) await tell('The service answers again.');
      [failures, failed] = [0, 0];
    } catch (thrown) {
      const error = toSotraError(thrown);
      const passes = passing.includes(error.code) || (hasAnswered && error.code === 'bad-answer');
      if (signal.aborted || !passes) throw signal.aborted ? stopped(shown, place) : thrown;
      failures += 1;
      failed += error.attempts ?? 1;
      if (failed > retries) throw thrown;
      if (failures === 1) await tell(`${error.message}; waiting for it to pass.`);
    }
    const pauseMs = Math.min(Math.max(longestPauseMs, everyMs), everyMs * 2 ** Math.min(failures, 10));
    await context.world.sleep(pauseMs, signal).catch(() => undefined);
    if (signal.aborted) throw stopped(shown, place);
  }
}

/** Where `--newer-than` or the last run of this command says to begin; `undefined`: at the newest card. */
async function whereToBegin({ input }: Watch, file: WatchFile, tell: Tell): Promise<WatchPlace | undefined> {
  const from = input['newerThan'];
  if (typeof from === 'string') {
    const atMs = parseTime(from);
    if (atMs === undefined || Math.abs(atMs) > 8.64e15) return { cursor: from, sinceSec: null, seen: {} };
    return { cursor: null, sinceSec: Math.floor(atMs / 1000) + 1, seen: {} };
  }
  const kept = file.read();
  if (kept === undefined) return undefined;
  if ('damaged' in kept) {
    await tell(
      `warning: the place kept in ${file.path} cannot be read: ${kept.damaged}. It is now ${file.setAside()}. There may be a gap before now.`,
    );
    return undefined;
  }
  await tell(`Going on from ${sayPlace(kept)}.`);
  return kept;
}

/** The place behind what the feed shows now: nothing of it is new. */
async function joinNow({ endpoint, input, context }: Watch): Promise<WatchPlace> {
  const { data } = await context.call(endpoint, input as never);
  const cards = (data as FeedAnswer).items;
  const seconds = cards.map(latestSec);
  if (seconds.length === 0) return { cursor: null, sinceSec: 0, seen: {} };
  // No further back than the page reaches: what lies below it was not seen, and is not new.
  const { pagination } = data as FeedAnswer;
  const isWhole = !pagination?.olderItemsURL && !pagination?.olderCursor;
  const reachesSec = isWhole ? 0 : Math.min(...seconds) + 1;
  const sinceSec = Math.max(Math.max(...seconds) - overlapSec, reachesSec);
  const recent = cards.filter((card) => latestSec(card) >= sinceSec);
  return { cursor: null, sinceSec, seen: Object.fromEntries(recent.map((card) => [seenKey(card), latestSec(card)])) };
}

/** The place once a batch was printed; kept on disk where it changed. */
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

function stopped(shown: number, place: WatchPlace | undefined): SotraError {
  const from = place === undefined ? 'before the first answer' : `at ${sayPlace(place)}`;
  return new SotraError('interrupted', `stopped ${from}, after ${cardCount(shown)}`, {
    hint: 'The same command goes on there and prints what came meanwhile.',
  });
}

function cardCount(count: number): string {
  return count === 1 ? '1 card' : `${count} cards`;
}

function sayPlace({ cursor, sinceSec, seen }: WatchPlace): string {
  const newest = Math.max(sinceSec ?? 0, ...Object.values(seen));
  if (newest > 0) return `${new Date(newest * 1000).toISOString().slice(0, 19)}Z`;
  return cursor === null ? 'the first card' : `cursor ${cursor}`;
}
