import { nameColumn } from '../../output/columns.ts';
import { addressCell, formatAge, formatCount, formatTime, pnl } from '../../output/format.ts';
import type { Shown, View } from '../../output/view.ts';
import type { BoardChange, BoardDiff } from './diff.ts';

/** Who entered, left or moved on a leaderboard, and how their PnL changed. */
export const diff: View<BoardDiff, BoardChange> = {
  layout: 'table',
  rows: (answer) => answer.changes,
  columns: [
    {
      key: 'change',
      header: 'Change',
      help: 'entered, left, up, down, or pnl (same place, other PnL); in tables with the places moved',
      value: ({ change }) => change,
      show: changeText,
    },
    { key: 'rank', header: '#', help: 'place now; empty: not shown', value: ({ rank }) => rank, align: 'right' },
    {
      key: 'rankBefore',
      header: 'Was',
      help: 'place on the saved board; empty: not shown there',
      value: ({ rankBefore }) => rankBefore,
      align: 'right',
    },
    nameColumn('Trader', ({ name }) => name),
    {
      key: 'pnlUsd',
      header: 'PnL',
      help: 'realized PnL now, in USD; empty: not shown',
      value: ({ pnlUsd }) => pnlUsd,
      show: ({ pnlUsd }) => pnl(pnlUsd),
      align: 'right',
      drop: 2,
    },
    {
      key: 'pnlChangeUsd',
      header: 'PnL change',
      help: 'realized PnL now less that of the saved board, in USD',
      value: ({ pnlChangeUsd }) => pnlChangeUsd,
      show: ({ pnlChangeUsd }) => pnl(pnlChangeUsd),
      align: 'right',
    },
    {
      key: 'address',
      header: 'Address',
      help: "the profile's first wallet",
      value: ({ address }) => address,
      show: ({ address }) => addressCell(address, 'muted'),
      drop: 1,
    },
    {
      key: 'pnlBeforeUsd',
      header: 'PnL before',
      help: 'realized PnL on the saved board, in USD',
      value: ({ pnlBeforeUsd }) => pnlBeforeUsd,
      show: ({ pnlBeforeUsd }) => pnl(pnlBeforeUsd),
      align: 'right',
      extra: true,
    },
    {
      key: 'places',
      header: 'Places',
      help: 'places gained, negative for lost; empty for who entered or left',
      value: ({ places }) => places,
      extra: true,
    },
    { key: 'profileId', header: 'Profile', help: 'profile UUID', value: ({ profileId }) => profileId, extra: true },
  ],
  notes: (answer) => [summary(answer)],
};

function changeText({ change, places }: BoardChange): Shown {
  if (change === 'entered') return { text: 'entered', tone: 'gain' };
  if (change === 'left') return { text: 'left', tone: 'loss' };
  if (change === 'pnl') return { text: 'same place', tone: 'muted' };
  return { text: `${change} ${Math.abs(places ?? 0)}`, tone: change === 'up' ? 'gain' : 'loss' };
}

function summary({ before, now, depth, unchanged, changes }: BoardDiff): string {
  if (before === null)
    return 'This is the first board saved for these filters: there is nothing to compare it with yet.';
  const count = (...kinds: string[]) => formatCount(changes.filter(({ change }) => kinds.includes(change)).length);
  const [beforeSec, nowSec] = [Date.parse(before) / 1000, Date.parse(now) / 1000];
  const over = depth === null ? '' : `, over the first ${formatCount(depth)} places`;
  return (
    `Since ${formatTime(beforeSec)} (${formatAge(beforeSec, nowSec)} ago)${over}: ${count('entered')} entered, ` +
    `${count('left')} left, ${count('up', 'down')} moved, ${count('pnl')} kept their place with other PnL, ${formatCount(unchanged)} unchanged.`
  );
}
