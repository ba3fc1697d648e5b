import type { CopytradedAnswer, LeaderboardAnswer, RankAnswer, SectionsAnswer } from '../../api/answers.ts';
import { chainTitles, leaderboardChains } from '../../api/chain.ts';
import * as endpoints from '../../api/leaderboard.ts';
import { command } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { column, nameColumn, pickColumns, profileColumns, recordView } from '../../lib/output/columns.ts';
import { formatPercent, formatTime, formatUsd, pnl } from '../../lib/output/format.ts';
import type { BarChart, CellText, Column, View } from '../../lib/output/view.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand, chartParam } from '../endpoint-command.ts';

export function setUp(leaderboard: Command): void {
  addEndpointCommand(leaderboard, 'list', endpoints.list, {
    view: makeList({}),
    params: { chart: chartParam },
    chooseView: makeList,
    onAnswer: saveBoard,
  }).shares('showNsfw');
  addEndpointCommand(leaderboard, 'rank', endpoints.rank, { view: makeRank({}), chooseView: makeRank });
  addEndpointCommand(leaderboard, 'copytraded', endpoints.copytraded, { view: copytraded, onAnswer: saveBoard }).shares(
    'showNsfw',
  );
  addEndpointCommand(leaderboard, 'sections', endpoints.sections, { view: sections }).shares('showNsfw');
}

async function saveBoard(answer: unknown, _: unknown, context: Context) {
  await (await import('../../calls/known-names.ts')).saveBoard(answer, context);
  return {};
}

type Trader = LeaderboardAnswer['traders'][number];
type CopiedTrader = CopytradedAnswer['traders'][number];
type Section = SectionsAnswer['sections'][number];
type SectionEntry = Section['commenters'][number];

const rankHelp = 'rank on this leaderboard';
const rankColumn: Column<unknown> = column.text('rank', '#', rankHelp, (_, index) => index + 1, { align: 'right' });
const pnlHelp = 'realized PnL over the requested chains, in USD';
const getProfile = ({ profile }: Pick<Trader, 'profile'>) => profile;

const chainColumns: readonly Column<Pick<RankAnswer, 'pnl'>>[] = leaderboardChains.map((chain) => {
  const readUsd = ({ pnl: figures }: Pick<RankAnswer, 'pnl'>) => {
    const usd = figures?.perChain?.[chain];
    return typeof usd === 'number' ? usd : null;
  };
  return column.pnl(`${chain}Usd`, chainTitles[chain], `realized PnL on ${chain}, in USD; empty if none`, readUsd, {
    show: (row) => pnl(readUsd(row), { compact: true }),
    drop: 4,
  });
});

const commentsHelp = 'whether the trader has swap comments';
const followedHelp = 'whether one of the --viewer-addresses follows the trader';

/** How a row of either leaderboard ends: whether followed, the wallets and the profile's UUID. */
const lastColumns: readonly Column<Pick<Trader, 'profile' | 'isFollowedByUser'>>[] = [
  column.flag('isFollowedByUser', 'Followed', followedHelp, { extra: true }),
  ...pickColumns(profileColumns, getProfile, { address: { drop: 7 }, addresses: {}, profileId: {} }),
];

/** The table shows the figures of one window; those of the other are shown only when named. */
function figureColumns(window: '7d' | '30d'): readonly Column<Trader>[] {
  const other = window === '30d' ? '7d' : '30d';
  return pickColumns(profileColumns, getProfile, {
    [`roiPercent${window}`]: { drop: 2, extra: false },
    [`winRate${window}`]: { drop: 1, extra: false },
    [`trades${window}`]: { drop: 3, extra: false },
    [`roiPercent${other}`]: { extra: true },
    [`winRate${other}`]: { extra: true },
    [`trades${other}`]: { extra: true },
  });
}

type BoardFilters = Pick<endpoints.RankInput, 'chains' | 'onlyWithComments' | 'timeframe'>;
type ListView = View<LeaderboardAnswer, Trader, BoardFilters>;

/** With one chain, its PnL is already the PnL of the board. */
function listChainColumns({ chains }: BoardFilters): typeof chainColumns {
  return chains?.length === 1 ? chainColumns.map((each) => ({ ...each, extra: true })) : chainColumns;
}

