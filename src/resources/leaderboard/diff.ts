import type { Result } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import type { InputOf } from '../../contract/endpoint.ts';
import { decodeRequest } from '../../contract/request.ts';
import { SotraError, usageError } from '../../errors.ts';
import { isLogOff } from '../../log/keep-calls.ts';
import { recallAnswer, recallCalls } from '../../log/recall.ts';
import { leaderboardChains } from '../../model/chain.ts';
import { parseMoment } from '../../model/duration.ts';
import { column, nameColumn } from '../../output/columns.ts';
import { withoutFlagged } from '../../output/flagged.ts';
import { formatAge, formatCount, formatTime } from '../../output/format.ts';
import type { CellText, View } from '../../output/view.ts';
import { type LeaderboardAnswer, list } from './endpoints.ts';

export interface ShownBoard {
  /** ISO time. */
  shownAt: string;
  /** How many traders were requested: fewer is the whole board. */
  limit: number;
  traders: { profileId: string; name: string; address: string | null; pnlUsd: number }[];
}

/** A trader on two boards; ranks count from 1, null: not on the board. PnL in USD, null: unknown. */
interface BoardChange {
  change: 'entered' | 'left' | 'up' | 'down' | 'pnl';
  profileId: string;
  name: string;
  address: string | null;
  rank: number | null;
  rankBefore: number | null;
  /** Places gained, negative for lost; null for who entered or left. */
  places: number | null;
  pnlUsd: number | null;
  pnlBeforeUsd: number | null;
  pnlChangeUsd: number | null;
}

interface BoardDiff {
  /** ISO time; null when it was the first board. */
  before: string | null;
  now: string;
  /** How many places were compared; null: all. */
  depth: number | null;
  unchanged: number;
  changes: BoardChange[];
}

/** Differences that floating point may leave between two sums of the same trades. */
const sameUsd = 0.005;

/**
 * What changed between two boards of the same filters: by current place, then those who left. Boards of different length are compared over
 * the places that both show. Traders with the same place and PnL are only counted.
 */
export function compareBoards(before: ShownBoard | undefined, now: ShownBoard): BoardDiff {
  if (before === undefined) return { before: null, now: now.shownAt, depth: null, unchanged: 0, changes: [] };
  const depth = Math.min(findDepth(before), findDepth(now));
  const [placesBefore, placesNow] = [listPlaces(before), listPlaces(now)];
  const isCompared = (rank: number | null) => rank !== null && rank <= depth;
  const traders = [...now.traders, ...before.traders.filter(({ profileId }) => !placesNow.has(profileId))];
  const all = traders
    .map((trader) =>
      compareTrader(trader, placesBefore.get(trader.profileId), placesNow.get(trader.profileId), isCompared),
    )
    .filter((change) => isCompared(change.rank) || isCompared(change.rankBefore));
  const changes = all.filter(({ change, pnlChangeUsd }) => change !== 'pnl' || Math.abs(pnlChangeUsd ?? 0) > sameUsd);
  const isLeft = ({ change }: BoardChange) => Number(change === 'left');
  return {
    before: before.shownAt,
    now: now.shownAt,
    depth: Number.isFinite(depth) ? depth : null,
    unchanged: all.length - changes.length,
    changes: changes.toSorted((a, b) => isLeft(a) - isLeft(b)),
  };
}

interface Place {
  rank: number;
  pnlUsd: number;
}

/** All places where a board shows everybody. */
function findDepth({ traders, limit }: ShownBoard): number {
  return traders.length < limit ? Number.POSITIVE_INFINITY : traders.length;
}

function listPlaces({ traders }: ShownBoard): Map<string, Place> {
  return new Map(traders.map(({ profileId, pnlUsd }, index) => [profileId, { rank: index + 1, pnlUsd }]));
}

function compareTrader(
  { profileId, name, address }: ShownBoard['traders'][number],
  before: Place | undefined,
  now: Place | undefined,
  within: (rank: number | null) => boolean,
): BoardChange {
  const [rank, rankBefore] = [now?.rank ?? null, before?.rank ?? null];
  const [pnlUsd, pnlBeforeUsd] = [now?.pnlUsd ?? null, before?.pnlUsd ?? null];
  const places = rank !== null && rankBefore !== null ? rankBefore - rank : null;
  const stayed = within(rank) && within(rankBefore);
  return {
    change: stayed ? nameMove(places ?? 0) : within(rank) ? 'entered' : 'left',
    profileId,
    name,
    address,
    rank,
    rankBefore,
    places,
    pnlUsd,
    pnlBeforeUsd,
    pnlChangeUsd: pnlUsd === null || pnlBeforeUsd === null ? null : pnlUsd - pnlBeforeUsd,
  };
}

function nameMove(places: number): 'up' | 'down' | 'pnl' {
  if (places === 0) return 'pnl';
  return places > 0 ? 'up' : 'down';
}

