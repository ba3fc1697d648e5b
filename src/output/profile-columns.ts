import { addressCell, formatCount, formatRatio, pnl, roi } from './format.ts';
import type { Column } from './view.ts';

type Text = string | null | undefined;
type Figure = number | null | undefined;

/** What lists of profiles show: the plain form, without metrics and status. */
interface ListedProfile {
  id: string;
  name: string;
  addresses: readonly string[];
  externalId?: Text;
  metadata: {
    twitterHandle?: Text;
    farcasterUsername?: Text;
    pnl30d?: Figure;
    roiPercent30d?: Figure;
    winRate30d?: Figure;
    tradeCount30d?: Figure;
    commentCount30d?: Figure;
  };
}

/**
 * The column of the name in a list of people: bold, and cut at its end where a line is too long, to `keep` characters as long as another column
 * can be left out instead.
 */
export function nameColumn<Row>(header: string, nameOf: (row: Row) => string, keep?: number): Column<Row> {
  return {
    key: 'name',
    header,
    help: 'display name',
    value: nameOf,
    show: (row) => ({ text: nameOf(row), tone: 'strong' }),
    cut: 'end',
    ...(keep !== undefined && { keep }),
  };
}

/** Columns of a list of profiles in the plain form: who they are and how they trade. Section "Profile". */
export const profileColumns: readonly Column<ListedProfile>[] = [
  nameColumn('Name', ({ name }) => name, 24),
  {
    key: 'twitter',
    header: 'Twitter',
    help: 'Twitter handle',
    value: ({ metadata }) => metadata.twitterHandle,
    drop: 4,
  },
  {
    key: 'pnl30dUsd',
    header: 'PnL 30d',
    help: 'realized PnL of 30 days, in USD',
    value: ({ metadata }) => metadata.pnl30d,
    show: ({ metadata }) => pnl(metadata.pnl30d),
    align: 'right',
  },
  {
    key: 'roiPercent30d',
    header: 'ROI 30d',
    help: 'return on the cost of what was sold in 30 days, in percent',
    value: ({ metadata }) => metadata.roiPercent30d,
    show: ({ metadata }) => roi(metadata.roiPercent30d),
    align: 'right',
    drop: 2,
  },
  {
    key: 'winRate30d',
    header: 'Win 30d',
    help: 'share of closing trades with a gain in 30 days, 0 to 1',
    value: ({ metadata }) => metadata.winRate30d,
    show: ({ metadata }) => formatRatio(metadata.winRate30d),
    align: 'right',
    drop: 3,
  },
  {
    key: 'trades30d',
    header: 'Trades 30d',
    help: 'trades in 30 days',
    value: ({ metadata }) => metadata.tradeCount30d,
    show: ({ metadata }) => formatCount(metadata.tradeCount30d),
    align: 'right',
    drop: 5,
  },
  {
    key: 'comments30d',
    header: 'Comments 30d',
    help: 'swap comments in 30 days',
    value: ({ metadata }) => metadata.commentCount30d,
    show: ({ metadata }) => formatCount(metadata.commentCount30d),
    align: 'right',
    drop: 6,
  },
  {
    key: 'address',
    header: 'Address',
    help: "the profile's first wallet; empty for an external id without wallets",
    value: ({ addresses }) => addresses[0],
    show: ({ addresses }) => addressCell(addresses[0], 'muted'),
  },
  {
    key: 'addresses',
    header: 'Addresses',
    help: 'all wallets of the profile, separated by spaces',
    value: ({ addresses }) => addresses.join(' ') || null,
    extra: true,
    cut: 'end',
  },
  {
    key: 'farcaster',
    header: 'Farcaster',
    help: 'Farcaster name',
    value: ({ metadata }) => metadata.farcasterUsername,
    extra: true,
  },
  {
    key: 'externalId',
    header: 'External id',
    help: "the partner's own user id",
    value: (profile) => profile.externalId,
    extra: true,
  },
  { key: 'profileId', header: 'Profile', help: 'profile UUID', value: (profile) => profile.id, extra: true },
];