const makeList = (filters: BoardFilters): ListView => ({
  layout: 'table',
  rows: ({ traders }) => traders,
  columns: [
    rankColumn,
    nameColumn('Trader', ({ profile }) => profile.name),
    column.pnl('pnlUsd', 'PnL', pnlHelp, (trader) => trader.pnl.total),
    ...listChainColumns(filters),
    ...figureColumns(filters.timeframe ?? '30d'),
    column.flag('hasComments', 'Comments', commentsHelp, { extra: true }),
    ...lastColumns,
  ],
  empty: 'Nobody is on this leaderboard.',
  chart: (traders, { timeframe }): BarChart => ({
    title: `Realized PnL by trader${timeframe === undefined ? '' : `, ${timeframe}`}`,
    bars: traders.map(({ profile, pnl }, index) => ({
      label: `${String(index + 1).padStart(String(traders.length).length)} ${profile.name}`,
      usd: pnl.total,
    })),
  }),
});

const makeRank = (filters: BoardFilters) =>
  recordView<RankAnswer, endpoints.RankInput>(
    [
      column.text('ranking', 'Rank', 'rank, 1 is the top; empty if not ranked', {
        show: ({ ranking }) => (ranking === null ? 'not ranked' : { text: `#${ranking}`, tone: 'strong' }),
      }),
      column.pnl('pnlUsd', 'PnL', pnlHelp, (answer) => answer.pnl?.total),
      ...listChainColumns(filters),
    ],
    { notes: explainNoRank },
  );

/** Source: section "GET /v2/leaderboard/ranking": null when not a trader or below the minimum threshold. */
function explainNoRank({ ranking, pnl }: RankAnswer, { address, onlyWithComments }: endpoints.RankInput): string[] {
  if (ranking !== null) return [];
  const total = pnl?.total ?? 0;
  const why =
    total === 0
      ? 'not a trader, nothing sold in this period, or not tracked'
      : `a PnL of ${formatUsd(total, { signed: true })} is counted, so it ${onlyWithComments ? 'has no swap comments or ' : ''}stays below the minimum threshold`;
  return [`Not on this leaderboard: ${why}.`, command`See its profile: sotra profile get ${address}`];
}

const copytraded: View<CopytradedAnswer, CopiedTrader, { address?: string }> = {
  layout: 'table',
  rows: ({ traders }) => traders,
  columns: [
    rankColumn,
    nameColumn('Trader', ({ profile }) => profile.name),
    column.usd('copiedUsd', 'Copied', 'volume of the copy trades, in USD', ({ copytrades }) => copytrades.volumeUSD),
    column.count('copies', 'Copies', "copy trades of the trader's comments", ({ copytrades }) => copytrades.count),
    column.count('copiers', 'Copiers', 'distinct users who copied', ({ copytrades }) => copytrades.distinctActors),
    column.pnl('pnlUsd', 'PnL', pnlHelp, (trader) => trader.pnl.total, { drop: 1 }),
    ...pickColumns(profileColumns, getProfile, { roiPercent30d: { drop: 2 }, comments30d: { drop: 3 } }),
    ...lastColumns,
  ],
  empty: 'Nobody was copied in this period.',
  notes: ({ periodStartUnix, periodEndUnix, ranking }, { address }) => [
    `Copies from ${formatTime(periodStartUnix)} to ${formatTime(periodEndUnix)}.`,
    ...(address === undefined ? [] : [`${address} is ${ranking ? `#${ranking}` : 'not on it'}.`]),
  ],
};

interface SectionRow {
  section: Section;
  entry: SectionEntry;
}

const readFigure = ({ entry }: SectionRow) => entry.reason.value;

/** The old sections, flattened: one line a trader, commenters before others. */
const sections: View<SectionsAnswer, SectionRow> = {
  layout: 'table',
  rows: (answer) =>
    answer.sections.flatMap((section) =>
      [...section.commenters, ...section.others].map((entry) => ({ section, entry })),
    ),
  columns: [
    column.text('section', 'Section', 'section key', ({ section }) => section.key),
    nameColumn('Trader', ({ entry }) => entry.name),
    column.flag('commenter', 'Comments', commentsHelp, (row) => row.section.commenters.includes(row.entry)),
    column.text('value', 'Value', 'figure that the section ranks by, as the service sends it', readFigure, {
      show: ({ entry }) => showReason(entry.reason),
      align: 'right',
    }),
    ...pickColumns(profileColumns, ({ entry }: SectionRow) => entry, {
      pnl30dUsd: {},
      pnl7dUsd: { extra: false },
      address: {},
    }),
  ],
  empty: 'No section has traders.',
};

function showReason({ value, format }: SectionEntry['reason']): string | CellText {
  const figure = Number(value);
  if (value.trim() === '' || Number.isNaN(figure)) return value;
  if (format === 'currency') return pnl(figure);
  return format === 'percent' ? formatPercent(figure) : value;
}
