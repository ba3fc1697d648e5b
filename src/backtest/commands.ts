import { z } from 'zod';
import { type Command, defineCommand, option, type Result } from '../cli/command.ts';
import { allItems, asksChart, chartParam, serviceExitCodes } from '../cli/endpoint-command.ts';
import type { Context } from '../context.ts';
import { local } from '../contract/endpoint.ts';
import { orUndefined, usageError } from '../errors.ts';
import type { Chain } from '../model/chain.ts';
import { dayMs, parseDuration, parseMoment } from '../model/duration.ts';
import { identifierSchema } from '../model/identifier.ts';
import type { Card } from '../model/position.ts';
import { column } from '../output/columns.ts';
import { counted, formatCount, formatPercent, formatTime, formatUsd } from '../output/format.ts';
import { type BarChart, collectItems, type View } from '../output/view.ts';
import { ofToken as tokenComments } from '../resources/comment/endpoints.ts';
import { ofProfile } from '../resources/position/endpoints.ts';
import { type CopiedPosition, copyPositions, makeTokenKey, sumCopies, type TokenTrade } from './copy.ts';

interface CopyBacktest {
  /** As it was resolved: address, UUID or ext: id. */
  trader: string;
  usdPerEntry: number;
  delaySec: number;
  feePercent: number;
  /** ISO time; null: all entries. */
  since: string | null;
  /** Whether the trader has further positions, which were not copied. */
  hasMore: boolean;
  total: ReturnType<typeof sumCopies>;
  positions: CopiedPosition[];
}

const maxPositions = 250;
const defaultPositions = 50;
/** Comments of a token whose swaps give prices of it. */
const commentsAsked = 100;

const pricesHelp =
  "own: the trader's prices; later: of trades nearer in time to the copy; or how many later of how many";

const view: View<CopyBacktest, CopiedPosition> = {
  layout: 'table',
  rows: ({ positions }) => positions,
  columns: [
    column.text('token', 'Token', 'symbol; several tokens may share one', { tone: 'strong', cut: 'end' }),
    column.text('chain', 'Chain', 'chain of the token', { drop: 5 }),
    column.text('side', 'Side', 'long or short on perps, else spot', { drop: 6 }),
    column.time('enteredAt', 'Entered', 'when its first entry was copied', ({ trades }) => trades[0]?.atSec, {
      drop: 1,
      show: ({ trades }) => ({ text: formatTime(trades[0]?.atSec), short: formatTime(trades[0]?.atSec).slice(5, 16) }),
    }),
    column.count('entries', 'Entries', 'entries that were copied', { drop: 4 }),
    column.count('exits', 'Exits', 'exits that were copied', { drop: 4 }),
    column.usd('investedUsd', 'Invested', 'spent on entries, fees included, in USD', { drop: 2 }),
    column.usd('returnedUsd', 'Returned', 'received of exits, fees deducted, in USD', { drop: 3 }),
    column.usd('heldUsd', 'Held', 'value of what is still held at the last price shown, in USD', { drop: 3 }),
    column.time('heldPriceAt', 'Held at price of', 'time of the trade with that price', (copy) => copy.heldPriceAtSec, {
      drop: 7,
    }),
    column.pnl('pnlUsd', 'PnL', 'returned plus held less invested, in USD'),
    column.percent('pnlPercent', 'PnL %', 'the same in percent of what was invested'),
    column.pnl('ownPnlUsd', 'Own PnL', "the trader's own of the position, realized and at the last price, in USD"),
    column.percent('ownPnlPercent', 'Own %', 'the same in percent of the cost of all entries'),
    column.text('prices', 'Prices', pricesHelp, describePrices, { drop: 1 }),
    column.flag('isPartial', 'Partly known', 'whether trades are not shown or tokens were received', { extra: true }),
    column.text('tokenAddress', 'Token address', 'contract, mint or coin', { extra: true, cut: 'middle' }),
    column.text('itemId', 'Position', 'id, for position get', { extra: true, cut: 'middle' }),
  ],
  empty: 'This trader has no entry to copy.',
  notes: describeBacktest,
  chart: drawGains,
};

