import { column, nameColumn } from '../../output/columns.ts';
import { formatAge, formatCount, formatTime } from '../../output/format.ts';
import type { CellText, View } from '../../output/view.ts';

export interface Board {
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
export function compareBoards(before: Board | undefined, now: Board): BoardDiff {
  if (before === undefined) return { before: null, now: now.shownAt, depth: null, unchanged: 0, changes: [] };
  const depth = Math.min(findDepth(before), findDepth(now));
  const [placesBefore, placesNow] = [listPlaces(before), listPlaces(now)];
  const within = (rank: number | null) => rank !== null && rank <= depth;
  const traders = [...now.traders, ...before.traders.filter(({ profileId }) => !placesNow.has(profileId))];
  const all = traders
    .map((trader) => makeChange(trader, placesBefore.get(trader.profileId), placesNow.get(trader.profileId), within))
    .filter((change) => within(change.rank) || within(change.rankBefore));
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
function findDepth({ traders, limit }: Board): number {
  return traders.length < limit ? Number.POSITIVE_INFINITY : traders.length;
}

function listPlaces({ traders }: Board): Map<string, Place> {
  return new Map(traders.map(({ profileId, pnlUsd }, index) => [profileId, { rank: index + 1, pnlUsd }]));
}

function makeChange(
  { profileId, name, address }: Board['traders'][number],
  before: Place | undefined,
  now: Place | undefined,
  within: (rank: number | null) => boolean,
): BoardChange {
  const [rank, rankBefore] = [now?.rank ?? null, before?.rank ?? null];
  const [pnlUsd, pnlBeforeUsd] = [now?.pnlUsd ?? null, before?.pnlUsd ?? null];
  const places = rank !== null && rankBefore !== null ? rankBefore - rank : null;
  const stayed = within(rank) && within(rankBefore);
  return {
    change: stayed ? chooseMove(places ?? 0) : within(rank) ? 'entered' : 'left',
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

function chooseMove(places: number): 'up' | 'down' | 'pnl' {
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
  notes: (answer) => [summary(answer)],
};

function changeText({ change, places }: BoardChange): CellText {
  if (change === 'entered') return { text: 'entered', tone: 'gain' };
  if (change === 'left') return { text: 'left', tone: 'loss' };
  if (change === 'pnl') return { text: 'same place', tone: 'muted' };
  return { text: `${change} ${Math.abs(places ?? 0)}`, tone: change === 'up' ? 'gain' : 'loss' };
}

function summary({ before, now, depth, unchanged, changes }: BoardDiff): string {
  if (before === null) return 'This is the first board of these filters in the history: the next is compared with it.';
  const count = (...kinds: string[]) => formatCount(changes.filter(({ change }) => kinds.includes(change)).length);
  const [beforeSec, nowSec] = [Date.parse(before) / 1000, Date.parse(now) / 1000];
  const over = depth === null ? '' : `, over the first ${formatCount(depth)} places`;
  return (
    `Since ${formatTime(beforeSec)} (${formatAge(beforeSec, nowSec)} ago)${over}: ${count('entered')} entered, ` +
    `${count('left')} left, ${count('up', 'down')} moved, ${count('pnl')} kept their place with other PnL, ${formatCount(unchanged)} unchanged.`
  );
}