export const diff: View<BoardDiff, BoardChange> = {
  layout: 'table',
  rows: ({ changes }) => changes,
  columns: [
    column.text('change', 'Change', 'entered, left, up, down, or pnl (same place, other PnL)', { show: changeText }),
    column.text('rank', '#', 'place now', { align: 'right' }),
    column.text('rankBefore', 'Was', 'place on the board before', { align: 'right' }),
    nameColumn('Trader', ({ name }) => name),
    column.pnl('pnlUsd', 'PnL', 'realized PnL now, in USD', { drop: 2 }),
    column.pnl('pnlChangeUsd', 'PnL change', 'PnL now less that of the saved board, in USD'),
    column.address('address', 'Address', 'first wallet', { tone: 'muted', drop: 1 }),
    column.pnl('pnlBeforeUsd', 'PnL before', 'realized PnL on the board before, in USD', { extra: true }),
    column.text('places', 'Places', 'places gained, negative for lost', { extra: true }),
    column.text('profileId', 'Profile', 'profile UUID', { extra: true }),
  ],
  notes: (answer) => [describeDiff(answer)],
};

function changeText({ change, places }: BoardChange): CellText {
  if (change === 'entered') return { text: 'entered', tone: 'gain' };
  if (change === 'left') return { text: 'left', tone: 'loss' };
  if (change === 'pnl') return { text: 'same place', tone: 'muted' };
  return { text: `${change} ${Math.abs(places ?? 0)}`, tone: change === 'up' ? 'gain' : 'loss' };
}

function describeDiff({ before, now, depth, unchanged, changes }: BoardDiff): string {
  if (before === null) return 'This is the first board of these filters in the history: the next is compared with it.';
  const countChanges = (...kinds: string[]) =>
    formatCount(changes.filter(({ change }) => kinds.includes(change)).length);
  const [beforeSec, nowSec] = [Date.parse(before) / 1000, Date.parse(now) / 1000];
  const over = depth === null ? '' : `, over the first ${formatCount(depth)} places`;
  return (
    `Since ${formatTime(beforeSec)} (${formatAge(beforeSec, nowSec)} ago)${over}: ${countChanges('entered')} entered, ` +
    `${countChanges('left')} left, ${countChanges('up', 'down')} moved, ${countChanges('pnl')} kept their place with other PnL, ${formatCount(unchanged)} unchanged.`
  );
}

/** The service's default (wire-facts 3.2). */
const defaultLimit = 50;

type Filters = Omit<InputOf<typeof list.params>, 'viewerAddresses'>;

/** What changed since a board of the same service and filters was shown. Errors: `config` where the log is off, `usage`. */
export async function runDiff(
  { since, ...filters }: Filters & { since?: string | undefined },
  context: Context,
): Promise<Result> {
  const targetMs = since === undefined ? undefined : parseSince(since, context.world.now());
  const before = await recallBoard(filters, targetMs, context);
  if (before === undefined && isLogOff(context))
    throw new SotraError('config', 'the history is off: there is no earlier board to compare with', {
      hint: 'Turn it on: sotra history set on, without SOTRA_HISTORY=0 and --no-history.',
    });
  // As many traders as the earlier board, unless --limit says otherwise.
  const input = filters.limit === undefined && before !== undefined ? { ...filters, limit: before.limit } : filters;
  const { data } = await context.call(list, input);
  if (before !== undefined && targetMs !== undefined && Date.parse(before.shownAt) > targetMs)
    context.note(`No board in the history is that old: compared with the oldest one, of ${before.shownAt}.`);
  const now = readBoard(data, input, context.world.now(), context);
  return { kind: 'answer', answer: compareBoards(before, now), view: diff };
}

/** The newest board in the log; with a moment the newest at or before it, else the oldest. */
async function recallBoard(
  filters: Filters,
  targetMs: number | undefined,
  context: Context,
): Promise<ShownBoard | undefined> {
  const { wire } = await context.service();
  let oldest: ShownBoard | undefined;
  for await (const entry of recallCalls(context, { method: 'GET', path: /\/v2\/leaderboard$/ })) {
    const parts = { path: {}, query: new URL(entry.request.url).searchParams, body: undefined };
    const asked = decodeRequest(list, parts, wire);
    const answer = recallAnswer(entry) as LeaderboardAnswer | undefined;
    if (!asked.ok || !Array.isArray(answer?.traders) || describeFilters(asked.input) !== describeFilters(filters))
      continue;
    const atMs = Date.parse(entry.startedDateTime);
    oldest = readBoard(answer, asked.input, atMs, context);
    if (targetMs === undefined || atMs <= targetMs) return oldest;
  }
  return oldest;
}

function readBoard(
  { traders }: LeaderboardAnswer,
  { limit = defaultLimit }: Filters,
  atMs: number,
  { options }: Context,
): ShownBoard {
  return {
    shownAt: new Date(atMs).toISOString(),
    limit,
    traders: traders.map(({ profile, pnl }) => ({
      profileId: profile.id,
      name: (options.showNsfw ? profile : withoutFlagged(profile)).name,
      address: profile.addresses[0] ?? null,
      pnlUsd: pnl.total,
    })),
  };
}

/** The filters with the service's defaults filled in. Source: wire-facts 3.2. */
function describeFilters({ chains, onlyWithComments, timeframe }: Filters): string {
  return JSON.stringify([
    [...new Set(chains ?? leaderboardChains)].sort(),
    onlyWithComments === true,
    timeframe ?? '30d',
  ]);
}

function parseSince(since: string, nowMs: number): number {
  const atMs = parseMoment(since, nowMs, 'ago');
  if (atMs !== undefined) return atMs;
  throw usageError(`--since ${since}: must be a length of time such as 24h or 7d, or a time such as 2026-11-20`);
}