function describePrices({ entries, exits, laterPrices }: CopiedPosition): string {
  if (laterPrices === 0) return 'own';
  return laterPrices === entries + exits ? 'later' : `${laterPrices} later of ${entries + exits}`;
}

function describeBacktest({ total, positions, hasMore }: CopyBacktest): string[] {
  if (positions.length === 0) return [];
  const gain = (usd: number, percent: number | null) =>
    `${formatUsd(usd, { signed: true })} (${formatPercent(percent, { signed: true })})`;
  const { investedUsd, returnedUsd, heldUsd, laterPrices } = total;
  const copies = total.entries + total.exits;
  const notes = [
    `In all ${formatUsd(investedUsd)} invested in ${counted(positions.length, 'position')}, ${formatUsd(returnedUsd)} returned, ${formatUsd(heldUsd)} ` +
      `still held: PnL ${gain(total.pnlUsd, total.pnlPercent)}. The trader's own: ${gain(total.ownPnlUsd, total.ownPnlPercent)}.`,
    `${counted(copies, 'copied trade')}: ${formatCount(laterPrices)} at the price of a later trade, ${formatCount(copies - laterPrices)} at the ` +
      "trader's own, where no trade that is shown is nearer in time to the copy: there the delay changes nothing.",
  ];
  const heldPrices = positions.flatMap(({ heldPriceAtSec }) => heldPriceAtSec ?? []);
  if (heldPrices.length > 0)
    notes.push(
      `What is held has the price of the last trade shown of its token, the oldest of ${formatTime(Math.min(...heldPrices))}: the price now is not known.`,
    );
  const partial = positions.filter(({ isPartial }) => isPartial).length;
  if (partial > 0)
    notes.push(
      `${counted(partial, 'position')} with tokens that were received or trades that are not shown: the shares sold are partly a guess (isPartial).`,
    );
  if (hasMore) notes.push(`There may be more positions: --limit takes up to ${maxPositions}.`);
  return notes;
}

/** What the exits made, added up by day; at the end with what is held. */
function drawGains(copies: readonly CopiedPosition[]): BarChart {
  const trades = copies.flatMap((copy) => copy.trades).sort((a, b) => a.atSec - b.atSec);
  const byDay = new Map<string, number>();
  let sumUsd = 0;
  for (const { atSec, gainUsd } of trades) {
    if (gainUsd === null) continue;
    sumUsd += gainUsd;
    byDay.set(formatTime(atSec).slice(0, 10), sumUsd);
  }
  if (copies.length > 0) byDay.set('with what is held', sumCopies(copies).pnlUsd);
  return {
    title: 'PnL of the copies, added up by day of exit',
    series: ['PnL'],
    bars: [...byDay].map(([label, totalUsd]) => ({ label, totalUsd, partsUsd: [totalUsd] })),
  };
}

