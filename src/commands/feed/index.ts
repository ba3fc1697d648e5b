import type { Card, FeedAnswer } from '../../api/answers.ts';
import { hourMs, parseDuration, parseTime, toUnixSec } from '../../api/duration.ts';
import type { AnswerOf, Endpoint, InputOf, Params } from '../../api/endpoint.ts';
import * as endpoints from '../../api/feed.ts';
import { defined } from '../../api/json.ts';
import { fetchNext, findNext } from '../../client/paginate.ts';
import { computeBackoff, policies } from '../../client/retry.ts';
import type { Context } from '../../context.ts';
import { type ErrorCode, inputError, SotraError, toSotraError, usageError, writeMessage } from '../../errors.ts';
import { column } from '../../lib/output/columns.ts';
import { counted, formatUsd } from '../../lib/output/format.ts';
import { cardColumns } from '../../lib/output/trade-cards.ts';
import type { Column, View } from '../../lib/output/view.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand } from '../endpoint-command.ts';
import { option } from '../params.ts';

export function setUp(feed: Command): void {
  addCards(feed, 'actor', endpoints.actor);
  addCards(feed, 'home', endpoints.home);
}

const params = {
  cursor: option.text('olderCursor of the previous page; the same as --older-than', {
    conflicts: ['olderThan', 'newerThan'],
  }),
  watch: option.parsed(
    'poll this often, such as 5s, and print new cards; ends with Ctrl-C or --max',
    readInterval,
    'must be a time from 100ms to 1h, such as 5s',
    { valueName: 'duration', conflicts: ['olderThan', 'cursor', 'all'] },
  ),
};

function readInterval(typed: string): number | undefined {
  const ms = parseDuration(typed) ?? 0;
  return ms >= 100 && ms <= hourMs ? ms : undefined;
}

type Typed = InputOf<typeof params> & {
  olderThan?: string;
  newerThan?: string;
  all?: boolean;
  max?: number;
};

const watchHelp =
  'With --watch, new cards are printed oldest first, starting now or at --newer-than <time>. ' +
  'Network failures, 429 and 5xx are retried.';

/** A feed, with `--cursor` and `--watch`. */
function addCards(feed: Command, name: string, endpoint: typeof endpoints.actor | typeof endpoints.home): void {
  addEndpointCommand(feed, name, endpoint as Endpoint<string, Params, AnswerOf<typeof endpoint>>, {
    view: cards,
    params,
    description: `${endpoint.description} ${watchHelp}`,
    prepare: makeInput,
    watch: async (typed: Typed, input, context) => {
      if (typed.watch === undefined) return undefined;
      return watchFeed({ endpoint, input, fromMs: readStart(typed), everyMs: typed.watch, max: typed.max, context });
    },
  }).shares('showNsfw');
}

/** Errors: `usage` for what is not a place in the feed. */
function makeInput(typed: Typed): Record<string, unknown> {
  if (typed.watch !== undefined) {
    if (typed.newerThan !== undefined && readStart(typed) === undefined)
      throw usageError(
        `--newer-than ${typed.newerThan}: --watch starts at a time, not at a cursor`,
        'Give a time such as 2026-07-03T12:00:00Z.',
      );
    return { ...typed, newerThan: undefined };
  }
  return {
    ...typed,
    ...defined({
      olderThan: typed.cursor ?? readPlace('olderThan', typed.olderThan),
      newerThan: readPlace('newerThan', typed.newerThan),
    }),
  };
}

/** A cursor as it is, a time with its zone. Errors: `usage` for what looks like a time and is none. */
function readPlace(key: 'olderThan' | 'newerThan', text: string | undefined): string | undefined {
  if (text === undefined || !/^(\d+$|\d{4}-\d\d)/.test(text)) return text;
  const atMs = parseTime(text);
  if (atMs === undefined)
    throw inputError((input) => ({
      message: `${input(key)} ${text}: not a time`,
      hint: 'Write 2026-07-03T12:00:00Z, Unix seconds (10 digits) or Unix milliseconds (13 digits).',
    }));
  const saysZone = /^\d{4}-\d\d-\d\d(T.*(Z|[+-]\d\d:\d\d))?$/.test(text);
  return saysZone ? text : new Date(atMs).toISOString();
}

function readStart({ newerThan }: Typed): number | undefined {
  return newerThan === undefined ? undefined : parseTime(newerThan);
}

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

/** New cards of a feed, oldest first, until there are `max`. Errors: `interrupted`, and those of the call that are not retried. */
async function* watchFeed(watch: Watch): AsyncGenerator<readonly Card[]> {
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
      const next = findNext(endpoints.paging, 'older', page);
      if (next === undefined || links.has(next.text)) break;
      links.add(next.text);
      page = (await fetchNext(endpoints.paging, next, input, fetchPage)).data as FeedAnswer;
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

/** 0 for a card without a time, against the interface. */
function readLatestSec(card: Card): number {
  return toUnixSec(card.cardLatestTradeAt ?? card.timestamp) || 0;
}

/** Differs for the same card after each of its trades. */
function makeKey(card: Card): string {
  return `${card.itemId} ${readLatestSec(card)} ${card.transactionHash ?? ''}`;
}

const latestHelp = 'the latest trade: buy or sell; tables add its value and whether the service recommends the card';
const forYouHelp = 'why the service recommends the card, with a score; needs --include-for-you';

const latestColumns: readonly Column<Card>[] = [
  column.text('latest', 'Latest', latestHelp, (card) => findLatest(card)?.direction, { show: sayTrade }),
  column.usd('latestUsd', 'Latest USD', 'value of the latest trade, in USD', (card) => findLatest(card)?.usdCost, {
    extra: true,
  }),
  column.text('forYou', 'For you', forYouHelp, ({ forYouTrade }) => forYouTrade && formatTags(forYouTrade.alphaTags), {
    extra: true,
  }),
];

const firstColumns = ['lastTradeAt', 'trader', 'token'];
const first = firstColumns.flatMap((key) => cardColumns.filter((column) => column.key === key));
const others = cardColumns.filter((column) => !firstColumns.includes(column.key));

const cards: View<FeedAnswer, Card> = {
  layout: 'table',
  rows: (answer) => answer.items,
  columns: [...first.map(({ drop: _, ...column }) => column), ...latestColumns, ...others],
  empty: 'No cards in this feed. Perps need --chains hyperliquid or --chains all.',
};

function findLatest({ metadata }: Card): Card['metadata']['trades'][number] | undefined {
  return metadata.trades[0];
}

function sayTrade(card: Card): string {
  const trade = findLatest(card);
  const forYou = card.forYouTrade === undefined ? '' : ', for you';
  return trade === undefined ? '–' : `${trade.direction} ${formatUsd(trade.usdCost)}${forYou}`;
}

function formatTags(tags: Readonly<Record<string, number>> | undefined): string {
  return Object.entries(tags ?? {})
    .map(([tag, score]) => `${tag} ${score.toFixed(1)}`)
    .join(', ');
}
