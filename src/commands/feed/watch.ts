import { toUnixSec } from '../../api/duration.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import { paging } from '../../api/feed.ts';
import type { FeedAnswer } from '../../api/feed-answers.ts';
import type { Card } from '../../api/position-answers.ts';
import { fetchNext, findNext } from '../../client/paginate.ts';
import { computeBackoff, policies } from '../../client/retry.ts';
import type { Context } from '../../context.ts';
import { type ErrorCode, SotraError, toSotraError, writeMessage } from '../../errors.ts';
import { counted } from '../../lib/output/format.ts';

interface Watch {
  endpoint: Endpoint;
  input: Readonly<Record<string, unknown>>;
  /** Cards that traded after this are new; default: those that the first answer does not have. */
  fromMs: number | undefined;
  everyMs: number;
  max: number | undefined;
  context: Context;
}

const temporaryErrors: readonly ErrorCode[] = ['network', 'timeout', 'server-error', 'rate-limited'];
/** Each poll reads this much again: the service may record a trade late. */
const overlapSec = 3;
/** Older pages that a poll reads at most. */
const maxPagesBack = 200;

/** New cards of a feed, oldest first, until there are `max`. Errors: `interrupted`, and those of the call that are not retried. */
export async function* watchFeed(watch: Watch): AsyncGenerator<readonly Card[]> {
  const { context, everyMs, max = Number.POSITIVE_INFINITY } = watch;
  const { retries = Number.POSITIVE_INFINITY, maxWaitMs } = context.options;
  const { signal, sleep } = context.io;
  let [shown, failures, attempts, askedMs, hasAnswered] = [0, 0, 0, 0, false];
  const readNewCards = openFeed(watch, async (input, link) => {
    const answer = await context.client.call(watch.endpoint, input as never, { link });
    hasAnswered = true;
    return answer;
  });
  context.stream();
  while (!signal.aborted) {
    try {
      const cards = (await readNewCards()).slice(0, max - shown);
      if (cards.length > 0) yield cards;
      shown += cards.length;
      if (shown >= max) return;
      if (failures > 0) context.note('The service answers again.');
      [failures, attempts, askedMs] = [0, 0, 0];
    } catch (thrown) {
      if (signal.aborted) break;
      const error = toSotraError(thrown);
      failures += 1;
      attempts += error.attempts ?? 1;
      askedMs = (error.retryAfterSec ?? 0) * 1000;
      // A first answer that is not JSON means a wrong address.
      const mayPass = temporaryErrors.includes(error.code) || (hasAnswered && error.code === 'bad-answer');
      if (!mayPass || askedMs > maxWaitMs || attempts > retries)
        throw thrown instanceof SotraError ? Object.assign(thrown, { attempts }) : thrown;
      if (failures === 1) context.note(`${writeMessage(error)}; retrying.`);
    }
    const waitMs = computeBackoff({ ...policies.poll, firstMs: everyMs }, failures + 1);
    await sleep(Math.max(everyMs, waitMs, askedMs), signal).catch(() => undefined);
  }
  throw new SotraError('interrupted', `interrupted after ${counted(shown, 'card')}`);
}

type FetchPage = (input: Watch['input'], link?: string) => Promise<{ data: unknown }>;

/** Each call reads from the newest page back to where the call before began, and gives the new cards, oldest first. */
function openFeed({ input, fromMs, context }: Watch, fetchPage: FetchPage): () => Promise<Card[]> {
  const seen = new Map<string, number>();
  let sinceSec = fromMs === undefined ? undefined : Math.floor(fromMs / 1000) + 1;
  return async () => {
    let page = (await fetchPage(input)).data as FeedAnswer;
    const nextSec = Math.max(0, ...page.items.map(readLatestSec)) - overlapSec;
    const fromSec = sinceSec ?? nextSec;
    const cards = [...page.items];
    const links = new Set<string>();
    while (page.items.length > 0 && page.items.every((card) => readLatestSec(card) >= fromSec)) {
      const next = findNext(paging, 'older', page);
      if (next === undefined || links.has(next.text)) break;
      if (links.size === maxPagesBack) {
        context.warn(`more than ${maxPagesBack} pages of new cards: the oldest of them are not shown`);
        break;
      }
      links.add(next.text);
      page = (await fetchNext(paging, next, input, fetchPage)).data as FeedAnswer;
      cards.push(...page.items);
    }
    const fresh = cards.toReversed().filter((card) => {
      const isNew = readLatestSec(card) >= fromSec && !seen.has(makeKey(card));
      seen.set(makeKey(card), readLatestSec(card));
      return isNew;
    });
    const isFirst = sinceSec === undefined;
    if (isFirst) context.note('Watching for new cards. Ctrl-C stops.');
    sinceSec = Math.max(fromSec, nextSec);
    for (const [key, second] of seen) if (second < sinceSec) seen.delete(key);
    return isFirst ? [] : fresh;
  };
}

function readLatestSec(card: Card): number {
  return toUnixSec(card.cardLatestTradeAt ?? card.timestamp);
}

/** Differs for the same card after each of its trades. */
function makeKey(card: Card): string {
  return `${card.itemId} ${readLatestSec(card)} ${card.transactionHash ?? ''}`;
}