const copy = defineCommand({
  words: ['backtest', 'copy'],
  summary: "What copying each of a trader's entries and exits, some time later, would have made",
  description:
    'Each entry is copied with the same dollars; each exit sells the share that the trader sold. Of the trades shown of a token, by this\n' +
    'trader or with a comment, the one nearest in time to a copy gives its price: a later one, or the copied trade itself (own). Perps are\n' +
    'copied without leverage and are never liquidated. Prices between trades, price impact and gas are not known.',
  params: {
    trader: local(identifierSchema, 'profile UUID, wallet address or ext:<your user id>', { positional: true }),
    usd: local(z.number().min(0.01).max(1_000_000), 'dollars for each entry'),
    delay: local(
      z
        .string()
        .refine((text) => (parseDuration(text) ?? dayMs + 1) <= dayMs, 'must be a time up to 1d, such as 30s or 2m'),
      'how long after the trader: 0s, 30s, 2m',
    ),
    since: option.text('only entries since that long ago (30d), or since an ISO time (default all)'),
    fee: option.checked(
      'taken of each copied trade, such as 0.3% (default 0%)',
      (text) => parsePercent(text) < 100,
      'must be a percentage below 100%, such as 0.3%',
    ),
    limit: option.count(1, maxPositions, `how many positions, latest first (default ${defaultPositions})`),
    chart: chartParam,
  },
  examples: [
    {
      argv: '--sandbox backtest copy 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 --usd 100 --delay 2m',
      says: 'each entry with 100 USD, two minutes late',
    },
    {
      argv: '--sandbox backtest copy 0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2 --usd 100 --delay 1h --since 30d --fee 0.3% --chart',
      says: 'entries of 30 days with a fee, as a chart over time',
    },
  ],
  uses: ['requests'],
  exitCodes: serviceExitCodes,
  view: async () => view,
  run: async (typed, context): Promise<Result> => {
    const { trader, usd, delay, since, fee = '0%', limit = defaultPositions } = typed;
    const picture = asksChart(typed, context.options) ? { chart: true } : {};
    const sinceMs = since === undefined ? undefined : readSince(since, context.world.now());
    const sinceSec = (sinceMs ?? 0) / 1000;
    const [delaySec, feePercent] = [(parseDuration(delay) ?? 0) / 1000, parsePercent(fee)];
    const { cards, hasMore } = await readPositions(trader, limit, sinceSec, context);
    const terms = { usd, delaySec, feeShare: feePercent / 100, sinceSec };
    const positions = copyPositions(cards, await readCommentedTrades(cards, context), terms);
    const answer: CopyBacktest = {
      ...{ trader, usdPerEntry: usd, delaySec, feePercent },
      since: sinceMs === undefined ? null : new Date(sinceMs).toISOString(),
      ...{ hasMore, total: sumCopies(positions), positions },
    };
    return { kind: 'answer', answer, view, ...picture };
  },
});

/** Not a number where the text is no percentage. */
function parsePercent(text: string): number {
  return Number(/^(\d+(?:\.\d+)?)%$/.exec(text)?.[1] ?? Number.NaN);
}

/** Errors: `usage`. */
function readSince(since: string, nowMs: number): number {
  const atMs = parseMoment(since, nowMs, 'ago');
  if (atMs === undefined)
    throw usageError(`--since ${since}: must be a length of time such as 30d, or a time such as 2026-11-20`);
  if (atMs > nowMs) throw usageError(`--since ${since}: is in the future, where nothing was traded`);
  return atMs;
}

/** The positions with a trade since then, latest first. */
async function readPositions(identifier: string, limit: number, sinceSec: number, context: Context) {
  const read = async (status: 'open' | 'closed') => {
    const asked = { status, sort: 'latest', limit: Math.min(limit + 1, 100) } as const;
    const pages = allItems(ofProfile, { identifier, chains: ['all'], ...asked }, context, limit + 1);
    return (await collectItems(pages)) as Card[];
  };
  const [open, closed] = [await read('open'), await read('closed')];
  const readLatest = ({ cardLatestTradeAt, timestamp }: Card) => cardLatestTradeAt ?? timestamp;
  const cards = [...open, ...closed]
    .filter((card) => readLatest(card) >= sinceSec)
    .sort((a, b) => readLatest(b) - readLatest(a));
  return { cards: cards.slice(0, limit), hasMore: cards.length > limit || open.length > limit };
}

/** Trades that others made of these tokens, as far as they are commented on: one call a token. */
async function readCommentedTrades(cards: readonly Card[], context: Context): Promise<TokenTrade[]> {
  const tokens = new Map(cards.map(({ metadata }) => [makeTokenKey(metadata), metadata]));
  const trades: TokenTrade[] = [];
  for (const { tokenChain, tokenAddress } of tokens.values()) {
    const input = { chain: tokenChain as Chain, contractAddress: tokenAddress, limit: commentsAsked };
    const answer = await orUndefined(context.call(tokenComments, input), 'not-found');
    for (const { trade } of answer?.data ?? []) trades.push({ tokenChain, tokenAddress, trade });
  }
  return trades;
}

export const commands: readonly Command[] = [copy];
