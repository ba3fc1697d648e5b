import { nameColumn } from '../../output/columns.ts';
import { formatCount, formatTime, formatUsd, pnl, roi } from '../../output/format.ts';
import type { View } from '../../output/view.ts';
import type { CopytradedAnswer } from './endpoints.ts';
import { trailing } from './trader-columns.ts';

type Trader = CopytradedAnswer['traders'][number];

/** Traders by copied volume, with copies and copiers. */
export const copytraded: View<CopytradedAnswer, Trader, { address?: string }> = {
  layout: 'table',
  rows: (answer) => answer.traders,
  columns: [
    { key: 'rank', header: '#', help: 'place on this leaderboard', value: (_, index) => index + 1, align: 'right' },
    nameColumn('Trader', ({ profile }) => profile.name, 24),
    {
      key: 'copiedUsd',
      header: 'Copied',
      help: 'volume of the copy trades, in USD',
      value: ({ copytrades }) => copytrades.volumeUSD,
      show: ({ copytrades }) => formatUsd(copytrades.volumeUSD),
      align: 'right',
    },
    {
      key: 'copies',
      header: 'Copies',
      help: "copy trades of the trader's comments",
      value: ({ copytrades }) => copytrades.count,
      show: ({ copytrades }) => formatCount(copytrades.count),
      align: 'right',
    },
    {
      key: 'copiers',
      header: 'Copiers',
      help: 'different people who copied',
      value: ({ copytrades }) => copytrades.distinctActors,
      show: ({ copytrades }) => formatCount(copytrades.distinctActors),
      align: 'right',
    },
    {
      key: 'pnlUsd',
      header: 'PnL',
      help: "the trader's realized PnL over the chains asked for, in USD",
      value: (trader) => trader.pnl.total,
      show: (trader) => pnl(trader.pnl.total),
      align: 'right',
      drop: 1,
    },
    {
      key: 'roiPercent30d',
      header: 'ROI 30d',
      help: "the trader's return on the cost of what was sold in 30 days, in percent",
      value: ({ profile }) => profile.metadata.roiPercent30d,
      show: ({ profile }) => roi(profile.metadata.roiPercent30d),
      align: 'right',
      drop: 3,
    },
    {
      key: 'comments30d',
      header: 'Comments 30d',
      help: 'swap comments in 30 days',
      value: ({ profile }) => profile.metadata.commentCount30d,
      show: ({ profile }) => formatCount(profile.metadata.commentCount30d),
      align: 'right',
      drop: 2,
    },
    ...trailing,
  ],
  empty: 'Nobody was copied in this period.',
  notes: (answer, { address }) => [
    `Copies from ${formatTime(answer.periodStartUnix)} to ${formatTime(answer.periodEndUnix)}.`,
    ...(address === undefined ? [] : [placeOf(address, answer.ranking)]),
  ],
};

function placeOf(address: string, ranking: number | null | undefined): string {
  return ranking === null || ranking === undefined ? `${address} is not on it.` : `${address} is #${ranking}.`;
}
