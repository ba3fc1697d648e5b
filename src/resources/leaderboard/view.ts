import { chainTitles, leaderboardChains } from '../../model/chain.ts';
import { nameColumn } from '../../output/columns.ts';
import { addressCell, formatCount, formatPercent, formatRatio, pnl, roi } from '../../output/format.ts';
import type { Column, View } from '../../output/view.ts';
import { leaderboardChart } from './chart.ts';
import type { LeaderboardAnswer, RankAnswer, SectionsAnswer } from './endpoints.ts';
import { explainNoRank, type RankAsked } from './rank-notes.ts';
import { trailing } from './trader-columns.ts';

type Trader = LeaderboardAnswer['traders'][number];
type Section = SectionsAnswer['sections'][number];

function chainColumns<Row>(pnlOf: (row: Row) => Readonly<Record<string, unknown>> | undefined): Column<Row>[] {
  return leaderboardChains.map((chain) => {
    const value = (row: Row) => {
      const usd = pnlOf(row)?.[chain];
      return typeof usd === 'number' ? usd : null;
    };
    return {
      key: `${chain}Usd`,
      header: chainTitles[chain],
      help: `realized PnL on ${chain}, in USD; empty where there is none`,
      value,
      show: (row) => pnl(value(row), { compact: true }),
      align: 'right',
      drop: 4,
    };
  });
}

/** Traders with rank, PnL in all and by chain, and how they trade. */
export const list: View<LeaderboardAnswer, Trader, { viewerAddresses?: unknown; timeframe?: '7d' | '30d' }> = {
  layout: 'table',
  rows: (answer) => answer.traders,
  columns: [
    { key: 'rank', header: '#', help: 'place on this leaderboard', value: (_, index) => index + 1, align: 'right' },
    nameColumn('Trader', ({ profile }) => profile.name),
    {
      key: 'pnlUsd',
      header: 'PnL',
      help: 'realized PnL over the chains asked for, in USD',
      value: (trader) => trader.pnl.total,
      show: (trader) => pnl(trader.pnl.total),
      align: 'right',
    },
    ...chainColumns<Trader>((trader) => trader.pnl.perChain),
    {
      key: 'roiPercent30d',
      header: 'ROI 30d',
      help: 'return on the cost of what was sold in 30 days, in percent',
      value: ({ profile }) => profile.metadata.roiPercent30d,
      show: ({ profile }) => roi(profile.metadata.roiPercent30d),
      align: 'right',
      drop: 2,
    },
    {
      key: 'winRate30d',
      header: 'Win 30d',
      help: 'share of closing trades with a gain in 30 days, 0 to 1',
      value: ({ profile }) => profile.metadata.winRate30d,
      show: ({ profile }) => formatRatio(profile.metadata.winRate30d),
      align: 'right',
      drop: 1,
    },
    {
      key: 'trades30d',
      header: 'Trades 30d',
      help: 'trades in 30 days',
      value: ({ profile }) => profile.metadata.tradeCount30d,
      show: ({ profile }) => formatCount(profile.metadata.tradeCount30d),
      align: 'right',
      drop: 3,
    },
    {
      key: 'hasComments',
      header: 'Comments',
      help: 'whether the trader has swap comments',
      value: (trader) => trader.hasComments,
      show: (trader) => (trader.hasComments ? 'yes' : 'no'),
      extra: true,
    },
    ...trailing,
  ],
  empty: 'Nobody is on this leaderboard.',
  chart: leaderboardChart,
};

/** One trader's place, with the PnL behind it. */
export const rank: View<RankAnswer, RankAnswer, RankAsked> = {
  layout: 'record',
  rows: (answer) => [answer],
  columns: [
    {
      key: 'ranking',
      header: 'Rank',
      help: 'place on the leaderboard, 1 is the top; empty when not on it',
      value: (answer) => answer.ranking,
      show: ({ ranking }) => (ranking === null ? 'not ranked' : { text: `#${ranking}`, tone: 'strong' }),
    },
    {
      key: 'pnlUsd',
      header: 'PnL',
      help: 'realized PnL over the chains asked for, in USD',
      value: (answer) => answer.pnl?.total,
      show: (answer) => pnl(answer.pnl?.total),
    },
    ...chainColumns<RankAnswer>((answer) => answer.pnl?.perChain),
  ],
  notes: explainNoRank,
};

interface SectionRow {
  section: Section;
  entry: Section['commenters'][number];
}

/** The old sections, flattened: one line a trader, commenters before others. */
export const sections: View<SectionsAnswer, SectionRow> = {
  layout: 'table',
  rows: (answer) =>
    answer.sections.flatMap((section) =>
      [...section.commenters, ...section.others].map((entry) => ({ section, entry })),
    ),
  columns: [
    { key: 'section', header: 'Section', help: 'section key', value: ({ section }) => section.key },
    nameColumn('Trader', ({ entry }) => entry.name),
    {
      key: 'commenter',
      header: 'Comments',
      help: 'whether the trader is listed among the commenters',
      value: ({ section, entry }) => section.commenters.includes(entry),
      show: ({ section, entry }) => (section.commenters.includes(entry) ? 'yes' : 'no'),
    },
    {
      key: 'value',
      header: 'Value',
      help: 'the figure that the section ranks by, as the service writes it',
      value: ({ entry }) => entry.reason.value,
      show: ({ entry: { reason } }) => showReason(reason),
      align: 'right',
    },
    {
      key: 'pnl30dUsd',
      header: 'PnL 30d, all chains',
      help: 'realized PnL of 30 days over all chains, in USD',
      value: ({ entry }) => entry.metadata.pnl30d,
      show: ({ entry }) => pnl(entry.metadata.pnl30d),
      align: 'right',
    },
    {
      key: 'address',
      header: 'Address',
      help: "the profile's first wallet",
      value: ({ entry }) => entry.addresses[0],
      show: ({ entry }) => addressCell(entry.addresses[0], 'muted'),
    },
  ],
  empty: 'No section has traders.',
};

function showReason({ value, format }: Section['commenters'][number]['reason']) {
  const figure = Number(value);
  if (value.trim() === '' || Number.isNaN(figure)) return value;
  if (format === 'currency') return pnl(figure);
  return format === 'percent' ? formatPercent(figure) : value;
}
